package table

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

// sample is a table.
type sample struct {
	name    string
	columns []domain.Column
	rows    [][]float64
}

// samples are tables of known structure, and those that ship.
func samples(tb testing.TB) []*sample {
	return []*sample{census(48_842), shuffled(20_000), chain(2_500), mixed(16_621), mixed(50_000),
		read(tb, "testdata/weather.csv", testkit.Must(ParseSchema("location:category:Seattle|New York,month:whole:1..12,precipitation:number:0..120,temp_max:number:-20..45,temp_min:number:-20..45,wind:number:0..20,weather:category:sun|fog|drizzle|rain|snow"))),
		read(tb, "../../../examples/synthetic/towns.csv", testkit.Must(ReadSchema(strings.NewReader(string(testkit.Must(os.ReadFile("../../../examples/synthetic/towns.json")))))))}
}

func wholes(k int) []domain.Column {
	return slices.Repeat([]domain.Column{{Hi: parts - 1, Whole: true, Share: 1}}, k)
}

// inParts is the part of [-3.5, 3.5] in which a number is, of so many.
func inParts(z float64, n int) float64 {
	return max(0, min(float64(n-1), math.Floor((z+3.5)/7*float64(n))))
}

// chain is ten numbers, each a noisy copy of one before.
func chain(n int) *sample {
	rng, t := random.Seeded(1), &sample{name: "chain", columns: wholes(10)}
	for range n {
		z, x := make([]float64, 10), make([]float64, 10)
		for a := range z {
			if z[a] = rng.NormFloat64(); a > 0 {
				z[a] = .8*z[a/2] + .6*z[a]
			}
			x[a] = inParts(z[a], parts)
		}
		t.rows = append(t.rows, x)
	}
	return t
}

// shuffled is four numbers and four categories, all independent.
func shuffled(n int) *sample {
	rng, t := random.Seeded(6), &sample{name: "independent", columns: wholes(4)}
	for _, m := range []int{2, 6, 10, 14} {
		t.columns = append(t.columns, domain.Column{Categories: m, Share: 1})
	}
	for range n {
		x := make([]float64, 8)
		for a := range x {
			if x[a] = inParts(rng.NormFloat64()*(.3+.3*float64(a)), parts); a >= 4 {
				x[a] = math.Floor(float64(t.columns[a].Categories) * math.Pow(rng.Float64(), 2))
			}
		}
		t.rows = append(t.rows, x)
	}
	return t
}

// mixed is two numbers of correlation .983, 14 and 5 categories that depend on them and on
// one another, and a skewed number that depends on all.
func mixed(n int) *sample {
	rng, t := random.Seeded(2), &sample{name: fmt.Sprintf("mixed%d", n), columns: wholes(5)}
	t.columns[2], t.columns[3] = domain.Column{Categories: 14, Share: 1}, domain.Column{Categories: 5, Share: 1}
	for range n {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		x, y := clip(u/8+.5), clip((.983*u+.1836*v)/8+.5)
		many := math.Floor(14 * math.Pow(clip(x+.1*rng.NormFloat64()), 1.5))
		if rng.Float64() < .2 {
			many = math.Floor(14 * math.Pow(rng.Float64(), 3))
		}
		few := 0.0
		for few < 4 && rng.Float64() < .3+.25*y*float64(int(many)%3) {
			few++
		}
		skewed := clip(math.Exp(-3+.8*rng.NormFloat64()+.3*few) * (.5 + y))
		t.rows = append(t.rows, []float64{math.Floor(parts * x), math.Floor(parts * y), many, few, math.Floor(parts * skewed)})
	}
	return t
}

func clip(x float64) float64 { return min(max(x, 0), .999) }

