package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/metricdp/metricdp/examples/service"
	"github.com/metricdp/metricdp/examples/service/internal/pgtest"
	"github.com/metricdp/metricdp/examples/service/sqlstore"
	"github.com/metricdp/metricdp/internal/testkit"
)

// world is a handler on a database, its clock and its log.
type world struct {
	http.Handler
	now time.Time
	log bytes.Buffer
}

// within returns a handler on a store, SQLite where there is none.
func within(tb testing.TB, o service.Options) *world {
	tb.Helper()
	if o.Store == nil {
		o.Store = sqlite(tb)
	}
	w := &world{now: time.Date(2026, 11, 26, 23, 59, 30, 0, time.UTC)}
	o.Log = slog.New(slog.NewTextHandler(&w.log, nil))
	o.Now = func() time.Time { return w.now.In(time.FixedZone("", 3600)) } // the day is UTC's
	if o.User == nil {
		o.User = service.Header("X-User")
	}
	h := testkit.Must(service.New(context.Background(), o))
	w.Handler = h
	return w
}

func sqlite(tb testing.TB) *sqlstore.Store {
	tb.Helper()
	s := testkit.Must(sqlstore.SQLite(context.Background(), filepath.Join(tb.TempDir(), "data")))
	tb.Cleanup(func() { s.Close() })
	return s
}

// reply is any answer of the service.
type reply struct {
	status int
	header http.Header
	text   string // of the body

	Answer struct {
		Lat, Lon float64
		Word     string
	}
	Budget service.Account
	Error  string
}

func (w *world) ask(tb testing.TB, user, method, path, body string) reply {
	tb.Helper()
	return w.send(tb, strings.NewReader(body), method, path, "application/json; charset=utf-8", user)
}

// send makes a request of a type by some users.
func (w *world) send(tb testing.TB, body io.Reader, method, path, kind string, users ...string) reply {
	tb.Helper()
	req := httptest.NewRequest(method, path, body)
	req.Header.Set("Content-Type", kind)
	req.Header["X-User"] = users
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, req)
	r := reply{status: rec.Code, header: rec.Header(), text: rec.Body.String()}
	if err := json.Unmarshal(rec.Body.Bytes(), &r); err != nil || rec.Header().Get("Content-Type") != "application/json" {
		tb.Errorf("%s %s: %d is no JSON: %q", method, path, rec.Code, rec.Body)
	}
	return r
}

func place(lat, lon float64) string { return fmt.Sprintf(`{"lat": %v, "lon": %v}`, lat, lon) }

