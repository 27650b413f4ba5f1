package metric

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func TestLocator_EqualsDefinition(t *testing.T) {
	r := random.Seeded(10)
	eachSpace(t, 90, func(t *testing.T, p *Points[[]float64]) {
		// The same space without its embedding.
		scan := under(p.pts, Func[[]float64](p.space.Distance))
		for _, l := range []*Locator[[]float64]{NewLocator(p), NewLocator(scan)} {
			for trial := range 40 {
				x := slices.Clone(p.At(r.IntN(p.Len())))
				for a := range x {
					switch trial % 4 {
					case 1: // near
						x[a] *= 1 + 1e-3*r.NormFloat64()
					case 2: // outside
						x[a] = 100 * (x[a] - r.Float64())
					case 3: // out of sight
						x[a] = min(max(x[a]*math.Pow(10, float64(r.IntN(300))), -1e150), 1e150)
					}
				}
				want := nobody
				for j := range p.Len() {
					if e := (entry{p.space.Distance(x, p.At(j)), j}); e.before(want) {
						want = e
					}
				}
				if i, d := l.Nearest(x); i != want.i || d != want.d {
					t.Fatalf("Nearest(%v) = %d, %v, want %v", x, i, d, want)
				}
				for _, radius := range []float64{want.d, math.Nextafter(want.d, -1), 2 * want.d} {
					ball := []int{-9}
					for j := range p.Len() {
						if p.space.Distance(x, p.At(j)) <= radius {
							ball = append(ball, j)
						}
					}
					if got := l.Within(x, radius, []int{-9}); !slices.Equal(got, ball) {
						t.Fatalf("Within(%v, %v) = %v, want %v", x, radius, got, ball)
					}
				}
			}
		}
	})
}

func TestLocator_ConcurrentUse(t *testing.T) {
	p := planePoints(2000)
	l := NewLocator(p)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			r := random.Seeded(uint64(w))
			for range 500 {
				i := r.IntN(p.Len())
				if j, d := l.Nearest(p.At(i)); j != i || d != 0 {
					t.Errorf("point %d is at %d, %v", i, j, d)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkLocator(b *testing.B) {
	for _, n := range []int{1000, 1000000} {
		l := NewLocator(planePoints(n))
		r, x := random.Seeded(11), make([]float64, 2)
		testkit.Bench(b, fmt.Sprintf("n=%d", n), func() {
			x[0], x[1] = r.Float64(), r.Float64()
			l.Nearest(x)
		})
	}
}
