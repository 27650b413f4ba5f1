package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// maxReports is how many reports a trail has; what is longer goes on in another, which adds.
const maxReports = 256

// wholes sets the mechanism that releases routes and segments as wholes, by the flags.
func (f *filter) wholes() error {
	if f.every < 0 || f.every > 1<<20 {
		return fmt.Errorf("-every %d: want 0 to %d", f.every, 1<<20)
	}
	if !f.whole() {
		return nil
	}
	if f.key != "" {
		return errors.New("-key: a track that is released as a whole is drawn anew: not with -trail or -every")
	}
	lat, lon, _ := strings.Cut(f.center, ",")
	y, err1 := number("latitude", lat)
	x, err2 := number("longitude", lon)
	if err := errors.Join(err1, err2); err != nil {
		return errors.New("-center: want LATITUDE,LONGITUDE, public and within 60 degrees of all tracks")
	}
	center, err := position(y, x)
	if err != nil {
		return fmt.Errorf("-center: %w", err)
	}
	if f.trail {
		f.tree, err = additive.NewEarthTrail(f.alpha, center, &additive.TrailOptions{Steps: maxReports, Every: f.every})
	} else {
		f.knots, err = additive.NewEarthKnots(f.alpha, center, &additive.KnotsOptions{Every: f.every})
	}
	return err
}

// whole tells whether routes and segments are released as wholes.
func (s *settings) whole() bool { return s.trail || s.every > 0 }

// way is a route or a segment of a track.
type way struct {
	*gpx
	track *places
	fixes []*fix // to be released as a whole
}

// add releases a point, or keeps it for the whole.
func (w *way) add(p *fix) error {
	switch {
	case !w.whole():
		return w.write(p, w.track)
	case p.bad != nil:
		return w.bad(p.bad)
	}
	w.fixes = append(w.fixes, p)
	return nil
}

// end releases the points that were kept.
func (w *way) end() error {
	for len(w.fixes) > 0 {
		n := len(w.fixes)
		release, level := w.knots.Release, w.alpha
		if w.tree != nil {
			n = min(n, maxReports*max(1, w.every))
			release, level = w.tree.Release, w.tree.Level(knots(n, w.every)).Alpha()
		}
		track := make([]metric.LatLon, n)
		for i, p := range w.fixes[:n] {
			track[i] = canonical(center(p.at, w.merge))
		}
		ys, err := release(w.rng, track)
		if err != nil {
			return w.wrong("%w", err)
		}
		for _, p := range []*places{w.track, w.all} {
			p.n++
			p.any = directed.AddUp(p.any, level)
		}
		for i, y := range ys {
			if err := w.emit(w.fixes[i], y); err != nil {
				return err
			}
		}
		w.points += n
		w.fixes = w.fixes[n:]
	}
	return nil
}

// knots is how many of n points are released, one of every so many.
func knots(n, every int) int { return (n-1)/max(1, every) + 1 }
