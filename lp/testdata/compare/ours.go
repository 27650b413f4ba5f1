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
		var n, k int // inputs, outputs
		var eps float64
		solve, read, size := optimal, points, task
		if _, err := fmt.Sscanf(task, "roads-%dx%d-%g", &n, &k, &eps); err == nil {
			read, size = roads, fmt.Sprintf("%dx%d", n, k)
		} else if _, err := fmt.Sscanf(task, "opt-%d-%g", &n, &eps); err == nil {
			size = fmt.Sprint(n)
		} else if _, err := fmt.Sscanf(task, "const-%d-%g", &n, &eps); err == nil {
			solve, size = replaced, fmt.Sprint(n)
		} else {
			log.Fatal("no task ", task)
		}
		data, err := numbers(filepath.Join(os.Args[1], size))
		if err != nil {
			log.Fatal(err)
		}
		space, outputs, err := read(n, data)
		if err != nil {
			log.Fatal(err)
		}
		var r result
		best, total := math.Inf(1), time.Duration(0)
		for i := 0; i < runs && total < allowed; i++ {
			start := time.Now()
			if r, err = solve(space, outputs, eps); err != nil {
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

// numbers reads little-endian float64s.
func numbers(file string) ([]float64, error) {
	data, err := os.ReadFile(file)
	x := make([]float64, len(data)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return x, err
}

// points are n points of the plane, two numbers each.
func points(n int, data []float64) (metric.Bimetric, []int, error) {
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = data[2*i : 2*i+2]
	}
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	return metric.Same(f), nil, err
}

// roads is a graph of n nodes, three numbers an edge, and outputs as loops.
func roads(n int, data []float64) (metric.Bimetric, []int, error) {
	var edges []metric.Edge
	var outputs []int
	for ; len(data) > 0; data = data[3:] {
		e := metric.Edge{I: int(data[0]), J: int(data[1]), Length: data[2]}
		if e.I == e.J {
			outputs = append(outputs, e.I)
		}
		edges = append(edges, e)
	}
	g, err := metric.NewGraphEdges(context.Background(), n, edges)
	return metric.Same(g), outputs, err
}

func optimal(b metric.Bimetric, outputs []int, eps float64) (result, error) {
	s, err := lp.Optimal(context.Background(), b, eps, &lp.Options{Outputs: outputs, Tolerance: tolerance})
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
func replaced(b metric.Bimetric, _ []int, eps float64) (result, error) {
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