// census is like that of the U.S. of 1994: age, class of work, years of school, marital
// status, occupation, relationship, race, sex, hours a week, more than 50,000 dollars. All
// numbers of it are made up.
func census(n int) *sample {
	rng, t := random.Seeded(3), &sample{name: "census"}
	for _, c := range [][2]int{{85, 1}, {9, 0}, {16, 1}, {7, 0}, {15, 0}, {6, 0}, {5, 0}, {2, 0}, {99, 1}, {2, 0}} {
		if c[1] == 1 {
			t.columns = append(t.columns, domain.Column{Hi: float64(c[0] - 1), Whole: true, Share: 1})
		} else {
			t.columns = append(t.columns, domain.Column{Categories: c[0], Share: 1})
		}
	}
	chance := func(p float64) bool { return rng.Float64() < p }
	index := func(weights ...float64) (at int) {
		u := rng.Float64()
		for ; at < len(weights)-1 && u >= weights[at]; at++ {
			u -= weights[at]
		}
		return at
	}
	for range n {
		age := min(84, math.Floor(math.Abs(rng.NormFloat64())*18+4*rng.ExpFloat64()))
		woman := chance(.33)
		race := index(.855, .095, .031, .01, .009)
		school := []float64{8, 9, 12, 11, 10, 13, 6, 5, 3, 14, 15}[index(.32, .23, .16, .04, .08, .05, .04, .03, .02, .02, .01)]
		if chance(.15) {
			school = math.Floor(16 * math.Pow(rng.Float64(), .7))
		}
		married, status := chance(clip((age-4)/25)*.72), 0
		if woman && chance(.6) {
			married = false
		}
		if !married {
			status = 1 + index(1-clip((age-5)/30), .6*clip((age-5)/30), .08, .05, .05)
		}
		relation := 0
		switch {
		case married && woman:
			relation = index(.02, .9, .04)
		case married:
			relation = 2 * index(.97)
			if relation == 2 {
				relation = 3
			}
		case status == 1 && age < 12:
			relation = 2 + index(.75, .15, .1)
		default:
			relation = 3 + index(.55, .15, .3)
		}
		job := index(.1, .1, .1, .1, .1, .1, .1, .1, .05, .05, .04, .03, .02)
		switch {
		case age < 4 && chance(.3) || age > 48 && chance(.4):
			job = 14
		case school >= 12 && chance(.85):
			job = index(.5, .4, .05, .05)
		case woman && chance(.8):
			job = 3 + index(.55, .3, .15)
		case school < 9 && chance(.8):
			job = 6 + index(.35, .25, .15, .1, .1)
		}
		work := index(.8, .06, .05, .03, .03, .02, .008, .002)
		switch {
		case job == 14:
			work = 8
		case job == 0 && chance(.4):
			work = 2 + index(.5, .3, .2)
		case job == 2 || job == 1 && age > 25 && chance(.4):
			work = 1
		}
		hours := 39.0
		switch {
		case age >= 6 && age <= 48 && chance(.6):
		case woman && chance(.6) || age < 6 || age > 48 || chance(.1):
			hours = math.Floor(10 + 28*rng.Float64())
			if chance(.4) {
				hours = []float64{19, 24, 29, 34}[rng.IntN(4)]
			}
		case chance(.5):
			hours = []float64{44, 49, 54, 59}[rng.IntN(4)]
		default:
			hours = max(0, min(98, math.Floor(44+10*rng.NormFloat64())))
		}
		rich := chance(1 / (1 + math.Exp(3.6-.45*(school-8)-.02*min(age, 35)-.04*(hours-39)-boolean(married, 1.9))))
		row := []float64{age, float64(work), school, float64(status), float64(job), float64(relation), float64(race), boolean(woman, 1), hours, boolean(rich, 1)}
		t.rows = append(t.rows, row)
	}
	return t
}

func boolean(b bool, v float64) float64 {
	if b {
		return v
	}
	return 0
}

func read(tb testing.TB, file string, schema *Schema) *sample {
	tb.Helper()
	f := testkit.Must(os.Open(file))
	defer f.Close()
	t := &sample{name: strings.TrimSuffix(filepath.Base(file), ".csv"), columns: schema.Columns()}
	for x, err := range schema.Read(f) {
		testkit.Check(tb, err)
		t.rows = append(t.rows, x)
	}
	return t
}
