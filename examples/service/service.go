// Package service is an HTTP handler that releases places and words privately: each input
// of a user is answered once and in the same way ever after, and a day has a limit. All
// that is to be remembered is in a [mechanism.Store], so that any number of processes may
// serve one database; package sqlstore has two, and the program serve runs all of it.
//
//	POST /v1/place   {"lat": 48.2086, "lon": 16.3727}
//	POST /v1/word    {"word": "river"}
//	GET  /v1/budget
//	GET  /healthz
//
// # Guarantee
//
// The distinct inputs of a user that are new on one day (UTC) are together as private as
// the day's limit: n alpha per unit of the largest distance between one of them and what it
// could have been, n [Options.Places] or [Options.Words]. Over d days that is d times as
// much. An input that comes again, on whatever day, gets its old answer and costs nothing.
// See [mechanism.Sticky] for what the pattern of equal answers shows.
package service

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/metric"
)

//go:embed words.txt.gz
var vocabulary []byte

// Options are for [New]. All processes on one database need the same. After a change of
// a level, what was answered under the old one is an error.
type Options struct {
	// Store keeps answers and what they cost. Where it has a method Ping(context.Context)
	// error, /healthz calls it.
	Store mechanism.Store
	// User says whose request it is, in 1 to 128 bytes of UTF-8. It must not take the
	// client's word for it, as [Header] does. Its errors answer 401, and are not shown.
	User func(*http.Request) (string, error)
	// Log gets a line for each request: method, route, status, time, and the error of a
	// store. No input, answer, user or address. nil: [slog.Default].
	Log *slog.Logger

	PlaceAlpha float64 // the level of a place, per km; 0: 4, within 1.2 km in 95 of 100 cases
	// PlaceCell is the radius in km of the public cells of which all places share one
	// answer, so that a receiver that trembles spends nothing. 0: 0.05.
	PlaceCell float64
	Places    int     // new places of a user a day; 0: 20
	WordAlpha float64 // the level of a word, per unit of distance of GloVe vectors; 0: 1
	Words     int     // new words of a user a day; 0: 50

	Requests int              // at once, others get 503; 0: 128
	Now      func() time.Time // nil: time.Now
}

const (
	maxBody = 1 << 10
	maxUser = 128
)

// Header returns an [Options.User] that believes a header of the request. Nothing proves
// who sent it: something in front must authenticate the user, and set or remove the header.
func Header(name string) func(*http.Request) (string, error) {
	return func(r *http.Request) (string, error) {
		if v := r.Header.Values(name); len(v) == 1 {
			return v[0], nil
		}
		return "", errors.New("want one header " + name)
	}
}

// server is what the routes share.
type server struct {
	Options
	busy   chan struct{} // a token for each request
	limits []limit
}

// limit is what a user may spend on one kind of input a day.
type limit struct {
	kind  string
	total mechanism.Guarantee
}

// New returns the handler. It takes some tenths of a second, for the mechanism of words.
func New(ctx context.Context, o Options) (http.Handler, error) {
	if o.Store == nil || o.User == nil {
		return nil, errors.New("service: no Store or no User")
	}
	if o.Places < 0 || o.Words < 0 || o.Requests < 0 {
		return nil, errors.New("service: a negative number of Places, Words or Requests")
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	place, err := additive.NewSphere(cmp.Or(o.PlaceAlpha, 4), nil)
	if err != nil {
		return nil, fmt.Errorf("service: PlaceAlpha: %w", err)
	}
	cells, err := additive.NewCells(metric.GreatCircle{}, cmp.Or(o.PlaceCell, 0.05))
	if err != nil {
		return nil, fmt.Errorf("service: PlaceCell: %w", err)
	}
	list, err := words.Read(ctx, bytes.NewReader(vocabulary), nil)
	if err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	channel, err := exponential.Tuned(ctx, list.Points(), cmp.Or(o.WordAlpha, 1), nil)
	if err != nil {
		return nil, fmt.Errorf("service: WordAlpha: %w", err)
	}
	word, err := mechanism.Labels(channel, list.Words(), list.Words())
	if err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}

	s := &server{Options: o, busy: make(chan struct{}, cmp.Or(o.Requests, 128))}
	mux := http.NewServeMux()
	route := func(method, path string, f func(r *http.Request) (any, error)) {
		mux.Handle(method+" "+path, s.answer(f))
		mux.Handle(path, s.answer(func(*http.Request) (any, error) {
			return nil, &failure{status: http.StatusMethodNotAllowed, text: "want " + method, allow: method}
		}))
	}
	route("POST", "/v1/place", release(s, "place", cmp.Or(o.Places, 20), place, cells.Key, decodePlace, encodePlace))
	route("POST", "/v1/word", release(s, "word", cmp.Or(o.Words, 50), word, nil, decodeWord(list), encodeWord))
	route("GET", "/v1/budget", s.budgets)
	route("GET", "/healthz", s.health)
	mux.Handle("/", s.answer(func(*http.Request) (any, error) {
		return nil, &failure{status: http.StatusNotFound, text: "no such path"}
	}))
	return mux, nil
}

