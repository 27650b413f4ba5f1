package measure

import (
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// A release with impossible cells spends its level on every path, in whole quanta;
// the regions on the way to a cell are one path; and no record is made where there
// can be none.
func TestPossible_ReleaseSpendsItsLevel(t *testing.T) {
	for name, d := range samples.Masked(false) {
		for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
			s := testkit.Must(NewSynthesizer(d, 0.7, &SynthesizerOptions{Relation: rel}))
			r := random.Seeded(5)
			c := NewCounts(d)
			for range 60 {
				testkit.Check(t, c.AddN(samples.Inside(d).At(r, region.Node{}), r.Int64N(100)))
			}
			out := testkit.Must(s.Release(r, c))
			nodes := out.tree.Nodes
			stated := new(big.Rat).SetFloat64(s.Guarantee().Alpha())
			spent := make([]int64, len(nodes))
			for i, n := range nodes {
				spent[i] += n.Quanta
				lo, end := samples.Inside(d).Regions.Cells(n.At)
				for j := n.First; j < n.First+n.Parts; j++ {
					spent[j] = spent[i]
					first, last := samples.Inside(d).Regions.Cells(nodes[j].At)
					if first < lo || last > end {
						t.Fatalf("%s: %v is no part of %v, or two have a cell", name, nodes[j].At, n.At)
					}
					lo = last
				}
				quantum := new(big.Rat).Quo(stated, big.NewRat(1<<30, 1))
				if n.Parts == 0 && new(big.Rat).Mul(quantum, big.NewRat(spent[i], 1)).Cmp(stated) != 0 {
					t.Errorf("%s, %v: %d quanta for leaf %v", name, rel, spent[i], n.At)
				}
			}
			for _, x := range testkit.Must(out.Records(r, 300, nil)) {
				if _, err := d.Cell(x); err != nil {
					t.Fatalf("%s: record %v: %v", name, x, err)
				}
			}
		}
	}
}
