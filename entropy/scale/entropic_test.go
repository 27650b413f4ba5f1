package scale

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// checkEntropic verifies the witness of the lower end from the definition.
func checkEntropic(t *testing.T, b metric.Bimetric, s Scale) {
	t.Helper()
	if !(0 <= s.Lo && s.Lo <= s.Hi) {
		t.Fatalf("interval %v", s.Interval)
	}
	if s.Lo == 0 {
		if s.X != -1 || s.Set != nil {
			t.Fatalf("witness of 0: %+v", s)
		}
		return
	}
	for i, y := range s.Set {
		if d := b.Privacy.Distance(s.X, y); d > s.R {
			t.Fatalf("point %d at distance %v of %d, radius %v", y, d, s.X, s.R)
		}
		for _, z := range s.Set[:i] {
			if d := b.Utility.Distance(y, z); d < s.Lo {
				t.Fatalf("points %d, %d at distance %v, Lo %v", y, z, d, s.Lo)
			}
		}
	}
	if e := directed.ExpUp(directed.MulUp(s.Alpha, s.R)); float64(len(s.Set)) <= e && !limit.Exceeded(s.Alpha, s.R, len(s.Set)) {
		t.Fatalf("%d points, ball of radius %v may hold %v", len(s.Set), s.R, e)
	}
}

// The three ways of computing the scale agree where all apply.
func TestEntropicScale_UltrametricWays(t *testing.T) {
	for seed := range uint64(12) {
		n := 40 + int(seed)
		u := bigUltrametric(n, seed)
		b := metric.Bimetric{Privacy: u, Utility: bigUltrametric(n, seed+100)}
		if seed%3 == 0 {
			b = metric.Same(u)
		}
		for _, alpha := range []float64{0.5, 2, 5, 30} {
			tree := testkit.Must(Entropic(t.Context(), b, []float64{alpha}, nil))[0]
			checkEntropic(t, b, tree)
			rows := testkit.Must(entropicRows(t.Context(), b, b.Utility.(*metric.Ultrametric), alpha, &Options{}))
			checkEntropic(t, b, rows)
			cells := testkit.Must(entropicCells(t.Context(), b, []float64{alpha}, &Options{}))
			checkEntropic(t, b, cells[0])
			if !tree.Exact() || rows.Interval != tree.Interval || cells[0].Interval != tree.Interval {
				t.Fatalf("seed %d, alpha %v: tree %v, rows %v, cells %v", seed, alpha, tree.Interval, rows.Interval, cells[0].Interval)
			}
		}
	}
}

