package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// records is a store in memory.
type records map[string][]byte

func (r records) Load(key string) ([]byte, bool, error) {
	b, ok := r[key]
	return b, ok, nil
}

func (r records) Swap(key string, old, new []byte) (bool, error) {
	if value, ok := r[key]; ok != (old != nil) || !bytes.Equal(value, old) {
		return false, nil
	}
	r[key] = new
	return true, nil
}

func (r records) Clear() error {
	clear(r)
	return nil
}

// call asks a question and reads the answer, or returns the error.
func call[A any](t *testing.T, e *Engine, what, args string) (answer A, err error) {
	t.Helper()
	b, err := e.Call(context.Background(), what, []byte(args))
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		t.Fatalf("%s: %v in %s", what, err, b)
	}
	return answer, nil
}

func TestNoise_GrantsTheWish(t *testing.T) {
	for _, w := range []Wish{{10, 2}, {0.1, 1000}, {20000, 1.01}, {3, math.E}, {7.3, 1.7}} {
		n := testkit.Must(w.noise())
		if f := math.Exp(n.Alpha * w.Km); f > w.Odds*(1+1e-14) || f < w.Odds*(1-1e-12) {
			t.Errorf("%v: odds change by %v", w, f)
		}
		// 1.678/alpha and 4.744/alpha in the plane, less on the sphere.
		if w.Km < 20 && (math.Abs(n.R50*n.Alpha-1.678347) > 1e-3 || math.Abs(n.R95*n.Alpha-4.743865) > 1e-2) {
			t.Errorf("%v: half within %v km, 95 %% within %v", w, n.R50, n.R95)
		}
		if step := math.Pow10(-n.Decimals) * 111; step > n.R50/50 && n.Decimals < 5 {
			t.Errorf("%v: steps of %v km, half within %v", w, step, n.R50)
		}
	}
}

// TestFresh_Law draws 1,000 answers with secure randomness: the share within R95
// leaves (0.9, 0.99) with probability below 1e-9.
func TestFresh_Law(t *testing.T) {
	e := New(records{})
	for _, args := range []string{
		`{"Km":10,"Odds":2,"Place":{"Lat":50.8,"Lon":4.3},"Times":1000}`,
		`{"Km":500,"Odds":3,"Place":{"Lat":-89,"Lon":180},"Times":1000}`,
	} {
		f := testkit.Must(call[Fresh](t, e, "fresh", args))
		var q freshQuestion
		testkit.Check(t, json.Unmarshal([]byte(args), &q))
		n := testkit.Must(q.noise())
		within := 0
		for k, y := range f.Answers {
			if d := (metric.GreatCircle{}).Distance(q.Place, y); d != f.Moved[k] {
				t.Fatalf("%v is %v km away, not %v", y, d, f.Moved[k])
			}
			if f.Moved[k] <= n.R95 {
				within++
			}
			if grid := y.Lat * math.Pow10(n.Decimals); math.Abs(grid-math.Round(grid)) > 1e-6 {
				t.Fatalf("%v has more than %d decimals", y, n.Decimals)
			}
		}
		if len(f.Answers) != 1000 || within < 900 || within > 990 {
			t.Errorf("%s: %d of %d within %v km", args, within, len(f.Answers), n.R95)
		}
	}
}

func TestSticky_OneAnswerForEachPlace(t *testing.T) {
	store := records{}
	ask := func(args string) Sticky { return testkit.Must(call[Sticky](t, New(store), "sticky", args)) } // a new page each time
	here, there := `{"Km":10,"Odds":2,"Place":{"Lat":50.8,"Lon":4.3}}`, `{"Km":10,"Odds":2,"Place":{"Lat":50.8,"Lon":4.4}}`
	first := ask(here)
	if again := ask(here); again != first || !strings.HasPrefix(first.Spent, "0.0693148-private per km") {
		t.Errorf("%v, then %v", first, again)
	}
	other := ask(there)
	if again := ask(here); again.Answer != first.Answer || again.Spent != other.Spent || !strings.HasPrefix(other.Spent, "0.13863-private") {
		t.Errorf("%v, %v elsewhere, and back again %v", first, other, again)
	}
	if other.Answer == first.Answer {
		t.Errorf("two places share %v", other)
	}
	if finer := ask(`{"Km":10,"Odds":3,"Place":{"Lat":50.8,"Lon":4.3}}`); finer.Answer == first.Answer {
		t.Errorf("two levels share %v", finer)
	}
	testkit.Must(call[any](t, New(store), "forget", ""))
	if again := ask(here); again.Answer == first.Answer || again.Spent != first.Spent {
		t.Errorf("%v was not forgotten: %v", first, again)
	}
}

