package ipm

import (
	"context"
	"math"
	"slices"
	"testing"
)

// The linking system of sparse factors against that of dense ones, with several
// loss rows at some inputs and with a prior; more than one group of inputs. It is
// the same whatever the workers.
func TestLinkSparse_AgainstDense(t *testing.T) {
	for name, p := range map[string]*Problem{"grid": grid(9, .7), "tree": randomTree(150, 2)} {
		for _, prior := range []bool{false, true} {
			rows := p.rows()
			if prior {
				p.Prior = make([]float64, rows)
				for i := range p.Prior {
					p.Prior[i] = 1 / float64(rows)
				}
			} else {
				p = twice(p, 3)
			}
			l, err := Prepare(context.Background(), p)
			if err != nil || !l.Sparse() {
				t.Fatal(err)
			}
			link := func(workers int, f *pattern) []float64 {
				s := newSolver(context.Background(), &Plan{p: l.p, r: l.r, f: f}, Settings{Workers: workers})
				if err := s.start(); err != nil {
					t.Fatal(err)
				}
				if ok, err := s.assemble(); !ok || err != nil {
					t.Fatal(ok, err)
				}
				return s.link.Q.Data
			}
			a, b := link(3, l.f), link(3, nil)
			k := int(math.Sqrt(float64(len(a))))
			if !slices.Equal(a, link(1, l.f)) {
				t.Errorf("%s, prior %v: 1 and 3 workers differ", name, prior)
			}
			for i := range k {
				for j := i; j < k; j++ {
					size := math.Sqrt(b[i*k+i] * b[j*k+j])
					if !(math.Abs(a[i*k+j]-b[i*k+j]) <= 1e-12*size) {
						t.Fatalf("%s, prior %v: entry (%d, %d) is %v, dense %v", name, prior, i, j, a[i*k+j], b[i*k+j])
					}
				}
			}
		}
	}
}

// twice adds to p a second loss row for every input divisible by by.
func twice(p *Problem, by int) *Problem {
	q := *p
	q.Loss, q.Class = nil, append([]int(nil), p.Class...)
	for u := 0; u < p.Inputs; u += by {
		q.Class = append(q.Class, u)
	}
	for w := range p.Outputs {
		loss := p.Loss[w*p.rows() : (w+1)*p.rows()]
		q.Loss = append(q.Loss, loss...)
		for _, u := range q.Class[p.rows():] {
			q.Loss = append(q.Loss, loss[u]/2+1)
		}
	}
	return &q
}
