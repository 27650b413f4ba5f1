//go:build ignore

// Program ours times this package on the inputs that compare.py wrote to the
// folder named by its argument, and prints a line "task seconds value" for each.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

const runs = 3 // the best counts, as for the peers

func main() {
	log.SetFlags(0)
	dir := os.Args[1]
	read := func(task, part string) []float64 {
		data, err := os.ReadFile(filepath.Join(dir, task+"."+part))
		if err != nil {
			log.Fatal(err)
		}
		v := make([]float64, len(data)/8)
		for i := range v {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		return v
	}
	show := func(task string, runs int, f func() (float64, error)) {
		best, value := math.Inf(1), 0.0
		for range runs {
			start := time.Now()
			v, err := f()
			if err != nil {
				log.Fatal(task, ": ", err)
			}
			best, value = min(best, time.Since(start).Seconds()), v
		}
		fmt.Printf("%s %g %.17g\n", task, best, value)
	}
	for _, task := range os.Args[2:] {
		kind, size, _ := strings.Cut(task, "-")
		n := 0
		if _, err := fmt.Sscanf(size, "%d", &n); err != nil {
			log.Fatal(task, ": ", err)
		}
		proved := func(move func(a, b []float64) (*wasserstein.Result, error)) func() (float64, error) {
			a, b := read(task, "a"), read(task, "b")
			return func() (float64, error) {
				r, err := move(a, b)
				if err != nil {
					return 0, err
				}
				if r.Gap() > 1e-9*r.Cost {
					return 0, fmt.Errorf("gap %v at cost %v", r.Gap(), r.Cost)
				}
				return r.Cost, nil
			}
		}
		switch kind {
		case "emd":
			c, err := wasserstein.Matrix(n, n, read(task, "cost"))
			if err != nil {
				log.Fatal(err)
			}
			show(task, runs, proved(func(a, b []float64) (*wasserstein.Result, error) {
				return wasserstein.Between(context.Background(), c, a, b, nil)
			}))
		case "lazy", "vec":
			vectors := func(part string) [][]float64 {
				flat := read(task, part)
				return slices.Collect(slices.Chunk(flat, len(flat)/n))
			}
			x, y, runs := vectors("x"), vectors("y"), runs
			if kind == "lazy" {
				runs = 1
			}
			show(task, runs, proved(func(a, b []float64) (*wasserstein.Result, error) {
				return wasserstein.W1Points(context.Background(), metric.Euclidean{}, x, a, y, b, nil)
			}))
		case "lsa":
			c, err := wasserstein.Matrix(n, n, read(task, "cost"))
			if err != nil {
				log.Fatal(err)
			}
			show(task, runs, func() (float64, error) {
				r, err := wasserstein.Assignment(context.Background(), c, nil)
				if err != nil {
					return 0, err
				}
				return r.Cost, nil
			})
		case "w1d":
			a, b := read(task, "a"), read(task, "b")
			show(task, runs, func() (float64, error) { return wasserstein.W1Samples(a, b) })
		default:
			log.Fatal("no task ", task)
		}
	}
}