// The same input has one answer for ever, near it for a place; new ones cost their level, up
// to the limit of the day, and the next day has its own. Users do not meet.
func TestService_StickyWithinTheDay(t *testing.T) {
	w := within(t, service.Options{Places: 2, Words: 1, PlaceAlpha: 4})
	vienna, graz, linz := place(48.2086, 16.3727), place(47.0707, 15.4395), place(48.3064, 14.2861)
	first := w.ask(t, "ann", "POST", "/v1/place", vienna)
	if first.status != 200 || first.Budget != (service.Account{Day: "2026-11-26", Unit: "km", Spent: 4, Left: 4}) {
		t.Fatalf("%+v", first)
	}
	// A radius of 5 km is exceeded with probability 21 e^-20 = 4e-8.
	if dLat, dLon := first.Answer.Lat-48.2086, first.Answer.Lon-16.3727; dLat*dLat+dLon*dLon > .07*.07 || dLat == 0 && dLon == 0 {
		t.Errorf("Vienna is at %+v", first.Answer)
	}
	for range 3 {
		if again := w.ask(t, "ann", "POST", "/v1/place", vienna); again.text != first.text {
			t.Errorf("%q, and before %q", again.text, first.text)
		}
	}
	if near := w.ask(t, "ann", "POST", "/v1/place", place(48.20861, 16.37271)); near.Answer != first.Answer || near.Budget.Left != 4 {
		t.Errorf("another place of the cell: %+v", near)
	}
	if r := w.ask(t, "ann", "POST", "/v1/place", graz); r.status != 200 || r.Budget.Left != 0 || r.Budget.Spent != 8 {
		t.Errorf("the last place of the day: %+v", r)
	}
	r := w.ask(t, "ann", "POST", "/v1/place", linz)
	if r.status != 429 || r.header.Get("Retry-After") != "30" || r.Budget.Spent != 8 || strings.Contains(r.text, "answer\"") {
		t.Errorf("a place too many: %+v", r)
	}
	if again := w.ask(t, "ann", "POST", "/v1/place", vienna); again.status != 200 || again.Answer != first.Answer {
		t.Errorf("a spent budget takes back an answer: %+v", again)
	}
	if r := w.ask(t, "bob", "POST", "/v1/place", vienna); r.status != 200 || r.Answer == first.Answer || r.Budget.Spent != 4 {
		t.Errorf("another user: %+v", r)
	}
	if r := w.ask(t, "ann", "GET", "/v1/budget", ""); !strings.HasPrefix(r.text, `{"place":{"day":"2026-11-26","unit":"km","spent":8,"left":0},"word":{"day":"2026-11-26","unit":"unit","spent":0,"left":0.99`) {
		t.Errorf("%s", r.text)
	}
	w.now = w.now.Add(time.Minute)
	if again := w.ask(t, "ann", "POST", "/v1/place", vienna); again.Answer != first.Answer || again.Budget != (service.Account{Day: "2026-11-27", Unit: "km", Left: 8}) {
		t.Errorf("the next day: %+v", again)
	}
	if r := w.ask(t, "ann", "POST", "/v1/place", linz); r.status != 200 || r.Budget.Left != 4 {
		t.Errorf("the next day: %+v", r)
	}
	river := w.ask(t, "ann", "POST", "/v1/word", `{"word": "river"}`)
	if river.status != 200 || river.Answer.Word == "" || river.Budget.Left != 0 || river.Budget.Spent == 0 {
		t.Errorf("%+v", river)
	}
	if r := w.ask(t, "ann", "POST", "/v1/word", `{"word": "lake"}`); r.status != 429 {
		t.Errorf("%+v", r)
	}
	if r := w.ask(t, "ann", "POST", "/v1/word", `{"word": "river"}`); r.Answer != river.Answer {
		t.Errorf("%+v", r)
	}
}

// What is no request costs nothing, and says why in JSON with the right status.
func TestService_Errors(t *testing.T) {
	w := within(t, service.Options{})
	for _, c := range []struct {
		user, method, path, body string
		status                   int
	}{
		{"ann", "POST", "/v1/place", "", 400},
		{"ann", "POST", "/v1/place", `{"lat": 1, "lon": 2`, 400},
		{"ann", "POST", "/v1/place", `{"lat": 1, "lon": 2} {}`, 400},
		{"ann", "POST", "/v1/place", `{"lat": 1, "lon": 2, "alt": 3}`, 400},
		{"ann", "POST", "/v1/place", `{"lat": "1", "lon": 2}`, 400},
		{"ann", "POST", "/v1/place", `{"lat": 1e999, "lon": 2}`, 400},
		{"ann", "POST", "/v1/place", `{"lat": 1}`, 422},
		{"ann", "POST", "/v1/place", `null`, 422},
		{"ann", "POST", "/v1/place", place(90.1, 0), 422},
		{"ann", "POST", "/v1/place", place(0, -180.1), 422},
		{"ann", "POST", "/v1/word", `{"word": "zyzzyva"}`, 422},
		{"ann", "POST", "/v1/word", `{}`, 422},
		{"ann", "POST", "/v1/word", `{"word": "` + strings.Repeat("a", 2000) + `"}`, 413},
		{"ann", "POST", "/v1/word", `{"word": "river"}` + strings.Repeat(" ", 2000), 413},
		{"ann", "GET", "/v1/place", "", 405},
		{"ann", "POST", "/v1/budget", "", 405},
		{"ann", "POST", "/v1/nothing", "", 404},
		{"", "POST", "/v1/place", place(1, 2), 401},
		{strings.Repeat("a", 129), "POST", "/v1/place", place(1, 2), 401},
		{"\xff", "GET", "/v1/budget", "", 401},
		{"ann", "GET", "/healthz", "", 200},
	} {
		if r := w.ask(t, c.user, c.method, c.path, c.body); r.status != c.status || r.Error == "" && c.status != 200 || c.status == 405 && r.header.Get("Allow") == "" {
			t.Errorf("%s %s %.40s: %d %s, want %d", c.method, c.path, c.body, r.status, r.text, c.status)
		}
	}
	for _, c := range []struct {
		kind   string
		users  []string
		status int
	}{
		{"text/plain", []string{"ann"}, 415}, // what a browser sends from other sites unasked
		{"application/json", nil, 401},
		{"application/json", []string{"ann", "bob"}, 401},
	} {
		if r := w.send(t, strings.NewReader(place(1, 2)), "POST", "/v1/place", c.kind, c.users...); r.status != c.status {
			t.Errorf("%v: %d", c, r.status)
		}
	}
	if r := w.ask(t, "ann", "GET", "/v1/budget", ""); strings.Count(r.text, `"spent":0,`) != 2 {
		t.Errorf("errors cost: %s", r.text)
	}
	s, u := broken{}, service.Header("X")
	for _, o := range []service.Options{{}, {Store: s}, {User: u}, {Store: s, User: u, Places: -1}, {Store: s, User: u, PlaceAlpha: -1},
		{Store: s, User: u, PlaceCell: -1}, {Store: s, User: u, WordAlpha: -1}} {
		if _, err := service.New(context.Background(), o); err == nil {
			t.Errorf("%+v makes a service", o)
		}
	}
}

