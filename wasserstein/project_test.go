package wasserstein

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func TestProject_SlowReference(t *testing.T) {
	r := random.Seeded(1)
	for range 80 {
		n := 1 + r.IntN(30)
		f := w1Plane(r, n)
		g := w1Weights(r, n, true)
		for range r.IntN(n + 1) { // noise that keeps the total
			d := r.NormFloat64()
			i, j := r.IntN(n), r.IntN(n)
			g[i] += d
			g[j] -= d
		}
		got := projectVerify(t, f, g, 1)
		for _, p := range got.Plan {
			if g[p.I] <= 0 || g[p.J] >= 0 {
				t.Fatalf("flow %+v from %v to %v", p, g[p.I], g[p.J])
			}
		}
	}
}

// projectVerify checks a projection against the slow reference, up to 1e-12*size.
func projectVerify(t *testing.T, f metric.Finite, g []float64, size float64) *Projection {
	t.Helper()
	got := testkit.Must(Project(t.Context(), f, g, nil))
	want := refNearest(f.Distance, g)
	if math.Abs(got.Cost-want) > 1e-12*size || got.Lower > want+1e-12*size || got.Upper < want-1e-12*size {
		t.Fatalf("%T: %v in [%v, %v], want %v", f, got.Cost, got.Lower, got.Upper, want)
	}
	if slices.Min(got.P) < 0 || math.Abs(total(got.P)-1) > 1e-14*float64(len(g)) {
		t.Fatalf("%T: P has total %v, least %v", f, total(got.P), slices.Min(got.P))
	}
	// The distance of P from g, computed as that of two signed measures.
	if d := refSigned(f.Distance, g, got.P); math.Abs(d-want) > 1e-12*size {
		t.Fatalf("%T: P is %v from g, want %v", f, d, want)
	}
	moved := slices.Clone(g)
	for _, p := range got.Plan {
		moved[p.I] -= p.Mass
		moved[p.J] += p.Mass
	}
	for i := range moved {
		if math.Abs(moved[i]-got.P[i]) > 1e-14*(1+math.Abs(g[i])) {
			t.Fatalf("%T: P[%d] = %v, the plan makes it %v", f, i, got.P[i], moved[i])
		}
	}
	return got
}

// Where the points lie on a line or a tree the nearest measure takes no pivot, and is
// proved as elsewhere.
func TestProject_ClosedFormsAreTheOptimum(t *testing.T) {
	r := random.Seeded(7)
	for trial := range 60 {
		n := 1 + r.IntN(12)
		x, heights := linePositions(r, n), make([]float64, n-1)
		for p := range heights {
			heights[p] = float64(r.IntN(5)) * []float64{1, r.Float64()}[trial%2]
		}
		tree := treeRandom(r, n)
		for _, c := range []struct {
			name string
			f    metric.Finite
		}{
			{"line", onLine(x)}, {"hidden line", hidden{onLine(x)}}, {"leaves", tree.PathMetric()}, {"nodes", tree.NodeMetric()},
			{"ultrametric", testkit.Must(metric.NewUltrametric(r.Perm(n), heights))},
			{"clusters", testkit.Must(metric.NewClustered(1+r.IntN(5), 1+r.IntN(5), 1-r.Float64()))},
		} {
			name, f := c.name, c.f
			n := f.Len()
			g := w1Weights(r, n, true)
			for range r.IntN(n + 1) {
				d, i, j := r.NormFloat64(), r.IntN(n), r.IntN(n)
				g[i] += d
				g[j] -= d
			}
			size, _, _, _ := metric.Diameter(t.Context(), f)
			size *= floats.Norm(g, 1)
			got := projectVerify(t, f, g, size)
			if name != "nodes" && got.Pivots > 0 || got.Gap() > 1e-10*size+1e-40 { // a largest distance of 0 is rounded up
				t.Fatalf("%s: %d pivots, gap %v of %v", name, got.Pivots, got.Gap(), size)
			}
		}
	}
}

func isotonicCost(f, g, w []float64) float64 {
	sum := 0.0
	for k := range f {
		sum += w[k] * math.Abs(f[k]-g[k])
	}
	return sum
}

