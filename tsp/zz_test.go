package tsp

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestZZ(t *testing.T) {
	if os.Getenv("ZZ") == "" {
		t.Skip()
	}
	kicks, _ := strconv.Atoi(os.Getenv("ZZKICKS"))
	bound := BoundNone
	if os.Getenv("ZZBOUND") != "" {
		bound = BoundAuto
	}
	neigh, _ := strconv.Atoi(os.Getenv("ZZNEIGH"))
	sizes := []int{50, 200, 650, 1500, 3000}
	if v := os.Getenv("ZZN"); v != "" {
		sizes = nil
		for _, x := range strings.Split(v, ",") {
			k, _ := strconv.Atoi(x)
			sizes = append(sizes, k)
		}
	}
	seeds := 3
	if v := os.Getenv("ZZS"); v != "" {
		seeds, _ = strconv.Atoi(v)
	}
	only := os.Getenv("ZZSHAPE")
	for _, n := range sizes {
		for _, s := range shapes {
			if only != "" && !strings.Contains(only, s.name) {
				continue
			}
			for seed := range uint64(seeds) {
				f := s.make(n, seed+1)
				at := cpu()
				ctx, cancel := context.WithCancel(t.Context())
				o := &SolveOptions{Bound: bound, Improve: ImproveOptions{Kicks: kicks, Neighbors: neigh}}
				if limit, _ := strconv.ParseFloat(os.Getenv("ZZCPU"), 64); limit > 0 {
					if os.Getenv("ZZPER") != "" {
						limit *= float64(n)
					}
					o.Improve.Progress = func(done, total int) {
						last = done
						if cpu()-at > limit {
							cancel()
						}
					}
				}
				tour, err := Solve(ctx, f, o)
				if tour == nil {
					panic(err)
				}
				cancel()
				fmt.Printf("ROW %s %d %d %.3f %.6f %.6f %d\n", s.name, n, seed+1, cpu()-at, tour.Length, tour.LowerBound, last)
				if s.name == "grid" {
					break
				}
			}
		}
	}
}

var last int

func cpu() float64 {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}

func ints(name string, p *[]int) {
	if v := os.Getenv(name); v != "" {
		*p = nil
		for _, x := range strings.Split(v, ",") {
			k, _ := strconv.Atoi(x)
			*p = append(*p, k)
		}
	}
}
