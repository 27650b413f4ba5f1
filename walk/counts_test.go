package walk

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
)

func TestCounts_SumLeaves(t *testing.T) {
	r := rng.Seeded(8)
	for range 100 {
		tree := randomTree(r, 1+r.IntN(60))
		x := make([]int64, tree.Len())
		y := make([]float64, tree.Len())
		for i := range x {
			x[i] = r.Int64N(2000) - 1000
			y[i] = float64(x[i])
		}
		counts, float := make([]int64, tree.Nodes()), make([]float64, tree.Nodes())
		check(t, tree.CountsInt(counts, x))
		check(t, tree.Counts(float, y))
		for v, c := range counts {
			lo, hi := tree.LeafRange(v)
			want := int64(0)
			for _, k := range x[lo:hi] {
				want += k
			}
			if c != want || float[v] != float64(want) {
				t.Fatalf("node %d: %d and %v, want %d", v, c, float[v], want)
			}
		}
		check(t, tree.Centre(float)) // consistent already
		for v, c := range counts {
			if math.Abs(float[v]-float64(c)) > 1e-9 {
				t.Fatalf("centred %v, want %d", float[v], c)
			}
		}
	}
}

func TestCentreInt_Exact(t *testing.T) {
	r := rng.Seeded(9)
	for trial := range 400 {
		tree := randomTree(r, 1+r.IntN(30))
		unit, limit := tree.Unit(), tree.CentreLimit()
		if unit == 0 {
			t.Fatal("30 nodes need no unit beyond int64")
		}
		counts := make([]int64, tree.Nodes())
		for v := range counts {
			switch {
			case trial%3 == 0:
				counts[v] = limit * (2*r.Int64N(2) - 1)
			default:
				counts[v] = r.Int64N(2*limit+1) - limit
			}
		}
		float := make([]float64, len(counts))
		for v, c := range counts {
			float[v] = float64(c)
		}
		want := ratCentre(tree, counts)
		check(t, tree.Centre(float))
		check(t, tree.CentreInt(counts))
		u := new(big.Rat).SetInt64(unit)
		for v, got := range counts {
			w := new(big.Rat).Mul(u, want[v])
			if !w.IsInt() || w.Num().Cmp(big.NewInt(got)) != 0 {
				t.Fatalf("node %d: %d, want %v", v, got, w)
			}
			f, _ := want[v].Float64()
			if math.Abs(float[v]-f) > 1e-13*float64(limit+1)*float64(len(counts)) {
				t.Fatalf("node %d: %v, want %v", v, float[v], f)
			}
		}
	}
}

// TestUnit_IsLeast: with it every count of 1 on its own is an integer, and with
// no proper divisor of it.
func TestUnit_IsLeast(t *testing.T) {
	r := rng.Seeded(10)
	for range 200 {
		tree := randomTree(r, 1+r.IntN(25))
		want := big.NewInt(1) // least common denominator
		counts := make([]int64, tree.Nodes())
		for v := range counts {
			clear(counts)
			counts[v] = 1
			for _, q := range ratCentre(tree, counts) {
				g := new(big.Int).GCD(nil, nil, want, q.Denom())
				want.Mul(want, new(big.Int).Quo(q.Denom(), g))
			}
		}
		if got := tree.Unit(); want.Cmp(big.NewInt(got)) != 0 {
			t.Fatalf("%v: unit %d, want %v", tree.first, got, want)
		}
	}
	if got := must(Balanced(100, 2)).Unit(); got != 1<<7 {
		t.Errorf("binary: %d", got)
	}
}

func TestCounts_Overflow(t *testing.T) {
	tree := must(Levels(3))
	var over *OverflowError
	if err := tree.CountsInt(make([]int64, 4), []int64{math.MaxInt64, 0, 1}); !errors.As(err, &over) || over.Index != 2 {
		t.Errorf("sum: %v", err)
	}
	if got, want := tree.CentreLimit(), int64(math.MaxInt64/3/7); got != want {
		t.Errorf("limit %d, want %d", got, want)
	}
	counts := []int64{0, 0, math.MinInt64, 0}
	if err := tree.CentreInt(counts); !errors.As(err, &over) || over.Index != 2 || counts[2] != math.MinInt64 {
		t.Errorf("MinInt64: %v", err)
	}
	// Numbers of children 2 to 24 along one branch: their product passes int64.
	var s shapeTree
	for k := 2; k <= 24; k++ {
		row := make(shapeTree, k)
		row[0] = s
		s = row
	}
	wide := s.tree()
	if wide.Unit() != 0 || wide.CentreLimit() != 0 {
		t.Errorf("unit %d, limit %d", wide.Unit(), wide.CentreLimit())
	}
	counts = make([]int64, wide.Nodes())
	check(t, wide.CentreInt(counts))
	counts[5] = 1
	if err := wide.CentreInt(counts); !errors.As(err, &over) || over.Limit != 0 {
		t.Errorf("no unit: %v", err)
	}
}

func TestCounts_SizeErrors(t *testing.T) {
	tree := must(Levels(3))
	var size *SizeError
	for i, err := range []error{
		tree.Counts(make([]float64, 3), make([]float64, 3)),
		tree.Counts(make([]float64, 4), make([]float64, 4)),
		tree.CountsInt(nil, nil),
		tree.Centre(make([]float64, 3)),
		tree.CentreInt(make([]int64, 3)),
	} {
		if !errors.As(err, &size) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestClamp(t *testing.T) {
	x := []int64{math.MinInt64, -3, -2, 0, 2, 3, math.MaxInt64}
	if moved := Clamp(x, 2); moved != 4 || !slices.Equal(x, []int64{-2, -2, -2, 0, 2, 2, 2}) {
		t.Errorf("%d moved: %v", moved, x)
	}
}
