// Tradeoff shows what privacy must cost: for a space and a list of levels
// alpha, how low the loss of any private mechanism can be, proved, and how near
// to that the mechanisms of this library come.
//
//	go run ./examples/tradeoff
//	go run ./examples/tradeoff -metric prefix -alphas 0.5,1,2 -n 884
//	go run ./examples/tradeoff -in places.csv -metric euclidean -out /tmp/tradeoff
//
// It reads the points, brackets the optimal accuracy and the scales of the
// space, builds every mechanism, the best of all by linear programming among them,
// prints a table and draws loss against alpha. Without flags it shows cities on the
// globe, and a hierarchy of mammals, in about a minute; fewer points take less.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

var (
	//go:embed cities.csv
	cities []byte
	//go:embed mammals.csv
	mammals []byte
)

func main() { demo.Main("tradeoff", run) }

const (
	maxPoints = 2000 // mechanisms and bounds compare all pairs of rows
	maxAlphas = 50
)

func run(ctx context.Context, p *demo.Program) error {
	metricName := p.Flags.String("metric", "", "euclidean (with -in, columns x, y and z if there), greatcircle (lat, lon) or prefix (path, its steps joined by >) (default greatcircle; without -in and -alphas both greatcircle and prefix)")
	list := p.Flags.String("alphas", "", "privacy levels, as 0.1,0.5,2 (default: from where nothing can be told to where everything can)")
	n := p.Flags.Int("n", 150, "how many points to use, spread evenly over the file")
	p.ReadsFile("CSV with the columns that -metric names")
	if err := p.Parse(); err != nil {
		return err
	}
	alphas, err := parseAlphas(*list)
	if err != nil {
		return err
	}
	if *n < 2 || *n > maxPoints {
		return fmt.Errorf("-n %d: want 2 to %d", *n, maxPoints)
	}
	names := []string{*metricName}
	if *metricName == "" {
		names = []string{"greatcircle"}
		if p.In == "" && alphas == nil {
			names = append(names, "prefix")
		}
	}
	var done []*study
	for i, name := range names {
		s, err := read(ctx, p, name, *n)
		if err != nil {
			return err
		}
		if i > 0 {
			p.Remark("")
		}
		if err := s.show(ctx, p, alphas); err != nil {
			return err
		}
		done = append(done, s)
	}
	return writeTable(p, done)
}

// parseAlphas reads a list of increasing positive numbers; nil for an empty one.
func parseAlphas(list string) ([]float64, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	words := strings.Split(list, ",")
	if len(words) > maxAlphas {
		return nil, fmt.Errorf("-alphas: %d of them, want at most %d", len(words), maxAlphas)
	}
	var alphas []float64
	for _, word := range words {
		a, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(a > 0) || math.IsInf(a, 1) {
			return nil, fmt.Errorf("-alphas %q: %q is not a finite number > 0", list, word)
		}
		if k := len(alphas); k > 0 && a <= alphas[k-1] {
			return nil, fmt.Errorf("-alphas %q: %v does not exceed the %v before it", list, a, alphas[k-1])
		}
		alphas = append(alphas, a)
	}
	return alphas, nil
}
