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
	return []*sample{shuffled(20_000), chain(2_500), mixed(16_621), mixed(50_000),
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