// At distance 0 in rho1 and 3 in rho2.
func TestScales_Indistinguishable(t *testing.T) {
	b := metric.Bimetric{Privacy: space.Simplex(3, 0), Utility: space.Euclidean([][]float64{{0}, {3}, {3}})}
	e := testkit.Must(Entropic(t.Context(), b, []float64{1e9}, nil))[0]
	d := testkit.Must(Diametric(t.Context(), b, []float64{1e9}, nil))[0]
	for _, s := range []Scale{e, d} {
		if s.Lo != 3 || s.Hi != 3 || s.R != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// No ball holds too many points more than Hi apart: Packing, which is exact
// here or a lower bound, finds none.
func TestEntropicScale_NoBallExceeds(t *testing.T) {
	testkit.Slow(t)
	for seed := range uint64(testkit.Sweep(2, 8)) {
		n := 32
		b := randomBimetric(n, seed)
		for _, alpha := range []float64{0.4, 3} {
			for _, nodes := range []int{0, -1} {
				s := testkit.Must(Entropic(t.Context(), b, []float64{alpha}, &Options{Nodes: nodes}))[0]
				checkEntropic(t, b, s)
				for x := range n {
					row := finite.Row(b.Privacy, x, nil)
					for _, r := range row {
						c := testkit.Must(Packing(t.Context(), b.Utility, bruteBall(b.Privacy, x, r), s.Hi, nil))
						if c.Lo >= limit.Least(alpha, r, n) {
							t.Fatalf("seed %d, alpha %v: %d points more than %v apart within %v of %d", seed, alpha, c.Lo, s.Hi, r, x)
						}
					}
				}
			}
		}
	}
}

// checkDiametric verifies the witness of the lower end from the definition.
func checkDiametric(t *testing.T, b metric.Bimetric, s Scale) {
	t.Helper()
	if !(s.Lo <= s.Hi) {
		t.Fatalf("interval %v", s.Interval)
	}
	if s.Lo == 0 {
		if s.X != -1 || s.Set != nil {
			t.Fatalf("witness of 0: %+v", s)
		}
		return
	}
	if len(s.Set) != 2 {
		t.Fatalf("witness %v", s.Set)
	}
	y, z := s.Set[0], s.Set[1]
	if r := max(b.Privacy.Distance(s.X, y), b.Privacy.Distance(s.X, z)); r > s.R {
		t.Fatalf("%+v: pair at distance %v", s, r)
	}
	if v := directed.MulUp(b.Utility.Distance(y, z), directed.ExpUp(-directed.MulDown(s.Alpha, s.R))); v < s.Lo {
		t.Fatalf("%+v: the pair is worth %v", s, v)
	}
}

// Where exp(-alpha r) underflows the search still ends, and encloses the scale.
func TestDiametricScale_Extremes(t *testing.T) {
	b := metric.Same(planePoints(300, 1))
	for _, alpha := range []float64{1e-300, 1e-9, 1e6, 1e300} {
		s := testkit.Must(Diametric(t.Context(), b, []float64{alpha}, nil))[0]
		checkDiametric(t, b, s)
		if alpha < 1 {
			if d, _, _, _ := metric.Diameter(t.Context(), b.Utility); math.Abs(s.Lo-d) > 1e-8 {
				t.Errorf("alpha %v: %v, diameter %v", alpha, s.Interval, d)
			}
		}
	}
}

// checkDoubling fails unless the witness proves the lower end.
func checkDoubling(t *testing.T, f metric.Finite, d DoublingScale) {
	t.Helper()
	if !(d.Lo >= 0 && d.Lo <= d.Hi) {
		t.Fatalf("interval %v", d.Interval)
	}
	if d.Lo == 0 {
		if d.X != -1 || d.Set != nil {
			t.Fatalf("a witness of nothing: %+v", d)
		}
		return
	}
	// It proves Lo itself, or the entropic scale at 4 Alpha to be twice that.
	apart := d.Lo
	if !(d.R/2 < d.Lo) || float64(len(d.Set)) < math.Exp(2*d.Alpha*d.Lo)*(1-1e-12) {
		if apart = 2 * d.Lo; !limit.Exceeded(4*d.Alpha, d.R, len(d.Set)) {
			t.Fatalf("%+v", d)
		}
	}
	for a, i := range d.Set {
		if f.Distance(d.X, i) > d.R {
			t.Fatalf("%d outside the ball", i)
		}
		for _, j := range d.Set[:a] {
			if f.Distance(i, j) < apart {
				t.Fatalf("%d, %d at %v, below %v", i, j, f.Distance(i, j), apart)
			}
		}
	}
}

// TestDoubling_Bracket: what stands for the search in larger spaces encloses
// the scale in small ones, by either witness, and a line of 500 points ends.
func TestDoubling_Bracket(t *testing.T) {
	four := 0
	for seed := range uint64(testkit.Sweep(16, 60)) {
		f := randomSpace(4+int(seed%8), seed)
		for _, alpha := range []float64{.1, .7, 1.5, 3, 20} {
			s := testkit.Must(Entropic(t.Context(), metric.Same(f), []float64{alpha, 4 * alpha}, nil))
			d := doublingBracket(t.Context(), f, s[0], s[1])
			checkDoubling(t, f, d)
			if want := bruteDoubling(f, alpha); d.Lo > want*(1+1e-14) || d.Hi < want*(1-1e-14) {
				t.Errorf("seed %d, alpha %v: %v, want %v", seed, alpha, d.Interval, want)
			}
			s[0].Set = nil // the other witness alone
			d = doublingBracket(t.Context(), f, s[0], s[1])
			checkDoubling(t, f, d)
			if d.Lo == s[1].Lo/2*spaces.SlackDown && d.Lo > 0 {
				four++
			}
		}
	}
	if four == 0 {
		t.Error("the scale at four times the level was never the best")
	}
	for _, f := range []metric.Finite{space.Path(500, 1), planePoints(300, 1)} {
		ds := testkit.Must(Doubling(t.Context(), f, []float64{.05, .2, 2, 30}, &Options{Nodes: 200}))
		for k, d := range ds {
			checkDoubling(t, f, d)
			if k > 0 && d.Hi > ds[k-1].Hi || d.Hi > 4*d.Lo {
				t.Errorf("alpha %v: %v after %v", d.Alpha, d.Interval, ds[max(k-1, 0)].Interval)
			}
		}
	}
}

// checkOuter fails unless the witnesses prove both ends.
func checkOuter(t *testing.T, f metric.Finite, o OuterScale) {
	t.Helper()
	if !(o.Lo >= 0 && o.Lo <= o.Hi) {
		t.Fatalf("interval %v", o.Interval)
	}
	checkCount(t, f, spaces.AllPoints(f.Len()), o.G, o.N)
	if hi := o.G + math.Log(float64(o.N.Hi))/o.Alpha; math.Abs(hi-o.Hi) > 1e-14*o.Hi {
		t.Fatalf("Hi %v, its proof gives %v", o.Hi, hi)
	}
	at, lo := 0.0, o.Hi
	for _, st := range o.Steps {
		if st.From != at || st.To <= st.From {
			t.Fatalf("step [%v, %v) after %v", st.From, st.To, at)
		}
		at = st.To
		for a, i := range st.Separated {
			for _, j := range st.Separated[:a] {
				if f.Distance(i, j) < st.To {
					t.Fatalf("%d, %d at %v in a step to %v", i, j, f.Distance(i, j), st.To)
				}
			}
		}
		lo = min(lo, st.From+math.Log(float64(len(st.Separated)))/o.Alpha)
	}
	if at < o.Lo || lo < o.Lo*(1-1e-14) {
		t.Fatalf("Lo %v, steps to %v give %v", o.Lo, at, lo)
	}
}