// A trail says at every report what it costs: the level of the whole stays, that of all reports
// grows, and another trail begins anew.
func TestReport_LevelsAdd(t *testing.T) {
	e := New(records{})
	first := testkit.Must(call[Report](t, e, "report", `{"Km":10,"Odds":2,"Place":{"Lat":50.8,"Lon":4.3},"Center":{"Lat":50,"Lon":0}}`))
	if first.N != 1 || !strings.HasPrefix(first.Whole, "0.0693148-private per km") || first.Any != first.Anew {
		t.Errorf("%+v", first)
	}
	last := first
	for n := 2; n <= maxReports; n++ {
		r := testkit.Must(call[Report](t, e, "report", `{"Km":10,"Odds":2,"Place":{"Lat":50.8,"Lon":4.4}}`))
		if r.N != n || r.Whole != first.Whole || r.Any < last.Any || !(r.RMS > 30 && r.RMS < 300) || r.Answer == last.Answer || math.Abs(r.Anew/first.Anew-float64(n)) > 1e-9 {
			t.Fatalf("%+v, then %+v", last, r)
		}
		last = r
	}
	if again := testkit.Must(call[Report](t, e, "report", `{"Km":10,"Odds":2,"Place":{"Lat":50.8,"Lon":4.3},"Center":{"Lat":50,"Lon":0}}`)); again.N != 1 {
		t.Errorf("%+v", again)
	}
}

const towns = `[{"Lat":50.85,"Lon":4.35},{"Lat":51.22,"Lon":4.40},{"Lat":51.05,"Lon":3.72},{"Lat":50.41,"Lon":4.44},{"Lat":50.63,"Lon":5.57}]`

func TestCompare_KeepsTheLevel(t *testing.T) {
	for _, km := range []string{"1", "10", "300"} {
		args := `{"Km":` + km + `,"Odds":2,"At":1,"Places":` + towns + `}`
		rows := testkit.Must(call[[]Row](t, New(records{}), "compare", args))
		var w Wish
		testkit.Check(t, json.Unmarshal([]byte(args), &w))
		alpha := testkit.Must(w.alpha())
		if len(rows) != 4 {
			t.Fatalf("%d rows", len(rows))
		}
		for _, r := range rows {
			sum := 0.0
			for _, p := range r.Probs {
				sum += p
			}
			if len(r.Probs) != 5 || math.Abs(sum-1) > 1e-12 || r.Level > alpha || r.Mean > r.Worst || r.Mean < rows[0].Mean*(1-1e-12) {
				t.Errorf("within %s km at %v per km: %+v", km, alpha, r)
			}
		}
	}
}

func TestCompare_SaysWhyThereIsNone(t *testing.T) {
	// A millimeter apart: too close for some.
	rows := testkit.Must(call[[]Row](t, New(records{}), "compare", `{"Km":1000,"Odds":1.01,"Places":[{"Lat":1,"Lon":1},{"Lat":1,"Lon":1.00000001},{"Lat":5,"Lon":5}]}`))
	for _, r := range rows {
		if (r.Probs == nil) != (r.Remark != "") {
			t.Errorf("%+v", r)
		}
	}
}

func TestCall_Errors(t *testing.T) {
	place := `"Place":{"Lat":1,"Lon":2}`
	for _, c := range []struct{ what, args, want string }{
		{"color", `{}`, "no question \"color\""},
		{"noise", `{"Km":1,"Odds":2,"Eps":3}`, "unknown field"},
		{"noise", `{"Km":0,"Odds":2}`, "distance 0 km: want 0.1 to 20000"},
		{"noise", `{"Km":1,"Odds":1}`, "factor 1: want 1.01 to 1000"},
		{"noise", `{"Km":1,"Odds":1e400}`, "Odds"},
		{"fresh", `{"Km":1,"Odds":2,"Times":0,` + place + `}`, "0 times: want 1 to 1000"},
		{"fresh", `{"Km":1,"Odds":2,"Times":1,"Place":{"Lat":91,"Lon":2}}`, "degrees in [-90, 90]"},
		{"sticky", `{"Km":1,"Odds":2,"Place":{"Lat":-91,"Lon":2}}`, "degrees in [-90, 90]"},
		{"report", `{"Km":1,"Odds":2,` + place + `}`, "no trail is under way"},
		{"report", `{"Km":1,"Odds":2,"Center":{"Lat":0,"Lon":99},` + place + `}`, "at most 60 degrees"},
		{"compare", `{"Km":1,"Odds":2,"Places":[{"Lat":1,"Lon":2}]}`, "1 places: want 2 to 60"},
		{"compare", `{"Km":1,"Odds":2,"At":5,"Places":` + towns + `}`, "place 5 of 5"},
		{"compare", `{"Km":1,"Odds":2,"Places":[{"Lat":1,"Lon":2},{"Lat":100,"Lon":2}]}`, "100"},
	} {
		if _, err := call[any](t, New(records{}), c.what, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.what, c.args, err, c.want)
		}
	}
}
