package measure

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// Release is what a [Synthesizer] or [Stream] publishes: a measure on regions of its domain,
// private at that level however often it is used. It must not be modified.
type Release[P any] struct {
	// Weights are the masses > 0 of regions that part the space, in the order of their cells:
	// multiples of 2^-52 that sum to 1 exactly.
	Weights []float64
	// Total is the number of records, noisy under AddRemoveOne, where it may be negative.
	Total float64

	s       *Synthesizer[P]
	tree    *adaptive.Release
	mixture *mixture      // of a Stream; nil elsewhere
	nodes   []region.Node // of the weights
	places  []P           // where they lie, in a simulated truth; nil elsewhere
}

// newRelease lists the leaves that have mass.
func newRelease[P any](s *Synthesizer[P], tree *adaptive.Release) *Release[P] {
	r := &Release[P]{s: s, tree: tree, Total: float64(tree.Nodes[0].Count)}
	for _, i := range leavesOf(tree) {
		if n := tree.Nodes[i]; n.Mass > 0 {
			r.nodes, r.Weights = append(r.nodes, n.At), append(r.Weights, n.Mass)
		}
	}
	sample.Mass(r.Weights)
	k := 0
	for i, w := range r.Weights {
		if w > 0 { // and not rounded to 0
			r.nodes[k], r.Weights[k] = r.nodes[i], w
			k++
		}
	}
	r.nodes, r.Weights = r.nodes[:k], r.Weights[:k]
	return r
}

// leavesOf returns the leaves of a tree in the order of their cells.
func leavesOf(tree *adaptive.Release) (leaves []int) {
	var visit func(i int)
	visit = func(i int) {
		n := tree.Nodes[i]
		if n.Parts == 0 {
			leaves = append(leaves, i)
		}
		for j := range n.Parts {
			visit(n.First + j)
		}
	}
	visit(0)
	return leaves
}

func (r *Release[P]) check(op string) error {
	return fault.Made(r != nil && r.s != nil, op, "Release", "Synthesizer.Release")
}

// Point returns the center of the region of Weights[i], or its net point. Of several categories it
// is the first.
func (r *Release[P]) Point(i int) P {
	fault.Must(r, r.check("measure: Release.Point"))
	return r.at(nil, i)
}

// at is drawn from the region with an rng, and its point without.
func (r *Release[P]) at(rng *rand.Rand, i int) P {
	if r.places != nil {
		return r.places[i]
	}
	return r.s.space.At(rng, r.nodes[i])
}

// Cells returns the cells of the region of Weights[i]: lo <= c < hi.
func (r *Release[P]) Cells(i int) (lo, hi int) {
	fault.Must(r, r.check("measure: Release.Cells"))
	return r.s.space.Regions.Cells(r.nodes[i])
}

// RecordOptions are for [Release.Records]. Nil and zero mean the defaults.
type RecordOptions struct {
	// Sample draws records independently, in place of giving every region its share to within 1.
	Sample bool
	// Centers puts all records of a region at its point, in place of spreading them over it, which
	// lowers W1 by 10 to 20 % on spread-out data. Several categories of a column are spread anyway.
	Centers bool
	// Shuffle puts the records in random order; they are sorted by cell otherwise.
	Shuffle bool
}

const (
	maxRecords = math.MaxInt32 // that a measure is divided into
	recordSize = 40            // about the memory of a record: a slice and two numbers
)

// Records returns m synthetic records, or Total rounded, at least 1, where m is 0. By default every
// region has its mass times m of them to within 1, and so has every run of regions; they are spread
// uniformly over it, in the order of the cells. Some 400 million are a *[metric.MemoryError].
func (r *Release[P]) Records(rng *rand.Rand, m int, o *RecordOptions) ([]P, error) {
	const op = "measure: Release.Records"
	if err := r.check(op); err != nil {
		return nil, err
	}
	if m == 0 {
		m = int(max(1, min(maxRecords, math.Round(r.Total))))
	}
	if m < 0 || m > maxRecords {
		return nil, fault.Value(op, "m", float64(m), fmt.Sprintf("an integer in [0, %d]", maxRecords))
	}
	if err := fault.Memory(op, float64(m), recordSize); err != nil {
		return nil, err
	}
	opt, n := region.OrZero(o), make([]int64, len(r.Weights)) // of each region
	rng, done := random.Get(rng)
	defer done()
	if opt.Sample {
		t := exact.NewTable(exact.Weights{W: r.Weights})
		for range m {
			n[t.Draw(rng)]++
		}
	} else {
		sample.Divide(r.Weights, int64(m), n)
	}
	within := rng
	if opt.Centers {
		within = nil
	}
	records := make([]P, 0, m)
	for i, k := range n {
		at := within
		if !r.s.space.Told(r.nodes[i]) {
			at = rng
		}
		for range k {
			records = append(records, r.at(at, i))
		}
	}
	if opt.Shuffle {
		rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	}
	return records, nil
}

// Mean returns the integral of f under the released measure, over 32 points in a region that has
// several categories of a column.
func (r *Release[P]) Mean(f func(P) float64) float64 {
	fault.Must(r, r.check("measure: Release.Mean"))
	sum := 0.0
	for i, w := range r.Weights {
		if r.s.space.Told(r.nodes[i]) {
			sum += float64(w * f(r.Point(i)))
			continue
		}
		const points = 32
		rng := random.Seeded(uint64(i))
		for range points {
			sum += float64(w / points * f(r.at(rng, i)))
		}
	}
	return sum
}