// All ascending lists over the values of g and the bounds: one of them is optimal.
func bruteIsotonic(g, w []float64, lo, hi float64) float64 {
	values := []float64{lo, hi}
	for _, v := range g {
		values = append(values, min(max(v, lo), hi))
	}
	slices.Sort(values)
	best := make([]float64, len(values)) // of a list that ends at most there
	for k := range g {
		least := math.Inf(1)
		for j, v := range values {
			least = min(least, best[j]) // best over all ends up to v
			best[j] = least + w[k]*math.Abs(v-g[k])
		}
	}
	return slices.Min(best)
}

func TestIsotonicL1_IsOptimal(t *testing.T) {
	r := random.Seeded(1)
	for trial := range 3000 {
		n := 1 + r.IntN(10)
		g, w := make([]float64, n), make([]float64, n)
		for k := range g {
			g[k], w[k] = r.NormFloat64(), r.Float64()
			if trial%2 == 0 { // ties, and weights of 0
				g[k], w[k] = float64(r.IntN(6)), float64(r.IntN(4))
			}
		}
		lo := float64(r.IntN(4)) - 2
		hi := lo + float64(r.IntN(4))
		want := bruteIsotonic(g, w, lo, hi)
		weights := w
		if trial%5 == 0 { // nil stands for ones
			for k := range w {
				w[k] = 1
			}
			weights, want = nil, bruteIsotonic(g, w, lo, hi)
		}
		f := testkit.Must(IsotonicL1(g, weights, lo, hi))
		if !slices.IsSorted(f) || f[0] < lo || f[n-1] > hi || isotonicCost(f, g, w) > want+1e-14*(1+want) {
			t.Fatalf("IsotonicL1(%v, %v, %v, %v) = %v costs %v, want %v", g, w, lo, hi, f, isotonicCost(f, g, w), want)
		}
		free, err := IsotonicL1(g, w, math.Inf(-1), math.Inf(1))
		if err != nil || !slices.IsSorted(free) {
			t.Fatalf("%v, %v", free, err)
		}
		// Mirrored input, mirrored result; on a grid there is no rounding.
		if trial%2 == 0 {
			back, weights := make([]float64, n), make([]float64, n)
			for k := range g {
				back[k], weights[k] = -g[n-1-k], max(1, w[n-1-k])
				w[n-1-k] = weights[k]
			}
			f, _ := IsotonicL1(g, w, lo, hi)
			b, err := IsotonicL1(back, weights, -hi, -lo)
			for k := range b {
				b[k] = -b[k]
			}
			slices.Reverse(b)
			if err != nil || !slices.Equal(b, f) {
				t.Fatalf("mirrored %v, want %v", b, f)
			}
		}
	}
}

// projectCheck: weights >= 0 that any function of this package accepts.
func projectCheck(t *testing.T, p []float64) {
	t.Helper()
	for i, v := range p {
		if !(v >= 0) || v > 1 {
			t.Fatalf("p[%d] = %v", i, v)
		}
	}
	if !isProbability(p) {
		t.Fatalf("total %v", total(p))
	}
}

func TestProjectLine_IsNearest(t *testing.T) {
	r := random.Seeded(3)
	for trial := range 400 {
		n := 1 + r.IntN(7)
		x, g := linePositions(r, n), lineSigned(r, n)
		if trial%3 == 0 { // another total
			g[r.IntN(n)] += r.NormFloat64()
		}
		p, dist, err := ProjectLine(x, g)
		if err != nil {
			t.Fatal(err)
		}
		projectCheck(t, p)
		// What the total lacks lies at the largest point.
		full := slices.Clone(g)
		full[slices.Index(x, slices.Max(x))] += 1 - total(g)
		extent := slices.Max(x) - slices.Min(x)
		want := refNearest(linePoints(x).Distance, full)
		if math.Abs(dist-want) > 1e-13*extent {
			t.Fatalf("x=%v g=%v: distance %v, want %v", x, g, dist, want)
		}
		if d, err := distance(onLine(x), p, full); err != nil || math.Abs(d-dist) > 1e-13*extent {
			t.Fatalf("Distance %v, %v, distance %v", d, err, dist)
		}
		again, dist, err := ProjectLine(x, p)
		if err != nil || dist != 0 || !slices.Equal(again, p) {
			t.Fatalf("not idempotent: %v, %v, %v", again, dist, err)
		}
	}
}

// lineObjective is what ProjectLine minimizes.
func lineObjective(x, p, g []float64) float64 {
	order := identity(len(x))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	var d exact.DD
	sum := 0.0
	for k, i := range order[:len(x)-1] {
		d = d.AddFloat(p[i]).AddFloat(-g[i])
		sum += math.Abs(d.Hi) * (x[order[k+1]] - x[i])
	}
	return sum
}