// broken is a store that fails, or does what it is told.
type broken struct{ load func() }

var errDisk = errors.New("the disk is gone")

func (b broken) Load(string) ([]byte, bool, error) {
	if b.load != nil {
		b.load()
	}
	return nil, false, errDisk
}
func (b broken) Swap(string, []byte, []byte) (bool, error) { return false, errDisk }
func (b broken) Ping(context.Context) error                { return errDisk }

// Where the store fails nothing is answered, and the load balancer hears of it.
func TestService_BrokenStore(t *testing.T) {
	w := within(t, service.Options{Store: broken{}})
	for _, r := range []reply{
		w.ask(t, "ann", "POST", "/v1/place", place(1, 2)),
		w.ask(t, "ann", "GET", "/v1/budget", ""),
		w.ask(t, "ann", "GET", "/healthz", ""),
	} {
		if r.status != 503 || strings.Contains(r.text, "disk") || r.header.Get("Retry-After") == "" {
			t.Errorf("%+v", r)
		}
	}
	if n := strings.Count(w.log.String(), errDisk.Error()); n != 3 {
		t.Errorf("%d of 3 errors in the log:\n%s", n, &w.log)
	}
}

// No more requests than allowed run at once, and a panic is one request's.
func TestService_Limits(t *testing.T) {
	in, out := make(chan bool), make(chan bool)
	w := within(t, service.Options{Requests: 1, Store: broken{load: func() { in <- true; <-out; panic("at 48.2086, 16.3727") }}})
	done := make(chan reply)
	go func() { done <- w.ask(t, "ann", "POST", "/v1/place", place(48.2086, 16.3727)) }()
	<-in
	if r := w.ask(t, "bob", "GET", "/healthz", ""); r.status != 503 || !strings.Contains(r.Error, "too many") {
		t.Errorf("%+v", r)
	}
	close(out)
	if r := <-done; r.status != 500 {
		t.Errorf("%+v", r)
	}
	if log := w.log.String(); !strings.Contains(log, "a panic with a string") || !strings.Contains(log, "service_test.broken.Load") || strings.Contains(log, "48.208") {
		t.Error(log)
	}
	if r := w.ask(t, "bob", "GET", "/healthz", ""); !strings.Contains(r.text, "the store failed") {
		t.Errorf("the place of a panic is not free: %+v", r)
	}
}

// A body that comes slowly, or never, takes no room from other requests.
func TestService_SlowBodies(t *testing.T) {
	w := within(t, service.Options{Requests: 1})
	body, in := io.Pipe()
	done := make(chan int)
	go func() { done <- w.send(t, body, "POST", "/v1/place", "application/json", "ann").status }()
	io.WriteString(in, `{"lat": 48.2086,`)
	if r := w.ask(t, "bob", "GET", "/healthz", ""); r.status != 200 {
		t.Errorf("meanwhile: %+v", r)
	}
	in.CloseWithError(os.ErrDeadlineExceeded)
	if status := <-done; status != 400 {
		t.Errorf("a body that ends early: %d", status)
	}
}

