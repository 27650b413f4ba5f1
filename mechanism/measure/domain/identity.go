package domain

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// digest hashes kind and values: numbers and slices of numbers of fixed size, whose lengths
// must follow from kind.
func digest(kind string, values ...any) (id [region.IDSize]byte) {
	h := sha256.New()
	io.WriteString(h, kind)
	for _, v := range values {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			panic(err) // a type without fixed size: an error in this package
		}
	}
	copy(id[:], h.Sum(nil))
	return id
}

// degrees are the nodes' numbers of children: the shape of the tree.
func degrees(t *walk.Tree) []int32 {
	degrees := make([]int32, t.Nodes())
	for v := range degrees {
		lo, hi := t.Children(v)
		degrees[v] = int32(hi - lo)
	}
	return degrees
}

// sketch is a digest of distances of n points: of i and i+s, for all i and every step s up to 8,
// and in steps of about an eighth from there to most: at most 8 n log n. They are rounded to 16
// bits after the first, because Go may fuse multiplications with additions, so that two machines
// need not agree on the last of 52; that they round apart has a probability of some 2^-36 a
// distance, and then counts are refused.
func sketch(ctx context.Context, n, most int, distance func(i, j int) (float64, error)) (digest [sha256.Size]byte, err error) {
	h := sha256.New()
	for s := 1; s < n && s <= most; s += 1 + s/8 {
		row := make([]uint32, n-s)
		err := parallel.Each(ctx, len(row), 1<<10, func(i int) error {
			d, err := distance(i, i+s)
			row[i] = uint32((math.Float64bits(d) + 1<<35) >> 36)
			return err
		})
		if err != nil {
			return digest, err
		}
		if err := binary.Write(h, binary.LittleEndian, row); err != nil {
			return digest, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// distanceOf returns a distance of f, or an error if it is none.
func distanceOf(op string, f metric.Finite, i, j int) (float64, error) {
	d := f.Distance(i, j)
	if !(d >= 0) || math.IsInf(d, 1) {
		return d, notADistance(op, i, j, d, "a finite number >= 0")
	}
	return max(d, 0), nil // not -0
}

func notADistance(op string, i, j int, d float64, want string) error {
	return &fault.ValueError{Op: op, Arg: fmt.Sprintf("distance of point %d", i), Index: j, Value: d, Want: want}
}

// names is a digest of points or labels, by the types and values that Go would
// write them with. Where they hold pointers, those are what tells them apart.
func names[P any](n int, at func(i int) P) [sha256.Size]byte {
	h := sha256.New()
	var b []byte
	for i := range n {
		p := at(i)
		b = fmt.Appendf(b[:0], "%T %#v", p, p)
		fmt.Fprintf(h, "%d ", len(b))
		h.Write(b)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