// failure is an error with the status to answer.
type failure struct {
	status     int
	text       string // for the client: nothing of the request
	allow      string
	retryAfter time.Duration
	more       any   // beside the error
	cause      error // for the log: nothing of the request
}

func (f *failure) Error() string { return f.text }

// answer makes a handler of a function that returns what is to be answered as JSON.
func (s *server) answer(f func(r *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		reply, err := s.limited(f, w, r)
		status := http.StatusOK
		var cause error
		if err != nil {
			fail := new(failure)
			if !errors.As(err, &fail) {
				fail = &failure{status: http.StatusServiceUnavailable, text: "the store failed: try again", retryAfter: time.Second, cause: err}
			}
			status, cause = fail.status, fail.cause
			if fail.allow != "" {
				w.Header().Set("Allow", fail.allow)
			}
			if fail.retryAfter > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(fail.retryAfter.Seconds()))))
			}
			reply = struct {
				Error  string `json:"error"`
				Budget any    `json:"budget,omitempty"`
			}{fail.text, fail.more}
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(reply) // the client may be gone

		level, line := slog.LevelInfo, []slog.Attr{slog.String("route", r.Pattern), slog.Int("status", status)}
		if cause != nil {
			level, line = slog.LevelError, append(line, slog.String("error", cause.Error()))
		}
		s.Log.LogAttrs(context.WithoutCancel(r.Context()), level, "request", append(line, slog.Duration("took", time.Since(start)))...)
	})
}

// limited calls f where there is room for a request, and makes an error of a panic, without
// its value and without arguments of functions, which may be private.
func (s *server) limited(f func(r *http.Request) (any, error), w http.ResponseWriter, r *http.Request) (reply any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &failure{status: http.StatusInternalServerError, text: "an error of the service", cause: fmt.Errorf("a panic with a %T at %s", v, callers())}
		}
	}()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1)) // first: who sends it slowly takes no room meanwhile
	if err != nil {
		return nil, &failure{status: http.StatusBadRequest, text: "the body did not come"}
	}
	r.Body = http.MaxBytesReader(w, io.NopCloser(bytes.NewReader(body)), maxBody)
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	default:
		return nil, &failure{status: http.StatusServiceUnavailable, text: "too many requests at once", retryAfter: time.Second}
	}
	return f(r)
}

// callers are the functions below a panic.
func callers() string {
	pc := make([]uintptr, 16)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	var b strings.Builder
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Fprintf(&b, "%s:%d ", f.Function, f.Line)
	}
	return b.String()
}

// release is the route that answers inputs of one kind by the mechanism m, n new ones a
// day. decode checks that an input is in m's domain.
func release[X, Y any](s *server, kind string, n int, m mechanism.Mechanism[X, Y], key func(X) string,
	decode func(*json.Decoder) (X, error), encode func(Y) any) func(*http.Request) (any, error) {
	l := limit{kind, m.Guarantee().Times(n)}
	s.limits = append(s.limits, l)
	return func(r *http.Request) (any, error) {
		user, err := s.user(r)
		if err != nil {
			return nil, err
		}
		x, err := read(r, decode)
		if err != nil {
			return nil, err
		}
		now := s.Now().UTC()
		b, err := s.budget(l, user, now)
		if err != nil {
			return nil, err
		}
		sticky, err := mechanism.NewSticky(m, &mechanism.StickyOptions[X]{Store: s.Store, Name: kind + " " + user, Key: key, Budget: b})
		if err != nil {
			return nil, err
		}
		y, err := sticky.Release(nil, x)
		switch {
		case errors.Is(err, mechanism.ErrBudget):
			account, err := account(b, l, now)
			if err != nil {
				return nil, err
			}
			tomorrow := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
			return nil, &failure{status: http.StatusTooManyRequests, text: "the budget of the day is spent: what was asked before is still answered", retryAfter: tomorrow.Sub(now), more: account}
		case errors.Is(err, mechanism.ErrRefused):
			return nil, &failure{status: http.StatusConflict, text: "this input has no answer: its draw was lost or is slow, and it gets no other"}
		case err != nil:
			return nil, err
		}
		account, err := account(b, l, now)
		if err != nil {
			return nil, err
		}
		return map[string]any{"answer": encode(y), "budget": account}, nil
	}
}

