package measure

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// open opens a file of testdata; DATA.md there says where it is from.
func open(b testing.TB, name string) *os.File {
	f := testkit.Must(os.Open(filepath.Join("testdata", name)))
	b.Cleanup(func() { f.Close() })
	return f
}

func loadCities(b testing.TB) (metric.Finite, []float64) {
	pts, people := readCities(b)
	return testkit.Must(metric.Densify(b.Context(), testkit.Must(metric.NewPoints(pts, metric.GreatCircle{})))), people
}

func readCities(b testing.TB) (pts []metric.LatLon, pop []float64) {
	rows := testkit.Must(csv.NewReader(open(b, "cities.csv")).ReadAll())
	for _, row := range rows[1:] {
		lat, _ := strconv.ParseFloat(row[2], 64)
		lon, _ := strconv.ParseFloat(row[3], 64)
		p, _ := strconv.ParseFloat(row[4], 64)
		pts, pop = append(pts, metric.LatLon{Lat: lat, Lon: lon}), append(pop, p)
	}
	return pts, pop
}

// readMammals returns the paths of the leaves below "mammal" in WordNet.
func readMammals(b testing.TB) (paths [][]string) {
	for _, row := range testkit.Must(csv.NewReader(open(b, "../../../examples/tradeoff/mammals.csv")).ReadAll())[1:] {
		paths = append(paths, strings.Split(row[len(row)-1], ">"))
	}
	return paths
}

// loadGloVe returns the 1,000 most frequent words, with Zipf's law.
func loadGloVe(b testing.TB) (metric.Finite, []float64) {
	z := testkit.Must(gzip.NewReader(open(b, "../../../examples/words/common.txt.gz")))
	var pts [][]float64
	var prior []float64
	for s := bufio.NewScanner(z); s.Scan(); {
		var v []float64
		for _, x := range strings.Fields(s.Text())[1:] {
			f, _ := strconv.ParseFloat(x, 64)
			v = append(v, f)
		}
		pts, prior = append(pts, v), append(prior, 1/float64(len(pts)+1))
	}
	return testkit.Must(metric.Densify(b.Context(), testkit.Must(metric.NewPoints(pts, metric.Euclidean{})))), prior
}
