package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

const meters = metric.Unit("m")

// study is the input, what was asked of it and what was found.
type study struct {
	chart *extract
	roads *network
	space *metric.Graph // of the crossings
	alpha float64
	worst bool
	limit time.Duration
	seed  uint64
	own   bool // the map is the one that ships

	places []int     // crossings that may be released
	from   int       // the crossing whose releases are shown
	prior  []float64 // nil: the worst case

	demo.Comparison
	optimal *lp.Solution
}

// choose fills in the network, its metric and the places.
func (s *study) choose(ctx context.Context, p *demo.Program, n, k int, middle *metric.LatLon) (err error) {
	all, err := newNetwork(s.chart)
	if err != nil {
		return err
	}
	if k > min(n, len(all.at)) {
		return fmt.Errorf("-k %d: want at most the %d crossings that are used", k, min(n, len(all.at)))
	}
	p.Remark("%d ways on the map; %d crossings and ends of roads in the largest network, %d roads between them, %.0f km.",
		len(s.chart.ways), len(all.at), len(all.edges), all.length()/1000)
	if middle == nil {
		m := all.middle()
		middle = &m
	}
	s.roads = all
	if len(all.at) > n {
		var far float64
		s.roads, far = all.around(all.nearest(*middle), n)
		p.Remark("Used: the %d that are nearest to the center, up to %.0f m by road; distances are along the roads between them.", n, far)
	}
	s.from = s.roads.nearest(*middle)
	if s.space, err = metric.NewGraphEdges(ctx, len(s.roads.at), s.roads.edges); err != nil {
		return err
	}
	if !s.worst {
		s.prior = slices.Repeat([]float64{1 / float64(len(s.roads.at))}, len(s.roads.at))
	}
	if s.places, err = net(ctx, s.space, k); err != nil {
		return err
	}
	if !s.worst {
		if err := settle(ctx, s.space, s.places); err != nil {
			return err
		}
	}
	slices.Sort(s.places)
	return s.introduce(ctx, p)
}

// net is a farthest-point net of k points, which begins in the middle. As all that
// is done to the places, it depends on the map alone, which is public.
func net(ctx context.Context, f metric.Finite, k int) ([]int, error) {
	_, center, err := metric.Radius(ctx, f)
	if err != nil {
		return nil, err
	}
	order, _, err := metric.FarthestFirst(ctx, f, k, center)
	return order, err
}

// settle moves each place to the middle of the points that it is nearest to, as
// long as that brings them nearer on average.
func settle(ctx context.Context, f metric.Finite, places []int) error {
	const rounds = 50
	for range rounds {
		nearest, _, err := metric.Assign(ctx, f, places)
		if err != nil {
			return err
		}
		cells := make([][]int, len(places))
		for u, c := range nearest {
			cells[c] = append(cells[c], u)
		}
		moved := false
		for c, cell := range cells {
			if m := medoid(f, cell, places[c]); m != places[c] {
				places[c], moved = m, true
			}
		}
		if !moved {
			break
		}
	}
	return nil
}

// medoid is the point of a cell with the least sum of distances to it.
func medoid(f metric.Finite, cell []int, old int) int {
	sum := func(u int) (total float64) {
		for _, v := range cell {
			total += f.Distance(u, v)
		}
		return total
	}
	best, least := old, sum(old)
	for _, u := range cell {
		if total := sum(u); total < least {
			best, least = u, total
		}
	}
	return best
}

// compare builds and measures what is in the table.
func (s *study) compare(ctx context.Context, p *demo.Program) error {
	s.Comparison = demo.Comparison{Space: s.space, Measure: func(ctx context.Context, r *demo.Row, c *mechanism.Channel) (err error) {
		r.Adversary, err = c.AdversaryError(ctx, nil, s.space)
		return err
	}}
	nearest := []demo.Method{{Name: "nearest place, not private", Build: s.nearest}}
	private := []demo.Method{
		{Name: "constant", Build: s.constant},
		{Name: "noise, remapped", Build: s.noise},
		{Name: "exponential, the best", Build: s.exponential},
		{Name: "optimal", Build: s.optimum},
	}
	err := cmp.Or(s.Run(ctx, p, math.Inf(1), nearest), s.Run(ctx, p, s.alpha, private))
	for _, r := range s.Rows {
		err = cmp.Or(err, r.Err)
	}
	return err
}

// nearest releases the nearest place: no mechanism on these places loses less, and
// none is less private.
func (s *study) nearest(ctx context.Context, _ float64, _ demo.Report) (demo.Built, error) {
	nearest, _, err := metric.Assign(ctx, s.space, s.places)
	if err != nil {
		return demo.Built{}, err
	}
	w := make([]float64, len(nearest)*len(s.places))
	for u, c := range nearest {
		w[u*len(s.places)+c] = 1
	}
	c, err := mechanism.FromWeights(ctx, len(nearest), len(s.places), w, &mechanism.ChannelOptions{Labels: s.places})
	return demo.Built{Channel: c}, err
}

// constant releases the place that loses least, whatever the input.
func (s *study) constant(context.Context, float64, demo.Report) (demo.Built, error) {
	best, least := 0, math.Inf(1)
	for _, y := range s.places {
		loss := 0.0
		for u := range s.space.Len() {
			if d := s.space.Distance(u, y); s.worst {
				loss = max(loss, d)
			} else {
				loss += d
			}
		}
		if loss < least {
			best, least = y, loss
		}
	}
	return demo.Matrix(exponential.Constant(s.space.Len(), best, meters))
}

// exponential is the best mechanism of the exponential family on the places.
func (s *study) exponential(ctx context.Context, alpha float64, report demo.Report) (demo.Built, error) {
	m, err := exponential.Best(ctx, metric.Same(s.space), alpha, &exponential.BestOptions{
		Prior: s.prior, Outputs: s.places, Unit: meters,
		Progress: func(_ exponential.Method, done, total int) { report(done, total) },
	})
	if err != nil {
		return demo.Built{}, err
	}
	return demo.Built{Channel: m.Channel}, nil
}

// optimum is the mechanism of least loss, as near as the time allows.
func (s *study) optimum(ctx context.Context, alpha float64, report demo.Report) (demo.Built, error) {
	sol, err := lp.Optimal(ctx, metric.Same(s.space), alpha, &lp.Options{
		Prior: s.prior, Outputs: s.places, TimeLimit: s.limit, Unit: meters,
		Progress: func(_ int, gap float64, _ time.Duration) {
			const digits = 3 // of the gap at the end
			report(int(-100*math.Log10(gap)), 100*digits)
		},
	})
	if err != nil {
		return demo.Built{}, err
	}
	s.optimal = sol
	return demo.Built{Channel: sol.Channel}, nil
}

// noise is noise on the sphere, answered with the places that lose least by road. No
// road is shorter than the way of a crow, so that its level holds for distances by road.
func (s *study) noise(ctx context.Context, alpha float64, _ demo.Report) (demo.Built, error) {
	points, err := metric.NewPoints(s.roads.at, earth)
	if err != nil {
		return demo.Built{}, err
	}
	return demo.Matrix(exponential.Remapped(ctx, metric.Bimetric{Privacy: points, Utility: s.space}, alpha,
		&exponential.RemappedOptions{Options: exponential.Options{Outputs: s.places, Unit: meters}, Prior: s.prior}))
}
