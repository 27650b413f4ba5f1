package interval

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

const length = 3000

// maps are lines of equal cells, and points in a row, merged or not.
func maps(rng *rand.Rand) map[string]*Map {
	m := &Map{Quantum: 0.5, Bounds: Cells(length, 1+rng.Int64N(12))}
	m.Outputs = Cells(length, 4*int64(m.Dim()))
	list := map[string]*Map{"line": m}
	for name, width := range map[string]int64{"points": 0, "merged": 400} {
		at := []int64{0, length}
		for range 1 + rng.IntN(15) {
			at = append(at, rng.Int64N(length))
		}
		slices.Sort(at)
		m := &Map{Quantum: 0.5, Bounds: Merge(at, width), Outputs: at}
		if m.Exact = width == 0; m.Exact {
			m.Outputs = m.Bounds
		}
		list[name] = m
	}
	return list
}

// some are positions of a few points or of many: outputs but on a line.
func some(rng *rand.Rand, m *Map, line bool) (at []int64) {
	for range 1 + rng.IntN(4)*rng.IntN(10) {
		x := m.Outputs[rng.IntN(len(m.Outputs))]
		if line {
			x = rng.Int64N(length + 1)
		}
		for range 1 + rng.IntN(9) {
			at = append(at, x)
		}
	}
	return at
}

// mean is that of Phi.
func (m *Map) mean(at []int64) []float64 {
	acc, y := make([]int64, m.Work()), make([]float64, m.Dim())
	for _, x := range at {
		m.Add(acc, x, 1)
	}
	m.Finish(acc)
	for c := range y {
		y[c] = float64(acc[c]) / float64(len(at))
	}
	return y
}

// off is the distance of the points from weights p of the outputs.
func (m *Map) off(at []int64, p []float64) (sum float64) {
	type mass struct {
		x int64
		p float64
	}
	var all []mass
	for _, x := range at {
		all = append(all, mass{x, -1 / float64(len(at))})
	}
	for j, v := range p {
		all = append(all, mass{m.Outputs[j], v})
	}
	slices.SortFunc(all, func(a, b mass) int { return cmp.Compare(a.x, b.x) })
	below := 0.0
	for i, a := range all[:len(all)-1] {
		below += a.p
		sum += float64(math.Abs(below) * float64(all[i+1].x-a.x))
	}
	return sum * m.Quantum
}

// Without noise the fit is as near as Resolution says: at the points where these
// are the outputs and no cells are merged.
func TestFit_IsWithinResolution(t *testing.T) {
	for seed := range uint64(300) {
		rng := random.Seeded(seed)
		for name, m := range maps(rng) {
			for range 5 {
				at := some(rng, m, name == "line")
				p := testkit.Must(m.Fit(t.Context(), m.mean(at)))
				if off := m.off(at, p); off > m.Resolution()+1e-9 {
					t.Fatalf("%s, seed %d: %v comes back as %v, at distance %v, resolution %v", name, seed, at, p, off, m.Resolution())
				}
			}
			if (m.Resolution() == 0) != m.Exact {
				t.Errorf("%s: resolution %v", name, m.Resolution())
			}
		}
	}
}

// With noise the mean error is below the bound.
func TestBound_Holds(t *testing.T) {
	for seed := range uint64(30) {
		rng := random.Seeded(seed)
		for name, m := range maps(rng) {
			at := some(rng, m, name == "line")
			for _, size := range []float64{0.1, 10} {
				const runs = 40
				mean := 0.0
				for range runs {
					y := m.mean(at)
					for c := range y {
						y[c] += float64(size * random.Laplace(rng))
					}
					mean += m.off(at, testkit.Must(m.Fit(t.Context(), y))) / runs
				}
				if bound := m.Bound(size, size*math.Sqrt2); mean > bound {
					t.Errorf("%s, seed %d, noise %v: error %v, bound %v", name, seed, size, mean, bound)
				}
			}
		}
	}
}

// The map is an isometry, and cells end at the outermost positions.
func TestMap_IsAnIsometry(t *testing.T) {
	rng := random.Seeded(1)
	for name, m := range maps(rng) {
		for range 1000 {
			x, y := rng.Int64N(length+1), rng.Int64N(length+1)
			sum := 0.0
			u, v := m.mean([]int64{x}), m.mean([]int64{y})
			for c := range u {
				sum += math.Abs(u[c] - v[c])
			}
			if sum != math.Abs(float64(x-y)) {
				t.Fatalf("%s: %d and %d are mapped %v apart", name, x, y, sum)
			}
		}
	}
}

// TestRounder_MeansAreExact: every coordinate of the mean of points as given is rounded up
// with just the probability that it says, also next to bounds by less than an ulp.
func TestRounder_MeansAreExact(t *testing.T) {
	for seed := range uint64(300) {
		rng := random.Seeded(seed)
		lo := []float64{0, -1.7, 0.1, -1e6}[rng.IntN(4)]
		m := &Map{Quantum: 0.125, Bounds: Cells(30, 1+rng.Int64N(8))}
		hi := lo + 30*m.Quantum
		items := make([]float64, 1+rng.IntN(4))
		for i := range items {
			at := float64(rng.IntN(32)-1) * m.Quantum
			items[i] = lo + at + []float64{0, rng.Float64(), -1e-17, 5e-324, 1e-30}[rng.IntN(5)]
			if rng.IntN(3) == 0 {
				items[i] = at + []float64{0, -1e-16, 5e-324}[rng.IntN(3)]
			}
		}
		round, dst := m.Rounder(lo, hi), make([]int64, m.Dim())
		for c := range m.Dim() {
			want := new(big.Rat)
			for _, x := range items {
				v := testkit.Ratio(min(max(x, lo), hi))
				v.Sub(v, testkit.Ratio(lo)).Quo(v, testkit.Ratio(m.Quantum)).Sub(v, big.NewRat(m.Bounds[c], 1))
				if width := big.NewRat(m.width(c), 1); v.Cmp(width) > 0 {
					v = width
				}
				if v.Sign() > 0 {
					want.Add(want, v)
				}
			}
			want.Quo(want, big.NewRat(int64(len(items)), 1))
			k, part := testkit.Dithered(func(rng *rand.Rand) int64 {
				round(dst, rng, items)
				return dst[c]
			})
			got := new(big.Rat).SetFrac(new(big.Int).SetUint64(part), big.NewInt(1<<56))
			if off, _ := got.Add(got, big.NewRat(k, 1)).Sub(got, want).Float64(); math.Abs(off) > 0x1p-55 {
				t.Fatalf("seed %d: %v: coordinate %d is off by %v", seed, items, c, off)
			}
		}
	}
}