// fuzzLine reads pairs (position, weight) of 16 bits each, with a scale.
func fuzzLine(data []byte) (x, g []float64) {
	if len(data) < 2 {
		return nil, nil
	}
	sx, sg := int(int8(data[0])), int(int8(data[1]))
	for data = data[2:]; len(data) >= 4 && len(x) < 64; data = data[4:] {
		x = append(x, math.Ldexp(float64(int16(data[0])|int16(data[1])<<8), 8*sx))
		g = append(g, math.Ldexp(float64(int16(data[2])|int16(data[3])<<8), sg))
	}
	return x, g
}

// Any input gives an error or a probability measure, no farther from g than some others: all mass
// at one point, the positive part renormalized, and random ones.
func FuzzProjectLine(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 1, 0, 2, 0, 255, 255, 3, 0, 1, 0})
	f.Add([]byte{0, 240, 1, 0, 1, 0, 1, 0, 255, 127, 1, 0, 1, 128})
	f.Add([]byte{127, 120, 1, 0, 1, 64, 9, 128, 255, 0, 3, 0, 1, 1})
	f.Add([]byte{128, 128, 7, 0, 1, 64, 9, 0, 255, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		x, g := fuzzLine(data)
		p, dist, err := ProjectLine(x, g)
		if err != nil {
			var v *metric.ValueError
			if !errors.Is(err, metric.ErrEmpty) && !errors.As(err, &v) {
				t.Fatal(err)
			}
			return
		}
		projectCheck(t, p)
		size := 1.0
		for _, w := range g {
			size += math.Abs(w)
		}
		// Each G_k, F_k and their difference is rounded, to an ulp of size.
		slack := 8 * float64(len(g)) * 0x1p-53 * size * (slices.Max(x) - slices.Min(x))
		if own := lineObjective(x, p, g); math.Abs(own-dist) > slack {
			t.Fatalf("distance %v, stated %v", lineObjective(x, p, g), dist)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for try := range len(x) + 4 {
			q := make([]float64, len(x))
			if try < len(x) {
				q[try] = 1
			} else {
				sum := 0.0
				for i := range q {
					q[i] = max(0, g[i])
					if try > len(x) {
						q[i] = r.ExpFloat64()
					}
					sum += q[i]
				}
				if sum == 0 || math.IsInf(sum, 1) {
					continue
				}
				for i := range q {
					q[i] /= sum
				}
			}
			if c := lineObjective(x, q, g); c < dist-slack {
				t.Fatalf("distance %v, but %v is at %v", dist, q, c)
			}
		}
	})
}

func TestProjectTree_IsNearest(t *testing.T) {
	r := random.Seeded(1)
	for trial := range 1500 {
		tree := treeRandom(r, 1+r.IntN(12))
		leaves := tree.Leaves()
		g := lineSigned(r, len(leaves))
		if trial%3 == 0 { // on a grid, where masses tie, and another total
			for k := range g {
				g[k] = float64(r.IntN(9)-3) / 4
			}
		}
		p, dist, err := ProjectTree(tree, g)
		if err != nil {
			t.Fatal(err)
		}
		projectCheck(t, p)
		// What the total lacks lies at the root.
		full := make([]float64, tree.Len())
		for k, v := range leaves {
			full[v] = g[k]
		}
		full[tree.Root()] += 1 - total(g)
		if len(leaves) == 1 && tree.Len() == 1 {
			continue
		}
		// Nearest among the measures on the leaves: other nodes take no mass.
		d := tree.NodeMetric().Distance
		want := refNearestLeaves(tree, d, full)
		if slack := 1e-13 * treeHeight(tree); math.Abs(dist-want) > slack {
			t.Fatalf("trial %d: g=%v: distance %v, want %v", trial, g, dist, want)
		}
		q := refTopDown(t, tree, g)
		if c := projectCost(tree, q, g); c < dist-1e-13*treeHeight(tree) {
			t.Fatalf("top-down is nearer: %v < %v", c, dist)
		}
		again, dist, err := ProjectTree(tree, p)
		if err != nil || dist != 0 || !slices.Equal(again, p) {
			t.Fatalf("not idempotent: %v, %v, %v", again, dist, err)
		}
	}
}