// user is whose request it is.
func (s *server) user(r *http.Request) (string, error) {
	user, err := s.User(r)
	if err != nil || user == "" || len(user) > maxUser || !utf8.ValidString(user) {
		return "", &failure{status: http.StatusUnauthorized, text: "who is the user?"}
	}
	return user, nil
}

// read decodes the body of a request, which is one JSON value.
func read[X any](r *http.Request, decode func(*json.Decoder) (X, error)) (x X, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return x, &failure{status: http.StatusUnsupportedMediaType, text: "want Content-Type: application/json"}
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if x, err = decode(d); err == nil {
		if _, err = d.Token(); err == io.EOF {
			return x, nil
		}
		err = errors.Join(err, errors.New("more than one value"))
	}
	if fail := new(failure); errors.As(err, &fail) {
		return x, err
	}
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return x, &failure{status: http.StatusRequestEntityTooLarge, text: fmt.Sprintf("want at most %d bytes", maxBody)}
	}
	return x, &failure{status: http.StatusBadRequest, text: "want a JSON object: of a place lat and lon, of a word word, and nothing else"}
}

type place struct {
	Lat *float64 `json:"lat"`
	Lon *float64 `json:"lon"`
}

func decodePlace(d *json.Decoder) (metric.LatLon, error) {
	var p place
	if err := d.Decode(&p); err != nil {
		return metric.LatLon{}, err
	}
	if p.Lat == nil || p.Lon == nil || math.Abs(*p.Lat) > 90 || math.Abs(*p.Lon) > 180 {
		return metric.LatLon{}, &failure{status: http.StatusUnprocessableEntity, text: "want lat in [-90, 90] and lon in [-180, 180], in degrees"}
	}
	return metric.LatLon{Lat: *p.Lat, Lon: *p.Lon}, nil
}

func encodePlace(p metric.LatLon) any { return place{&p.Lat, &p.Lon} }

type word struct {
	Word string `json:"word"`
}

func decodeWord(list *words.Vocabulary) func(*json.Decoder) (string, error) {
	return func(d *json.Decoder) (string, error) {
		var w word
		if err := d.Decode(&w); err != nil {
			return "", err
		}
		if _, ok := list.Index(w.Word); !ok {
			return "", &failure{status: http.StatusUnprocessableEntity, text: "not one of the words of the vocabulary, which are nouns in small letters"}
		}
		return w.Word, nil
	}
}

func encodeWord(w string) any { return word{w} }

// budget is that of a user for a day. Its name is another for any other user, kind or day.
func (s *server) budget(l limit, user string, now time.Time) (*mechanism.Budget, error) {
	return mechanism.NewBudget(l.total, &mechanism.BudgetOptions{
		Store: s.Store,
		Name:  l.kind + " " + now.Format(time.DateOnly) + " " + user,
	})
}

// Account is what a day's budget was spent on.
type Account struct {
	Day   string  `json:"day"` // UTC
	Unit  string  `json:"unit"`
	Spent float64 `json:"spent"` // the level of all new inputs of the day together, per unit
	Left  float64 `json:"left"`  // that may still be spent, to the last digit or so
}

// account reads the store once, so that both numbers are of one moment.
func account(b *mechanism.Budget, l limit, now time.Time) (Account, error) {
	spent, err := b.Spent()
	return Account{
		Day:   now.Format(time.DateOnly),
		Unit:  cmp.Or(string(l.total.Unit()), "unit"),
		Spent: spent.Alpha(),
		Left:  max(0, l.total.Alpha()-spent.Alpha()),
	}, err
}

// budgets is the route that shows what a user has spent and has left today.
func (s *server) budgets(r *http.Request) (any, error) {
	user, err := s.user(r)
	if err != nil {
		return nil, err
	}
	now, all := s.Now().UTC(), map[string]Account{}
	for _, l := range s.limits {
		b, err := s.budget(l, user, now)
		if err != nil {
			return nil, err
		}
		if all[l.kind], err = account(b, l, now); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// health is the route of the load balancer.
func (s *server) health(r *http.Request) (any, error) {
	if p, ok := s.Store.(interface{ Ping(context.Context) error }); ok {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if err := p.Ping(ctx); err != nil {
			return nil, err
		}
	}
	return map[string]string{"status": "ok"}, nil
}
