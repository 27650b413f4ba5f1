package engine

import (
	"errors"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// maxReports is how many reports a trail has: one a minute for four hours.
const maxReports = 240

// trail is a track that is released live.
type trail struct {
	m    *additive.Trail[metric.LatLon]
	live *additive.LiveTrail[metric.LatLon]
	n    int // reports
}

type reportQuestion struct {
	Wish
	Place  metric.LatLon
	Center *metric.LatLon // public: begins another trail, on a map about it
}

// Report is one position of the trail under way, and what it gives away with those before it.
type Report struct {
	Answer metric.LatLon
	Moved  float64 // km from the place
	N      int     // reports so far
	Whole  string  // the guarantee where the track is moved as a whole
	Any    float64 // the level, per km, where every report may be elsewhere
	Anew   float64 // that of as many fresh answers
	RMS    float64 // of the noise of all reports so far, in km
}

func (e *Engine) report(q reportQuestion) (r Report, err error) {
	t := e.trail
	if q.Center != nil {
		alpha, err := q.alpha()
		if err != nil {
			return r, err
		}
		t = &trail{}
		if t.m, err = additive.NewEarthTrail(alpha, *q.Center, &additive.TrailOptions{Steps: maxReports}); err != nil {
			return r, err
		}
		t.live, r.Answer, err = t.m.Start(nil, q.Place)
		if err != nil {
			return r, err
		}
		e.trail = t
	} else if t == nil {
		return r, errors.New("no trail is under way: want a center")
	} else if r.Answer, err = t.live.Next(nil, q.Place); err != nil {
		return r, err
	}
	t.n++
	const tens = 1e4 // of a degree, public
	r.Answer = metric.LatLon{Lat: math.Round(r.Answer.Lat*tens) / tens, Lon: math.Round(r.Answer.Lon*tens) / tens}
	g := t.m.Guarantee()
	r.Moved = metric.GreatCircle{}.Distance(q.Place, r.Answer)
	r.N, r.Whole, r.Any, r.RMS = t.n, g.String(), t.live.Level().Alpha(), t.m.RMS(t.n)
	r.Anew = directed.MulUp(g.Alpha(), float64(t.n))
	return r, nil
}
