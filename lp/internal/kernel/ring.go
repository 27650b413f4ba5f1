package kernel

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/parallel"
)

// ring is the column of a set around an input.
type ring struct {
	center int
	set    []int32
	value  []float32 // at near[center]
	// local are inputs around the center. Of all combinations of their own columns the
	// one with coefficients beta is the nearest to the ring; norm is its square.
	local  []int32
	beta   []float64
	norm   float64
	weight float64
}

const (
	// ringLocal is how many inputs represent a ring at most.
	ringLocal = 60
	// ringExcess is how far a row sum is above 1 where rings are made.
	ringExcess = 2e-4
)

// ringRadii are, in units of 1/rate, the annuli of which rings are made; a negative
// one stands for so many nearest inputs.
var ringRadii = [][2]float64{{.02, .04}, {.03, .1}, {.05, .08}, {.07, .15}, {.1, .15}, {.1, .3}, {.15, .25}, {.2, .3}, {.2, .6},
	{.25, .45}, {.35, .5}, {.35, 1}, {.5, .7}, {.5, 1.5}, {.7, 1}, {.7, 2}, {1, 1.5}, {1.4, 2}, {-3}, {-4}, {-5}, {-7}, {-9}}

// sweepRing minimizes over the weight of a ring, as sweep does over those of inputs and in the
// same norm, w'Kw for combinations of columns.
func (k *Kernel) sweepRing(r *ring) {
	slope := 0.0
	for i, v := range r.local {
		slope += float64(r.beta[i] * (1 - k.total[v]))
	}
	step := max(-r.weight, slope/r.norm)
	if math.Abs(step) <= still {
		return
	}
	r.weight += step
	for i, v := range k.near[r.center] {
		k.total[v] += float64(step * float64(r.value[i]))
	}
}

// addRings makes the rings of the inputs that need them.
func (k *Kernel) addRings() error {
	var centers []int
	for u, z := range k.total {
		if k.weight[u] == 0 && z > 1+ringExcess && !k.ringed[u] {
			centers, k.ringed[u] = append(centers, u), true
		}
	}
	made, errs := make([][]*ring, len(centers)), make([]error, len(centers))
	err := parallel.Chunks(k.ctx, len(centers), 1, k.Workers, nil, func(i, _, _ int) {
		made[i], errs[i] = k.ringsAround(centers[i])
	})
	for _, r := range made {
		k.rings = append(k.rings, r...)
	}
	return cmp.Or(err, cmp.Or(errs...))
}

// ringsAround makes the rings of an input.
func (k *Kernel) ringsAround(center int) (rings []*ring, err error) {
	type neighbor struct {
		at int32
		d  float64
	}
	list := make([]neighbor, 0, len(k.near[center]))
	for _, v := range k.near[center] {
		list = append(list, neighbor{v, k.Budget.Distance(center, int(v))})
	}
	slices.SortFunc(list, func(a, b neighbor) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.at, b.at)) })
	// The local inputs are a quarter of their distance from the center apart.
	var local []int32
	var own []float64 // distances from the center
	for _, c := range list {
		if len(local) == ringLocal || c.d*k.rate > 4 {
			break
		}
		apart := max(.25*c.d, 1e-6/k.rate)
		if c.d > 0 && c.d <= 1e-6/k.rate || slices.ContainsFunc(local, func(v int32) bool { return k.Budget.Distance(int(v), int(c.at)) <= apart && v != c.at }) {
			continue
		}
		local, own = append(local, c.at), append(own, c.d)
	}
	l := len(local)
	gram := make([]float64, l*l)
	for i, u := range local {
		for j, v := range local {
			gram[i*l+j] = math.Exp(-k.rate * k.Budget.Distance(int(u), int(v)))
		}
	}
	factor, err := dense.Factorize(k.ctx, l, make([]float64, l*l), func(a []float64) error { copy(a, gram); return nil })
	if err != nil || factor == nil {
		return nil, err
	}
	value := make([]float32, l*len(k.near[center])) // of local inputs' own columns
	for i, u := range local {
		for j, v := range k.near[center] {
			value[i*len(k.near[center])+j] = float32(math.Exp(-k.rate * k.Budget.Distance(int(u), int(v))))
		}
	}
	for _, radii := range ringRadii {
		var set []int // positions in local
		for i, d := range own {
			if d *= k.rate; d > 0 && (radii[0] < 0 && len(set) < int(-radii[0]) || d >= radii[0] && d <= radii[1]) {
				set = append(set, i)
			}
		}
		if len(set) < 2 {
			continue
		}
		near := len(k.near[center])
		r := &ring{center: center, local: local, beta: make([]float64, l), value: make([]float32, near)}
		for _, i := range set {
			r.set = append(r.set, local[i])
			for j := range r.beta {
				r.beta[j] = max(r.beta[j], gram[i*l+j])
			}
			for j, v := range value[i*near : (i+1)*near] {
				r.value[j] = max(r.value[j], v)
			}
		}
		at := slices.Clone(r.beta)
		if err := factor.Solve(k.ctx, r.beta); err != nil {
			return nil, err
		}
		for i, v := range at {
			r.norm += float64(v * r.beta[i])
		}
		if !(r.norm > 0) || !(r.beta[0] < 0) {
			continue // it has no dip
		}
		rings = append(rings, r)
	}
	return rings, nil
}
