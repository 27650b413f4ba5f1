// Package engine answers what the page of examples/browser asks, by the library.
// It knows no browser: package wasm beside it, the program that runs in one, hands
// questions in and answers out as JSON.
package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// Engine answers questions; see [Engine.Call].
type Engine struct {
	store Store
	trail *trail // under way, or nil
}

// Store keeps sticky answers and what they cost.
type Store interface {
	mechanism.Store
	Clear() error // forgets all records
}

// New returns an engine whose sticky answers are those in the store.
func New(s Store) *Engine { return &Engine{store: s} }

// Call answers one question: what is its name, args are its arguments as JSON, and
// so is the answer.
//
//	noise    Wish                 Noise
//	fresh    Wish, Place, Times   Fresh
//	sticky   Wish, Place          Sticky
//	report   Wish, Place, Center  Report
//	forget                        null
//	compare  Wish, Places, At     []Row
func (e *Engine) Call(ctx context.Context, what string, args []byte) ([]byte, error) {
	var answer any
	var err error
	switch what {
	case "noise":
		answer, err = asked(args, func(q struct{ Wish }) (any, error) { return q.noise() })
	case "fresh":
		answer, err = asked(args, func(q freshQuestion) (any, error) { return q.answer() })
	case "sticky":
		answer, err = asked(args, func(q stickyQuestion) (any, error) { return e.sticky(q) })
	case "report":
		answer, err = asked(args, func(q reportQuestion) (any, error) { return e.report(q) })
	case "forget":
		err = e.store.Clear()
	case "compare":
		answer, err = asked(args, func(q compareQuestion) (any, error) { return q.answer(ctx) })
	default:
		err = fmt.Errorf("no question %q", what)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// asked reads the arguments of a question and answers it.
func asked[Q any](args []byte, answer func(Q) (any, error)) (any, error) {
	var q Q
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		return nil, err
	}
	return answer(q)
}

// Wish is how private answers have to be: between two places Km apart or less, the
// odds of someone who sees an answer change by at most the factor Odds.
type Wish struct{ Km, Odds float64 }

// What a wish may ask for. Beyond, the noise is wider than the Earth or finer than
// what a map shows.
const (
	minKm, maxKm     = 0.1, 20000
	minOdds, maxOdds = 1.01, 1000
)

// alpha is the level, per km, that grants the wish: ln(Odds)/Km, rounded down.
func (w Wish) alpha() (float64, error) {
	if !(w.Km >= minKm && w.Km <= maxKm) {
		return 0, fmt.Errorf("distance %v km: want %v to %v", w.Km, minKm, maxKm)
	}
	if !(w.Odds >= minOdds && w.Odds <= maxOdds) {
		return 0, fmt.Errorf("factor %v: want %v to %v", w.Odds, minOdds, maxOdds)
	}
	return directed.DivDown(directed.LogDown(w.Odds), w.Km), nil
}

// mechanism is noise on the sphere at the level of the wish, rounded to the returned
// number of decimals of a degree, which is public: as fine as a hundredth of the
// median of the noise, and a meter at the finest. Rounding is post-processing.
func (w Wish) mechanism() (m mechanism.Mechanism[metric.LatLon, metric.LatLon], sphere *additive.Sphere, decimals int, err error) {
	alpha, err := w.alpha()
	if err != nil {
		return nil, nil, 0, err
	}
	if sphere, err = additive.NewSphere(alpha, nil); err != nil {
		return nil, nil, 0, err
	}
	const kmPerDegree = metric.EarthRadiusKm * math.Pi / 180
	step := sphere.RadiusQuantile(0.5) / 100 / kmPerDegree
	decimals = int(min(5, max(0, math.Ceil(-math.Log10(step)))))
	return mechanism.Then[metric.LatLon, metric.LatLon, metric.LatLon](sphere, func(y metric.LatLon) (metric.LatLon, error) {
		tens := math.Pow10(decimals)
		return metric.LatLon{Lat: math.Round(y.Lat*tens) / tens, Lon: math.Round(y.Lon*tens) / tens}, nil
	}), sphere, decimals, nil
}

// Noise is what there is to say about a wish before anything is released.
type Noise struct {
	Alpha     float64 // per km
	Guarantee string
	R50, R95  float64 // km: within, with that probability
	Decimals  int     // of a degree, in what is released
}

func (w Wish) noise() (Noise, error) {
	m, sphere, decimals, err := w.mechanism()
	if err != nil {
		return Noise{}, err
	}
	g := m.Guarantee()
	return Noise{g.Alpha(), g.String(), sphere.RadiusQuantile(0.5), sphere.RadiusQuantile(0.95), decimals}, nil
}

// maxTimes bounds the fresh answers of one question.
const maxTimes = 1000

type freshQuestion struct {
	Wish
	Place metric.LatLon
	Times int
}

// Fresh is some answers for one place, drawn independently, and what they give away
// together.
type Fresh struct {
	Answers []metric.LatLon
	Moved   []float64 // km from the place
}

func (q freshQuestion) answer() (f Fresh, err error) {
	if q.Times < 1 || q.Times > maxTimes {
		return f, fmt.Errorf("%d times: want 1 to %d", q.Times, maxTimes)
	}
	m, _, _, err := q.mechanism()
	if err != nil {
		return f, err
	}
	for range q.Times {
		y, err := m.Release(nil, q.Place)
		if err != nil {
			return f, err
		}
		f.Answers = append(f.Answers, y)
		f.Moved = append(f.Moved, metric.GreatCircle{}.Distance(q.Place, y))
	}
	return f, nil
}

type stickyQuestion struct {
	Wish
	Place metric.LatLon
}

// Sticky is the answer for a place, the same whenever it is asked for.
type Sticky struct {
	Answer metric.LatLon
	Moved  float64 // km from the place
	Spent  string  // the guarantee of all sticky answers in the store together
}

// limit is a level, per km, that no use of the page reaches: its budget is there to
// tell what was spent.
const limit = 1e9

func (e *Engine) sticky(q stickyQuestion) (s Sticky, err error) {
	m, _, _, err := q.mechanism()
	if err != nil {
		return s, err
	}
	most, err := mechanism.NewGuarantee(limit, 0, m.Guarantee().Unit())
	if err != nil {
		return s, err
	}
	budget, err := mechanism.NewBudget(most, &mechanism.BudgetOptions{Store: e.store, Name: "map"})
	if err != nil {
		return s, err
	}
	sticky, err := mechanism.NewSticky(m, &mechanism.StickyOptions[metric.LatLon]{
		Check:  func(p metric.LatLon) error { return metric.GreatCircle{}.Check(p, p) },
		Store:  e.store,
		Name:   fmt.Sprintf("map, within %v km by %v", q.Km, q.Odds), // another mechanism, another name
		Budget: budget,
	})
	if err != nil {
		return s, err
	}
	if s.Answer, err = sticky.Release(nil, q.Place); err != nil {
		return s, err
	}
	s.Moved = metric.GreatCircle{}.Distance(q.Place, s.Answer)
	spent, err := budget.Spent()
	s.Spent = spent.String()
	return s, err
}
