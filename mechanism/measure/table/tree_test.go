package table

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
)

// TestScore_Sensitivity: no pair of neighbors, among many and adverse ones, moves a
// score by more, and some nearly as much.
func TestScore_Sensitivity(t *testing.T) {
	rng := random.Seeded(1)
	most := map[measure.Relation]int64{}
	for range 50_000 {
		var n [bins][bins]int64
		side := 1 + rng.IntN(bins)
		for range rng.IntN(30) {
			n[rng.IntN(side)][rng.IntN(side)] += 1 << rng.IntN(12)
		}
		i, j, k, l := rng.IntN(bins), rng.IntN(bins), rng.IntN(bins), rng.IntN(bins)
		before := score(&n)
		n[i][j]++
		added := score(&n)
		move := func(rel measure.Relation, d int64) {
			most[rel] = max(most[rel], d, -d)
		}
		move(measure.AddRemoveOne, added-before)
		n[i][j]--
		n[k][l]++
		move(measure.ReplaceOne, added-score(&n))
	}
	for _, rel := range relations {
		if d := sensitivity(rel); most[rel] > d || most[rel] < d-2 {
			t.Errorf("%v: scores move by up to %d, sensitivity is %d", rel, most[rel], d)
		}
	}
}

// pickProbabilities are those of the first pick, none first, for the given scores:
// each candidate with its noise above those before, and not below those after.
func pickProbabilities(scores []int64, rate float64) []float64 {
	const span = 400
	below := func(t int64) float64 { return -math.Expm1(-rate * float64(max(t, 0))) } // P{K < t}
	p := make([]float64, len(scores))
	for v, s := range scores {
		for k := range int64(span) {
			q := -math.Expm1(-rate) * math.Exp(-rate*float64(k))
			for w, other := range scores {
				switch {
				case w < v:
					q *= below(s + k - other)
				case w > v:
					q *= below(s + k - other + 1)
				}
			}
			p[v] += q
		}
	}
	return p
}

// TestPick_HasItsLevel: the probabilities of a pick differ between scores that are
// neighbors by at most e^(2 D rate), and those of the code are they. (False-reject
// probability 1e-6 each.)
func TestPick_HasItsLevel(t *testing.T) {
	const rate, d = 0.1, 6
	rng := random.Seeded(2)
	worst := 0.0
	for range 300 {
		scores, next := make([]int64, 4), make([]int64, 4)
		for v := range scores {
			scores[v] = rng.Int64N(40)
			next[v] = scores[v] + d*(2*rng.Int64N(2)-1)
		}
		next[0] = scores[0] // no pair: public
		p, q := pickProbabilities(scores, rate), pickProbabilities(next, rate)
		for v := range p {
			worst = max(worst, math.Abs(math.Log(p[v]/q[v])))
		}
	}
	if worst > 2*d*rate*(1+1e-9) || worst < d*rate {
		t.Errorf("a pick has level %v, want %v", worst, 2*d*rate)
	}

	ranks := [][]float64{}
	rows := 40
	for a := range 3 {
		u := make([]float64, rows)
		for i := range u {
			u[i] = float64(i*(a+1)%rows) / float64(rows)
		}
		ranks = append(ranks, u)
	}
	s := testkit.Must(New(numbers(3), 10, nil))
	scores := []int64{s.none(float64(rows), 3)}
	for _, e := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		var n [bins][bins]int64
		for i := range rows {
			n[bin(ranks[e[0]][i])][bin(ranks[e[1]][i])]++
		}
		scores = append(scores, score(&n))
	}
	p := pickProbabilities(scores, s.rate)
	count := make([]int, 2)
	for range 4000 {
		if len(testkit.Must(s.pickTree(context.Background(), rng, ranks, float64(rows)))) == 0 {
			count[0]++
		} else {
			count[1]++
		}
	}
	testkit.ChiSquare(t, count, []float64{p[0], 1 - p[0]}, 1e-6)
}

