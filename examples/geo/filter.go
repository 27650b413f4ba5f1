package main

import (
	"bufio"
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/golang/geo/s2"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

const (
	sampleWithin = 500 // meters, for the files that ship
	noCell       = -1
	maxCell      = 30 // the finest level of S2, a centimeter
	maxEnds      = 10_000
	// maxSeen is how many places a file's counts remember. Beyond it a place counts
	// each time it comes: what is said of the level stays true.
	maxSeen = 1 << 18
)

// settings are the flags.
type settings struct {
	within, prob, alpha float64
	merge, cell, ends   int
	keep, column, key   string
	skip                bool

	trail  bool
	every  int
	center string
}

func newSettings(p *demo.Program) *settings {
	s := new(settings)
	p.Flags.Float64Var(&s.within, "within", 0, "how many `METERS` off a place is at most, with the probability of -prob")
	p.Flags.Float64Var(&s.prob, "prob", 0.95, "the probability of -within")
	p.Flags.Float64Var(&s.alpha, "alpha", 0, "privacy level per km, in place of -within")
	p.Flags.IntVar(&s.merge, "merge", noCell, "S2 `LEVEL` of the cells within which all positions are one place, the center, so that the noise of a GPS costs nothing (default: each position is a place)")
	p.Flags.IntVar(&s.cell, "cell", noCell, "S2 `LEVEL` of the cells that are released, by token and center (default: positions)")
	p.Flags.StringVar(&s.keep, "keep", "", "`NAMES` of the properties, elements or columns that are public, separated by commas, or *; the others are left out")
	p.Flags.StringVar(&s.column, "track", "", "`COLUMN` of a CSV file that says of which track a row is")
	p.Flags.IntVar(&s.ends, "ends", 0, "leave out the first and the last `N` points of every line, route and segment of a track, on which nothing that is released depends then")
	p.Flags.StringVar(&s.key, "key", "", "`FILE` of the secret from which draws are derived, made where there is none: other runs of one level with it answer as this one does (default: a new secret, and nowhere kept)")
	p.Flags.BoolVar(&s.trail, "trail", false, "GPX: release each route and segment as one trail, point by point, about -center")
	p.Flags.IntVar(&s.every, "every", 0, "GPX: release each route and segment by one of `N` of its points and straight lines, about -center, with -trail or without")
	p.Flags.StringVar(&s.center, "center", "", "`LATITUDE,LONGITUDE` for -trail and -every: public, and within 60 degrees of all tracks")
	p.Flags.BoolVar(&s.skip, "skip", false, "leave out what is malformed (features of GeoJSON, points of GPX, rows of CSV) and count it")
	return s
}

// filter makes places private.
type filter struct {
	settings
	sphere *additive.Sphere
	place  mechanism.Mechanism[metric.LatLon, metric.LatLon] // equal inputs, equal outputs
	kept   map[string]bool                                   // by the names of -keep: whether anything has that name
	seen   int                                               // places that the counts of a file remember

	rng   *rand.Rand // of ways as wholes, one of:
	tree  *additive.Trail[metric.LatLon]
	knots *additive.Knots[metric.LatLon]
}

// filter checks the flags; a nil rng is secure.
func (s *settings) filter(rng *rand.Rand) (*filter, error) {
	f := &filter{settings: *s, kept: map[string]bool{}, seen: maxSeen, rng: rng}
	switch {
	case s.within == 0 && s.alpha == 0:
		return nil, fmt.Errorf("no level: want -within METERS, with -prob, or -alpha PER_KM")
	case s.within != 0 && s.alpha != 0:
		return nil, fmt.Errorf("-within and -alpha: want one of them")
	case s.within != 0 && !(s.within > 0 && s.within <= 1e7):
		return nil, fmt.Errorf("-within %v: want a number of meters in (0, 1e7]", s.within)
	case s.within != 0 && !(s.prob > 0 && s.prob < 1):
		return nil, fmt.Errorf("-prob %v: want a number in (0, 1)", s.prob)
	case s.within == 0 && !(s.alpha > 0 && s.alpha <= 1e6):
		return nil, fmt.Errorf("-alpha %v: want a number per km in (0, 1e6]", s.alpha)
	}
	if s.ends < 0 || s.ends > maxEnds {
		return nil, fmt.Errorf("-ends %d: want 0 to %d", s.ends, maxEnds)
	}
	for _, l := range []struct {
		flag  string
		level int
	}{{"-merge", s.merge}, {"-cell", s.cell}} {
		if l.level < noCell || l.level > maxCell {
			return nil, fmt.Errorf("%s %d: want an S2 level in [0, %d]", l.flag, l.level, maxCell)
		}
	}
	for name := range strings.SplitSeq(s.keep, ",") {
		if name = strings.TrimSpace(name); name != "" {
			f.kept[name] = false
		}
	}
	secret, err := s.secret(rng)
	if err != nil {
		return nil, err
	}
	if s.within != 0 {
		f.sphere, err = additive.NewSphereWithin(s.within/1000, s.prob, nil)
	} else {
		f.sphere, err = additive.NewSphere(s.alpha, nil)
	}
	if err != nil {
		return nil, err
	}
	f.alpha = f.sphere.Guarantee().Alpha()
	y := mechanism.Then(mechanism.Mechanism[metric.LatLon, metric.LatLon](f.sphere), func(y metric.LatLon) (metric.LatLon, error) {
		return center(y, f.cell), nil
	})
	// Derived from a secret, draws need no memory.
	if f.place, err = mechanism.NewSticky(y, &mechanism.StickyOptions[metric.LatLon]{Secret: secret, Name: "geo"}); err != nil {
		return nil, err
	}
	return f, f.wholes()
}

// secret is what draws are derived from: the file of -key, made where there is none,
// or chance.
func (s *settings) secret(rng *rand.Rand) ([]byte, error) {
	const size = 32
	secret := make([]byte, size)
	if rng != nil {
		if s.key != "" {
			return nil, fmt.Errorf("-seed and -key: want one of them")
		}
		for k := range secret {
			secret[k] = byte(rng.Uint32())
		}
		return secret, nil
	}
	crand.Read(secret) // never fails
	if s.key == "" {
		return secret, nil
	}
	f, err := os.OpenFile(s.key, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%x\n", secret)
		return secret, errors.Join(err, f.Close())
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	text, err := os.ReadFile(s.key)
	if err != nil {
		return nil, err
	}
	if secret, err = hex.DecodeString(strings.TrimSpace(string(text))); err != nil || len(secret) != size {
		return nil, fmt.Errorf("-key %s: want a file of %d hexadecimal digits", s.key, 2*size)
	}
	return secret, nil
}

// String tells what is done to a place.
func (f *filter) String() string {
	const usual = 0.95
	switch {
	case f.knots != nil:
		return fmt.Sprintf("Each route and segment: %v that any of its points is moved by; noise of %.3g m in the root mean square for 60 points.", f.knots.Guarantee(), 1000*f.knots.RMS(60))
	case f.tree != nil:
		return fmt.Sprintf("Each route and segment: %v that it is moved by as a whole, twice that for one stay; noise of up to %.3g m in the root mean square for 60 points.", f.tree.Guarantee(), 1000*f.tree.RMS(knots(60, f.every)))
	}
	return fmt.Sprintf("Each distinct place: %v, within %.3g m with probability %v.", f.sphere.Guarantee(), 1000*f.sphere.RadiusQuantile(usual), usual)
}

// keeps tells whether a property, an element or a column that there is is public.
func (f *filter) keeps(name string) bool {
	_, all := f.kept["*"]
	_, named := f.kept[name]
	if named {
		f.kept[name] = true
	}
	return named || all
}

// unused are the names of -keep that nothing has, in order.
func (f *filter) unused() (names []string) {
	for name, used := range f.kept {
		if !used && name != "*" {
			names = append(names, fmt.Sprintf("%.40q", name))
		}
	}
	slices.Sort(names)
	return names
}

// cell is the S2 cell of a level around a place.
func cell(x metric.LatLon, level int) s2.CellID {
	return s2.CellIDFromLatLng(s2.LatLngFromDegrees(x.Lat, x.Lon)).Parent(level)
}

// center is that of the cell of a level around x, or x itself for noCell.
func center(x metric.LatLon, level int) metric.LatLon {
	if level == noCell {
		return x
	}
	c := cell(x, level).LatLng()
	return metric.LatLon{Lat: c.Lat.Degrees(), Lon: c.Lng.Degrees()}
}

// canonical is one of all ways to write a place.
func canonical(x metric.LatLon) metric.LatLon {
	switch {
	case math.Abs(x.Lat) == 90:
		x.Lon = 0
	case x.Lon == -180:
		x.Lon = 180
	}
	return metric.LatLon{Lat: x.Lat + 0, Lon: x.Lon + 0} // no -0
}

// position checks coordinates in degrees. Some count longitudes on beyond 180.
func position(lat, lon float64) (metric.LatLon, error) {
	switch {
	case !(math.Abs(lat) <= 90):
		return metric.LatLon{}, errors.New("latitude: want a number in [-90, 90]")
	case !(math.Abs(lon) <= 360):
		return metric.LatLon{}, errors.New("longitude: want a number in [-360, 360]")
	case math.Abs(lon) > 180:
		lon -= math.Copysign(360, lon)
	}
	return metric.LatLon{Lat: lat, Lon: lon}, nil
}

// job filters one stream.
type job struct {
	*filter
	ctx  context.Context
	name string // of the file
	w    *bufio.Writer
	room int // places that may still be remembered

	marks bool // what is written is a text sequence

	all                       *places
	features, points, skipped int
	most                      int // distinct places of the track that has most
}

// places counts distinct ones, a way that is released as a whole as one.
type places struct {
	n    int
	any  float64 // the level of ways where any point may be elsewhere, per km
	seen map[metric.LatLon]bool
}

// track begins a count of the places of a track.
func (j *job) track() *places { return &places{seen: map[metric.LatLon]bool{}} }

// count adds a place to what has been seen.
func (j *job) count(p *places, x metric.LatLon) {
	if p.seen[x] {
		return
	}
	p.n++
	if j.room > 0 {
		j.room--
		p.seen[x] = true
	}
}

// ends forgets a track.
func (j *job) ends(p *places) {
	j.room += len(p.seen)
	j.most = max(j.most, p.n)
}

// total is the level of places together, per km that each of them may be elsewhere.
func (j *job) total(p *places) float64 { return j.totalOf(p.n) }

func (j *job) totalOf(n int) float64 { return j.place.Guarantee().Times(n).Alpha() }

// release makes one place of a track private.
func (j *job) release(x metric.LatLon, track *places) (metric.LatLon, error) {
	if err := j.ctx.Err(); err != nil {
		return x, err
	}
	j.points++
	x = canonical(center(x, j.merge))
	j.count(track, x)
	if track != j.all {
		j.count(j.all, x)
	}
	return j.place.Release(nil, x)
}

// bad is an error in one feature, point or row: nil where such are skipped.
func (j *job) bad(err error) error {
	if !j.skip {
		return err
	}
	j.skipped++
	return nil
}

// degrees writes a coordinate of a private place: the digits beyond a tenth of a
// meter say nothing, and those of float64 could tell too much.
func degrees(dst []byte, v float64) []byte {
	const digits = 6
	from := len(dst)
	if dst = strconv.AppendFloat(dst, v, 'f', digits, 64); string(dst[from:]) == "-0.000000" {
		dst = append(dst[:from], "0.000000"...)
	}
	return dst
}

// number reads a coordinate of a text format.
func number(name, text string) (float64, error) {
	v, err := fault.Decimal(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("%s: not a number", name)
	}
	return v, nil
}
