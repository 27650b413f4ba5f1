//go:build ignore

// Program ours solves the tasks that compare.py names, on the points that it wrote
// to the folder of the first argument, and prints a line of JSON for each.
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
)

// The best of at most three runs counts, and none begins after ten seconds of
// them: the rule of compare.py for its peer.
const (
	runs    = 3
	allowed = 10 * time.Second
)

// tolerance is the certified relative gap asked for.
const tolerance = 1e-6

type result struct {
	Task      string      `json:"task"`
	Seconds   float64     `json:"seconds"`
	Objective float64     `json:"objective"` // of the channel, or of the program of ConstOPT
	Bound     float64     `json:"bound"`     // proved
	Matrix    [][]float64 `json:"matrix,omitempty"`
}

func main() {
	log.SetFlags(0)
	out := json.NewEncoder(os.Stdout)
	for _, task := range os.Args[2:] {
		var n int
		var eps float64
		var solve func(metric.Bimetric, float64) (result, error)
		if _, err := fmt.Sscanf(task, "opt-%d-%g", &n, &eps); err == nil {
			solve = optimal
		} else if _, err := fmt.Sscanf(task, "const-%d-%g", &n, &eps); err == nil {
			solve = replaced
		} else {
			log.Fatal("no task ", task)
		}
		space, err := points(filepath.Join(os.Args[1], fmt.Sprint(n)))
		if err != nil {
			log.Fatal(err)
		}
		var r result
		best, total := math.Inf(1), time.Duration(0)
		for i := 0; i < runs && total < allowed; i++ {
			start := time.Now()
			if r, err = solve(space, eps); err != nil {
				log.Fatal(task, ": ", err)
			}
			took := time.Since(start)
			best, total = min(best, took.Seconds()), total+took
		}
		r.Task, r.Seconds = task, best
		if err := out.Encode(r); err != nil {
			log.Fatal(err)
		}
	}
}

// points reads points of the plane, two little-endian float64s each.
func points(file string) (metric.Bimetric, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return metric.Bimetric{}, err
	}
	pts := make([][]float64, len(data)/16)
	for i := range pts {
		for a := range 2 {
			pts[i] = append(pts[i], math.Float64frombits(binary.LittleEndian.Uint64(data[16*i+8*a:])))
		}
	}
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	return metric.Same(f), err
}

func optimal(b metric.Bimetric, eps float64) (result, error) {
	s, err := lp.Optimal(context.Background(), b, eps, &lp.Options{Tolerance: tolerance})
	if err != nil {
		return result{}, err
	}
	if s.Status != lp.StatusOptimal {
		return result{}, fmt.Errorf("%v", s)
	}
	r := result{Objective: s.Objective, Bound: s.DualBound}
	for x := range s.Channel.Len() {
		r.Matrix = append(r.Matrix, s.Channel.Row(x, nil))
	}
	return r, nil
}

// replaced solves the program of ConstOPT with the budget eps and lambda = 50 for
// the ten nearest neighbors. What it promises is twice the budget.
func replaced(b metric.Bimetric, eps float64) (result, error) {
	s, err := lp.ConstOPT(context.Background(), b, 2*eps, &lp.ConstOptions{
		Neighbors: 10, Lambdas: []float64{50}, KeepBudget: true, Tolerance: tolerance,
	})
	if err != nil {
		return result{}, err
	}
	if s.Status != lp.StatusOptimal || s.Budget != eps || s.Lambda != 50 {
		return result{}, fmt.Errorf("%v", s)
	}
	return result{Objective: s.Program, Bound: s.ProgramBound}, nil
}
