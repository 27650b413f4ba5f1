package bsv22

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/walk"
)

// figures draws the five drawings of the paper, and checks what they show.
func figures(ctx context.Context, r *exhibit.Run) {
	bases(r)
	at := make([][]float64, 16)
	for i := range at { // Halton's points
		for base, x := range []float64{.5, 1. / 3} {
			at[i] = append(at[i], 0)
			for k, f := i+1, x; k > 0; k, f = k/(base+2), f*x {
				at[i][base] += f * float64(k%(base+2))
			}
		}
	}
	f := exhibit.Must(metric.NewPoints(at, metric.Euclidean{}))
	order, radii := exhibit.Must2(metric.FarthestFirst(ctx, f, len(at), 0))
	// A level is the net of all points that were farther than eps = 2, 1, 1/2, ... when chosen.
	const levels = 5
	tree, chain, tour := demo.Series{Name: "tree"}, demo.Series{Name: "tree"}, demo.Series{Name: "tour"}
	line := func(s *demo.Series, x0, y0, x1, y1 float64) { // NaN ends it
		s.X, s.Y = append(s.X, x0, x1, math.NaN()), append(s.Y, y0, y1, math.NaN())
	}
	length, bound, before, below := 0.0, 0.0, 1, make([][]int, len(at))
	for j := range levels {
		eps, size := math.Exp2(-float64(j)), 1
		for size < len(at) && radii[size] > eps {
			size++
		}
		bound += 2 * eps * float64(size)
		for k, v := range order[:size] {
			near := order[0]
			for _, u := range order[:before] {
				if f.Distance(u, v) < f.Distance(near, v) {
					near = u
				}
			}
			line(&chain, at[near][0], 1-float64(j)/levels, at[v][0], 1-float64(j+1)/levels)
			if k >= before {
				below[near], length = append(below[near], v), length+f.Distance(near, v)
				line(&tree, at[near][0], at[near][1], at[v][0], at[v][1])
			}
		}
		before = size
	}
	var deep func(u int)
	deep = func(u int) {
		for _, v := range below[u] {
			x, y := (at[v][1]-at[u][1])/f.Distance(u, v)*.012, (at[u][0]-at[v][0])/f.Distance(u, v)*.012 // to the right
			tour.X, tour.Y = append(tour.X, at[u][0]+x, at[v][0]+x), append(tour.Y, at[u][1]+y, at[v][1]+y)
			deep(v)
			tour.X, tour.Y = append(tour.X, at[v][0]-x, at[u][0]-x), append(tour.Y, at[v][1]-y, at[u][1]-y)
		}
	}
	deep(order[0])
	r.Say("Figure 3", "a depth-first tour walks both sides of every edge", "2 an edge", fmt.Sprintf("%d of %d", len(tour.X)/2, len(at)-1), exhibit.If(len(tour.X)/2 == 2*(len(at)-1), exhibit.Holds), "so that it is twice as long as the tree")
	r.Say("Figure 4", "chaining: the tree over nets is at most the sum of eps_(j-1)|N_j| long", "sum eps_(j-1)|N_j|", length, exhibit.If(before == len(at) && length <= bound, exhibit.Holds), fmt.Sprintf("the sum is %.0f for these 16 points", bound))
	fold := exhibit.Must(tsp.Fold(f, exhibit.Must(tsp.Solve(ctx, f, &tsp.SolveOptions{Kind: tsp.Open}))))
	folded, flat := demo.Series{Name: "path"}, demo.Series{Name: "line"}
	for k, v := range fold.Order {
		folded.X, folded.Y = append(folded.X, at[v][0]), append(folded.Y, at[v][1])
		flat.X, flat.Y = append(flat.X, fold.Position[k]/fold.Length()), append(flat.Y, -.15)
	}
	r.Say("Figure 5", "an interval folds onto the shortest Hamiltonian path", "-", fold.Length(), exhibit.If(len(fold.Order) == len(at), exhibit.Holds), "drawn to the length 1")
	r.WriteCharts("bsv22-figures-3-5.png",
		&demo.Chart{Title: "Figure 3: a tree, and its depth-first tour", X: "x", Y: "y", Series: []demo.Series{tree, tour}},
		&demo.Chart{Title: "Figure 4: chaining, a net a level", X: "x", Series: []demo.Series{chain}},
		&demo.Chart{Title: "Figure 5: a line folded into a path", X: "x", Series: []demo.Series{folded, flat}})
}

// bases draws the Haar basis of eight points and, as its sums, the Schauder basis.
func bases(r *exhibit.Run) {
	t := exhibit.Must(walk.Levels(2, 2, 2))
	charts, ok := make([]*demo.Chart, 6), true
	for l := range 3 {
		at := []int{0}[:max(0, 1-l)] // of coefficients
		for lo, hi := t.Level(l); lo < hi; lo++ {
			at = append(at, t.Split(lo))
		}
		phi := &demo.Chart{Title: fmt.Sprintf("Figure 1, level %d", l), X: "i (step)", Y: "value"}
		psi := &demo.Chart{Title: fmt.Sprintf("Figure 2, level %d", l), X: "i (step)", Y: "value"}
		charts[l], charts[l+3] = phi, psi
		for k, i := range at {
			haar := make([]float64, 8)
			haar[i] = 1
			exhibit.Check(t.HaarInverse(haar))
			name := fmt.Sprint(len(at)*min(l, 1) + k + 1) // levels have 2, 2 and 4
			steps, sums, sum := demo.Series{Name: name}, demo.Series{Name: name, X: []float64{0}, Y: []float64{0}}, 0.0
			for k, x := range haar {
				steps.X, steps.Y = append(steps.X, float64(k), float64(k+1)), append(steps.Y, x, x)
				sum += x
				sums.X, sums.Y = append(sums.X, float64(k+1)), append(sums.Y, sum*float64(min(2, i+1)))
			}
			ok = ok && floats.Norm(haar, 1) == 1 && floats.Max(sums.Y) == 1
			phi.Series, psi.Series = append(phi.Series, sums), append(psi.Series, steps)
		}
	}
	r.Say("Figure 1", "Schauder basis: phi_1 is linear, the others triangles of height 1", 1, 1, exhibit.If(ok, exhibit.Holds), "twice the sums of the Haar basis")
	r.Say("Figure 2", "Haar basis: functions of l1 norm 1", 1, 1, exhibit.If(ok, exhibit.Holds), "walk.Tree.HaarInverse of unit vectors")
	r.WriteCharts("bsv22-figures-1-2.png", charts...)
}
