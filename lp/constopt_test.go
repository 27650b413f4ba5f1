package lp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// constCertified checks what every mechanism of ConstOPT promises.
func constCertified(t testing.TB, b metric.Bimetric, alpha float64, s *ConstSolution) {
	t.Helper()
	audit := testkit.Must(s.Audit(t.Context(), b.Privacy, nil))
	if audit != s.Audited || audit.Hi > alpha || s.Channel.Guarantee().Alpha() != audit.Hi {
		t.Errorf("audited %v, reported %v, guarantee %v, alpha %v", audit, s.Audited, s.Channel.Guarantee(), alpha)
	}
	losses := testkit.Must(s.Channel.Loss(t.Context(), b.Utility))
	if loss, _ := losses.Worst(); math.Abs(loss-s.Objective) > 1e-9*s.Objective {
		t.Errorf("loss %v, objective %v", loss, s.Objective)
	}
	if s.ProgramBound > s.Program || s.Budget < 0 || s.Budget > alpha {
		t.Errorf("program [%v, %v], budget %v", s.ProgramBound, s.Program, s.Budget)
	}
}

// The objectives of the reference points, found by HiGHS: lambda 50, budget .5, so
// alpha = 1.
func TestConstOPT_KnownObjectives(t *testing.T) {
	for _, c := range []struct {
		n, r int
		want float64
	}{
		{50, 5, 53.051341124}, {50, 10, 52.762471952},
		{150, 5, 53.394763772}, {150, 10, 53.285881260},
		{300, 5, 53.532190027}, {300, 10, 53.489758976},
		{400, 5, 53.554488936}, {400, 10, 53.520868782},
	} {
		t.Run(fmt.Sprintf("n=%d r=%d", c.n, c.r), func(t *testing.T) {
			if c.n > 50 {
				testkit.Swept(t)
			}
			b := metric.Same(referencePoints(t, c.n))
			s := testkit.Must(ConstOPT(t.Context(), b, 1, &ConstOptions{Neighbors: c.r, Lambdas: []float64{50}, KeepBudget: true, Tolerance: 1e-7}))
			constCertified(t, b, 1, s)
			// What the printed optima and the tolerance leave open.
			const digits = 1e-6
			if s.Program < c.want-digits || s.ProgramBound > c.want+digits || s.Program-s.ProgramBound > digits {
				t.Errorf("[%v, %v], want %v", s.ProgramBound, s.Program, c.want)
			}
			if s.Budget != .5 || s.Lambda != 50 || s.Solves != 1 {
				t.Errorf("%v", s)
			}
		})
	}
}

// Random pairs of metrics, all sizes of I(v), alpha*diameter from 1e-6 to 300,
// and spaces with many ties: the channel is private and no better than optimal.
func TestConstOPT_HostileSpaces(t *testing.T) {
	testkit.Slow(t)
	r := random.Seeded(4)
	pts := make([][]float64, 14) // with coincident and nearly coincident points
	for i := range pts {
		pts[i] = []float64{float64(r.IntN(3)), float64(r.IntN(3)) + 1e-9*float64(i%2)}
	}
	clusters := testkit.Must(metric.NewClustered(3, 4, .2))
	for name, b := range map[string]metric.Bimetric{
		"random": {Privacy: randomMetric(t, r, 9), Utility: randomMetric(t, r, 9)},
		"grid":   metric.Same(space.Grid(4)), "path": metric.Same(space.Path(12, 1)), "ties": metric.Same(space.Euclidean(pts)),
		"tree": metric.Same(tree(13)), "simplex": metric.Same(space.Simplex(6, 1)), "clusters": metric.Same(clusters),
		"two": metric.Same(space.Path(2, 1)), "one": metric.Same(space.Path(1, 1)), "together": metric.Same(space.Simplex(5, 0)),
		"free": {Privacy: space.Path(6, 1), Utility: space.Simplex(6, 0)}, "public": {Privacy: space.Simplex(6, 0), Utility: space.Path(6, 1)},
	} {
		d, _, _, _ := metric.Diameter(t.Context(), b.Privacy)
		d = max(1e-300, d)
		n := b.Len()
		for _, level := range []float64{1, 300, 1e-6, 30}[testkit.Sweep(1, 0):testkit.Sweep(2, 4)] {
			alpha := min(level/d, 1e9)
			opt := testkit.Must(Optimal(t.Context(), b, alpha, &Options{Tolerance: 1e-3}))
			for _, o := range []*ConstOptions{nil, {Neighbors: 1}, {Replacement: all(n), Lambdas: []float64{0}}, {Neighbors: max(1, n/2), Lambdas: []float64{.1, 3}}}[:testkit.Sweep(3, 4)] {
				s := testkit.Must(ConstOPT(t.Context(), b, alpha, o))
				constCertified(t, b, alpha, s)
				if s.Objective < opt.DualBound {
					t.Errorf("%s, alpha=%v, %+v: loss %v below the bound %v", name, alpha, o, s.Objective, opt.DualBound)
				}
			}
		}
	}
}

// all has every point replace every one of n.
func all(n int) [][]int {
	one := make([]int, n)
	for i := range one {
		one[i] = i
	}
	return slices.Repeat([][]int{one}, n)
}

// written is a program with named variables, row by row.
type written []map[string]float64

func (w *written) row(r map[string]float64) { *w = append(*w, r) }

func (w written) size() Size {
	s, names := Size{Rows: int64(len(w))}, map[string]bool{}
	for _, row := range w {
		for name, v := range row {
			names[name] = true
			if v != 0 {
				s.Nonzeros++
			}
		}
	}
	s.Variables = int64(len(names))
	return s
}