// TestRooted_ReachesEveryColumn: from the roots down, whatever the order of picks.
func TestRooted_ReachesEveryColumn(t *testing.T) {
	rng := random.Seeded(3)
	for range 200 {
		k := 2 + rng.IntN(8)
		var tree []Edge
		for a := 1; a < k; a++ {
			if e := (Edge{From: rng.IntN(a), To: a}); rng.IntN(4) > 0 {
				if rng.IntN(2) > 0 {
					e.From, e.To = e.To, e.From
				}
				tree = append(tree, e)
			}
		}
		rng.Shuffle(len(tree), func(i, j int) { tree[i], tree[j] = tree[j], tree[i] })
		out := rooted(tree, k)
		if len(out) != len(tree) {
			t.Fatalf("%v of %v", out, tree)
		}
		drawn := map[int]bool{}
		for _, e := range out {
			if drawn[e.To] {
				t.Fatalf("%v: column %d comes twice", out, e.To)
			}
			drawn[e.From], drawn[e.To] = true, true
		}
	}
}

// TestConditional_IsThatOfTheMeasure: pairs whose first rank has the measure's margin
// and whose second is drawn have its masses. (False-reject probability 1e-6.)
func TestConditional_IsThatOfTheMeasure(t *testing.T) {
	rng := random.Seeded(4)
	d := testkit.Must(pairDomain())
	s := testkit.Must(measure.NewSynthesizer(d, 1, nil))
	var pairs [][]float64
	for range 3000 {
		u := rng.Float64()
		pairs = append(pairs, []float64{u, math.Mod(u*u+.1*rng.Float64(), 1)})
	}
	m := testkit.Must(s.Release(rng, testkit.Must(measure.CountAll(context.Background(), d, pairs, nil))))
	c := newConditional(d, m)
	region := func(rng *rand.Rand, x []float64) int {
		cell := testkit.Must(d.Cell(x))
		for i, w := range m.Weights {
			if lo, hi := m.Cells(i); w > 0 && lo <= cell && cell < hi {
				return i
			}
		}
		return -1
	}
	count := make([]int, len(m.Weights))
	for _, x := range testkit.Must(m.Records(rng, 100_000, &measure.RecordOptions{Sample: true})) {
		x[1] = c.draw(rng, x[0])
		i := region(rng, x)
		if i < 0 {
			t.Fatalf("%v has no mass", x)
		}
		count[i]++
	}
	testkit.ChiSquare(t, count, m.Weights, 1e-6)
}

// TestConditional_WithoutMass: the second rank is drawn at the nearest first one.
func TestConditional_WithoutMass(t *testing.T) {
	rng := random.Seeded(5)
	of := func(lo, hi float64, within int, out float64) span {
		return span{lo, hi, within, []float64{1}, [][2]float64{{out, out}}}
	}
	c := &conditional{spans: []span{of(.1, .4, -1, 1), of(.2, .3, 0, 2), of(.6, .7, -1, 3), of(.6, .65, 2, 4)}}
	for u, want := range map[float64][]float64{
		0: {1}, .1: {1}, .15: {1}, .25: {1, 2}, .35: {1}, .4: {1}, .45: {1}, .55: {3, 4}, .6: {3, 4}, .69: {3}, 1: {3},
	} {
		for range 20 {
			if got := c.draw(rng, u); !slices.Contains(want, got) {
				t.Errorf("%v at %v, want %v", got, u, want)
			}
		}
	}
}

// The noise of a score is geometric from 0 on, P{K = k} = (1 - e^-rate) e^(-rate k), which
// pickTree's proof takes: no less than the score, and the score itself as often as it
// should be. False rejects 1e-6.
func TestNoisy_IsGeometricFromZero(t *testing.T) {
	const draws, score = 50_000, 7
	rng := random.Seeded(148)
	for _, rate := range []float64{0.25, 1} {
		s := &Synthesizer{rate: rate}
		count, p := make([]int, 12), make([]float64, 12)
		for k := range p {
			p[k] = math.Exp(-rate*float64(k)) * (1 - math.Exp(-rate))
		}
		p[len(p)-1] = math.Exp(-rate * float64(len(p)-1)) // and more
		for range draws {
			y := s.noisy(rng, score)
			if y.hi != 0 || y.lo < score {
				t.Fatalf("rate %v: %+v", rate, y)
			}
			count[min(y.lo-score, uint64(len(p)-1))]++
		}
		testkit.ChiSquare(t, count, p, 1e-6)
	}
}
