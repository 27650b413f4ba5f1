package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// length is that of all roads, in meters.
func (n *network) length() (sum float64) {
	for _, e := range n.edges {
		sum += e.Length
	}
	return sum
}

// introduce says what the inputs, the outputs and alpha are.
func (s *study) introduce(ctx context.Context, p *demo.Program) error {
	wide, _, _, err := metric.Diameter(ctx, s.space)
	if err != nil {
		return err
	}
	p.Remark("%d crossings are the inputs, up to %.0f m apart by road; %d of them are the places that may be released.", s.space.Len(), wide, len(s.places))
	p.Remark("alpha = %v per m: two crossings %.3g m apart look alike up to a factor e, and up to a factor 2 at %.3g m.\n",
		s.alpha, 1/s.alpha, math.Ln2/s.alpha)
	return nil
}

// table is what was measured.
func (s *study) table() *demo.Table {
	t := demo.NewTable("mechanism", "level (per m)", "mean loss (m)", "95 % loss (m)", "worst loss (m)", "adversary (m)", "build time")
	for _, r := range s.Rows {
		t.Row(r.Name, r.Level, r.Mean, r.Quantile, r.Worst, r.Adversary, r.Took)
	}
	return t
}

// explain says what was proved.
func (s *study) explain(p *demo.Program) {
	loss := "mean"
	if s.worst {
		loss = "worst"
	}
	p.Remark("")
	p.Remark("adversary: how far off the best guess of the crossing from a release is, for someone who thought all of them equally likely.")
	p.Remark("Proved: no %v-private mechanism that releases one of these %d places has a smaller %s loss than %.4g m; \"optimal\" has %.4g m,",
		s.alpha, len(s.places), loss, s.optimal.DualBound, s.optimal.Objective)
	p.Remark("%.2g %% more at most (%s after %d iterations). Its level is audited: %s.",
		100*s.optimal.Gap, s.optimal.Status, s.optimal.Iterations, s.optimal.Guarantee())
}

const drawn = 100 // releases of one crossing that are shown

// draws are releases of the crossing that is shown, by the optimal mechanism: how
// often each place comes. The seed makes them repeat; a real release would pass a
// nil generator.
func (s *study) draws() (map[int]int, error) {
	r, counts := random.Seeded(s.seed), map[int]int{}
	for range drawn {
		y, err := s.optimal.Release(r, s.from)
		if err != nil {
			return nil, err
		}
		counts[y]++
	}
	return counts, nil
}

// probability is that of a place at the crossing that is shown.
func (s *study) probability(place int) (p float64) {
	for y := range s.optimal.Outputs() { // not every place need be one
		if s.optimal.Output(y) == place {
			p += s.optimal.Prob(s.from, y)
		}
	}
	return p
}

// samples prints the releases that the map shows.
func (s *study) samples(p *demo.Program) error {
	counts, err := s.draws()
	if err != nil {
		return err
	}
	at := s.roads.at[s.from]
	p.Remark("The crossing at %.5f, %.5f, released %d times (which would add up to %d alpha), comes out as", at.Lat, at.Lon, drawn, drawn)
	t := demo.NewTable("place", "lat", "lon", "away by road (m)", "probability", "times")
	for k, y := range s.places {
		if counts[y] > 0 {
			q := s.roads.at[y]
			t.Row(k+1, fmt.Sprintf("%.5f", q.Lat), fmt.Sprintf("%.5f", q.Lon), s.space.Distance(s.from, y), s.probability(y), counts[y])
		}
	}
	p.Print(t)
	return nil
}

// release writes one release of every crossing by every mechanism.
func (s *study) release(w io.Writer) error {
	t := demo.NewTable("lat", "lon", "mechanism", "released_lat", "released_lon", "moved_m")
	err := s.Release(s.seed, func(r demo.Row, u, y int) {
		from, to := s.roads.at[u], s.roads.at[y]
		t.Row(from.Lat, from.Lon, r.Name, to.Lat, to.Lon, s.space.Distance(u, y))
	})
	return cmp.Or(err, t.WriteCSV(w))
}