// entry names M[u,w].
func entry(u, w int) string { return string(rune('a'+u)) + string(rune('A'+w)) }

// writeOptimal writes OPTMech, with privacy between the pairs that are bound.
func writeOptimal(b metric.Bimetric, outputs []int, mean bool, bound func(u, v int) bool) (w written) {
	n := b.Privacy.Len()
	for u := range n {
		loss, sum := map[string]float64{"k": -1}, map[string]float64{}
		for _, y := range outputs {
			loss[entry(u, y)], sum[entry(u, y)] = b.Utility.Distance(u, y), 1
			for v := range n {
				if u != v && bound(u, v) {
					w.row(map[string]float64{entry(u, y): 1, entry(v, y): -math.Exp(b.Privacy.Distance(u, v))})
				}
			}
		}
		w.row(sum)
		if !mean {
			w.row(loss)
		}
	}
	return w
}

// writeConst writes ConstOPTMech, inside telling who is in I(v).
func writeConst(b metric.Bimetric, inside func(u, v int) bool) (w written) {
	n := b.Len()
	for u := range n {
		loss, sum := map[string]float64{"k": -1}, map[string]float64{}
		for v := range n {
			name, share := entry(u, v), 1.0
			if !inside(u, v) {
				name, share = entry(0, v)[1:], math.Exp(-b.Privacy.Distance(u, v))
			}
			loss[name], sum[name] = share*(b.Utility.Distance(u, v)+7), share
		}
		w.row(loss)
		w.row(sum)
	}
	for y := range n {
		for u := range n {
			most, least := math.Inf(1), 0.0
			for v := range n {
				if v == u {
					continue
				}
				d, vy := b.Privacy.Distance(u, v), b.Privacy.Distance(v, y)
				switch {
				case !inside(u, y):
				case inside(v, y):
					w.row(map[string]float64{entry(u, y): 1, entry(v, y): -math.Exp(d)})
				default:
					most, least = min(most, math.Exp(d-vy)), max(least, math.Exp(-vy-d))
				}
			}
			if least > 0 {
				w.row(map[string]float64{entry(u, y): 1, entry(0, y)[1:]: -most})
				w.row(map[string]float64{entry(u, y): -1, entry(0, y)[1:]: least})
			}
		}
	}
	return w
}

// Sizes are those of programs that are written out, and IKWAT22's order: n^2
// variables and n^3 rows for OPTMech.
func TestSize_OfWrittenPrograms(t *testing.T) {
	ctx, r := t.Context(), random.Seeded(9)
	every := func(int, int) bool { return true }
	for n := 1; n <= 9; n++ {
		b := metric.Bimetric{Privacy: randomMetric(t, r, n), Utility: space.Formula(n, func(i, j int) float64 { return math.Abs(float64(i/2 - j/2)) })}
		all := r.Perm(n)
		if got, want := testkit.Must((*Options)(nil).Size(ctx, b)), writeOptimal(b, all, false, every).size(); got != want {
			t.Errorf("OPTMech, n = %d: %v, want %v", n, got, want)
		}
		some := all[:1+n/2]
		if got, want := testkit.Must((&Options{Outputs: some}).Size(ctx, b)), writeOptimal(b, some, false, every).size(); got != want {
			t.Errorf("OPTMech, n = %d, some outputs: %v, want %v", n, got, want)
		}
		shifted := metric.Bimetric{Privacy: b.Privacy, Utility: space.Formula(n, func(i, j int) float64 { return max(0, float64(i-j)) })}
		if got, want := testkit.Must((&Options{Outputs: some, Loss: shifted.Utility.Distance}).Size(ctx, b)), writeOptimal(shifted, some, false, every).size(); got != want {
			t.Errorf("OPTMech, n = %d, a loss: %v, want %v", n, got, want)
		}
		prior := testkit.Distribution(r, n, nil)
		if got, want := testkit.Must((&Options{Prior: prior}).Size(ctx, b)), writeOptimal(b, all, true, every).size(); got != want {
			t.Errorf("OPTMech, n = %d, a prior: %v, want %v", n, got, want)
		}
		for _, stretch := range []float64{1, 1.5, 3} {
			edges := map[[2]int]bool{}
			for _, e := range testkit.Must(metric.Spanner(ctx, b.Privacy, stretch)).Edges() {
				edges[[2]int{e.I, e.J}], edges[[2]int{e.J, e.I}] = true, true
			}
			want := writeOptimal(b, all, false, func(u, v int) bool { return edges[[2]int{u, v}] }).size()
			if got := testkit.Must((&SpannerOptions{Stretch: stretch}).Size(ctx, b)); got != want {
				t.Errorf("SpannerMech, n = %d, stretch %v: %v, want %v", n, stretch, got, want)
			}
		}
		for k := 1; k < n; k++ {
			sets := testkit.Must(metric.NewIndex(b.Privacy).ReverseNeighbors(ctx, k))
			in := map[[2]int]bool{}
			for v, set := range sets {
				for _, u := range set {
					in[[2]int{u, v}] = true
				}
				sets[v] = append(sets[v], set[0]) // twice
			}
			want := writeConst(b, func(u, v int) bool { return in[[2]int{u, v}] }).size()
			for _, o := range []*ConstOptions{{Neighbors: k}, {Replacement: sets}} {
				if got := testkit.Must(o.Size(ctx, b)); got != want {
					t.Errorf("ConstOPTMech, n = %d, r = %d: %v, want %v", n, k, got, want)
				}
			}
		}
	}
}