// Nothing of an input, an answer or a user is in the log, whatever the status is.
func TestService_LogsNothingPrivate(t *testing.T) {
	w := within(t, service.Options{Places: 1, Words: 1, PlaceAlpha: 4})
	secrets := []string{"ann", "48.2", "16.3", "47.0", "15.4", "91.7", "river", "sister", "zyzzyva", "192.0.2.1", "secret"}
	seen := map[int]bool{}
	for _, c := range []struct{ path, body string }{
		{"/v1/place", place(48.2086, 16.3727)},
		{"/v1/place", place(48.2086, 16.3727)},
		{"/v1/place?secret=48.2", place(47.0707, 15.4395)},
		{"/v1/place", place(91.7, 0)},
		{"/v1/place", `{"lat": 48.2086, "river": 1}`},
		{"/v1/word", `{"word": "river"}`},
		{"/v1/word", `{"word": "sister"}`},
		{"/v1/word", `{"word": "zyzzyva"}`},
		{"/secret/48.2", ""},
	} {
		r := w.ask(t, "ann", "POST", c.path, c.body)
		seen[r.status] = true
		if r.status == 200 {
			if word := r.Answer.Word; word != "" {
				secrets = append(secrets, word)
			} else {
				secrets = append(secrets, fmt.Sprint(r.Answer.Lat)[:5], fmt.Sprint(r.Answer.Lon)[:5])
			}
		}
	}
	log := w.log.String()
	if len(seen) != 5 || strings.Count(log, "\n") != 9 {
		t.Errorf("%v\n%s", seen, log)
	}
	for _, line := range strings.Split(log, "\n") {
		_, line, _ = strings.Cut(line, " ") // without the time
		for _, s := range secrets {
			if head, _, _ := strings.Cut(line, "took="); strings.Contains(head, s) {
				t.Errorf("%q in %s", s, line)
			}
		}
	}
}

// The service is a handler among others. In earnest User asks what authenticates.
func ExampleNew() {
	dir, _ := os.MkdirTemp("", "service")
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := sqlstore.SQLite(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	handler, err := service.New(ctx, service.Options{Store: store, Log: slog.New(slog.DiscardHandler), User: func(r *http.Request) (string, error) {
		return "ann", nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/private/", http.StripPrefix("/private", handler))

	r := httptest.NewRecorder()
	mux.ServeHTTP(r, httptest.NewRequest("GET", "/private/v1/place", nil))
	fmt.Println(r.Code, r.Body)
	// Output: 405 {"error":"want POST"}
}

// Releases by 16 clients at once for 1,000 users: new places, and places that come again.
// ns/op is of all clients together.
func BenchmarkService(b *testing.B) {
	run := func(b *testing.B, store *sqlstore.Store) {
		b.Cleanup(func() { store.Close() })
		h := within(b, service.Options{Store: store, Places: 1 << 30})
		var n atomic.Int64
		ask := func(b *testing.B, i, places int64) {
			lat, lon := float64(i/1000%places%1000)/10, float64(i/1000%places/1000)/10
			if r := h.ask(b, fmt.Sprint("user ", i%1000), "POST", "/v1/place", place(lat-50, lon)); r.status != 200 {
				b.Fatalf("%+v", r)
			}
		}
		for _, c := range []struct {
			name   string
			places int64
		}{{"new", 1 << 40}, {"again", 1}} {
			b.Run(c.name, func(b *testing.B) {
				if c.places == 1 {
					for i := range int64(1000) {
						ask(b, i, 1)
					}
				}
				b.SetParallelism(8)
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						ask(b, n.Add(1), c.places)
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
			})
		}
	}
	b.Run("sqlite", func(b *testing.B) { run(b, sqlite(b)) })
	b.Run("postgres", func(b *testing.B) {
		store := testkit.Must(sqlstore.Postgres(context.Background(), pgtest.Start(b).Source))
		run(b, store)
	})
}