// refNearestLeaves is refNearest with the final mass on leaves only: a source
// pays the way to the nearest leaf where it is no leaf itself.
func refNearestLeaves(tree *metric.Tree, d func(i, j int) float64, g []float64) float64 {
	return refFill(d, func(i int) float64 {
		least := math.Inf(1)
		for _, v := range tree.Leaves() {
			least = min(least, d(i, v))
		}
		return least
	}, g)
}

// refTopDown is another probability measure near g: from the root down each node gives its mass to
// its children, as near as can be in the Euclidean sense to the sums of g below them.
func refTopDown(t *testing.T, tree *metric.Tree, g []float64) []float64 {
	t.Helper()
	below := nodeTree(tree, tree.Leaves()).below(g, make([]float64, len(g)))
	mass := make([]float64, tree.Len())
	mass[tree.Root()] = 1
	for _, v := range tree.Preorder() {
		children := tree.Children(v)
		if len(children) == 0 {
			continue
		}
		want := make([]float64, len(children))
		for k, c := range children {
			want[k] = below[c].Hi
		}
		got := testkit.Must(ProjectSimplex(want, mass[v], nil))
		for k, c := range children {
			mass[c] = got[k]
		}
	}
	p := make([]float64, len(tree.Leaves()))
	for k, v := range tree.Leaves() {
		p[k] = mass[v]
	}
	projectCheck(t, p)
	return p
}

func projectCost(tree *metric.Tree, p, g []float64) float64 {
	on := nodeTree(tree, tree.Leaves())
	return on.cost(on.below(p, g))
}

// Equal siblings are treated alike: what one cluster lacks is taken from all by
// the same amount, and small weights go to 0 first.
func TestProjectTree_SharesEvenly(t *testing.T) {
	star := testkit.Must(metric.NewTree([]int{-1, 0, 0, 0, 0}, []float64{0, .1, .1, .1, .1}))
	for _, c := range []struct{ g, want []float64 }{
		{[]float64{.7, .5, .05, -.25}, []float64{.6, .4, 0, 0}},
		{[]float64{.5, .4, .3, 0}, []float64{1.3 / 3, 1. / 3, .7 / 3, 0}},
		{[]float64{0, 0, 0, 0}, []float64{.25, .25, .25, .25}},
		{[]float64{-1, 0, 0, .2}, []float64{0, 4. / 15, 4. / 15, 7. / 15}},
	} {
		p, _, err := ProjectTree(star, c.g)
		if err != nil {
			t.Fatal(err)
		}
		for k := range p {
			if math.Abs(p[k]-c.want[k]) > 1e-15 {
				t.Errorf("ProjectTree(%v) = %v, want %v", c.g, p, c.want)
				break
			}
		}
	}
}

// Reference: bisection for tau.
func TestProjectSimplex_IsNearest(t *testing.T) {
	r := random.Seeded(5)
	for trial := range 1000 {
		n := 1 + r.IntN(12)
		g := linePositions(r, n)
		for i := range g {
			g[i] = min(max(g[i], -1e3), 1e3)
		}
		mass := r.ExpFloat64()
		if trial%5 == 0 {
			mass = float64(r.IntN(2))
		}
		p := testkit.Must(ProjectSimplex(g, mass, nil))
		lo, hi := -1e4, 1e4
		for range 200 {
			mid, sum := (lo+hi)/2, 0.0
			for _, v := range g {
				sum += max(0, v-mid)
			}
			if sum > mass {
				lo = mid
			} else {
				hi = mid
			}
		}
		for i, v := range g {
			if p[i] < 0 || math.Abs(p[i]-max(0, v-lo)) > 1e-11 {
				t.Fatalf("ProjectSimplex(%v, %v) = %v at %d, want %v", g, mass, p, i, max(0, v-lo))
			}
		}
		if math.Abs(total(p)-mass) > float64(n)*0x1p-52*mass {
			t.Fatalf("total %v, want %v", total(p), mass)
		}
	}
	if p, err := ProjectSimplex([]float64{1e17, 1e17, -1e300}, 1, nil); err != nil || !slices.Equal(p, []float64{.5, .5, 0}) {
		t.Errorf("%v, %v", p, err)
	}
	dst := make([]float64, 5)
	if p, err := ProjectSimplex([]float64{1, 2}, 1, dst); err != nil || &p[0] != &dst[0] || !slices.Equal(p, []float64{0, 1}) {
		t.Errorf("%v, %v", p, err)
	}
}
