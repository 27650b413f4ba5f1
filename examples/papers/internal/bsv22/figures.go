package bsv22

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/walk"
)

// figures draws the five drawings of the paper, and checks what they show.
func figures(ctx context.Context, r *exhibit.Run) error {
	if err := bases(r); err != nil {
		return err
	}
	var at [][]float64
	for i := 1; i <= 16; i++ {
		at = append(at, []float64{halton(i, 2), halton(i, 3)})
	}
	f := exhibit.Must(metric.NewPoints(at, metric.Euclidean{}))
	order, radii, err := metric.FarthestFirst(ctx, f, f.Len(), 0)
	if err != nil {
		return err
	}
	// The net N_j is order[:size[j]], all points that were farther than 2^-j when chosen.
	var size []int
	for j := -1; len(size) == 0 || size[len(size)-1] < f.Len(); j++ {
		m := 1
		for m < f.Len() && radii[m] > math.Exp2(-float64(j)) {
			m++
		}
		size = append(size, m)
	}
	root, parent := order[0], make(map[int]int)
	var tree, chain demo.Series
	tree.Name, chain.Name = "tree", "tree"
	edge := func(s *demo.Series, ax, ay, bx, by float64) { // a gap ends every line
		s.X, s.Y = append(s.X, ax, bx, math.NaN()), append(s.Y, ay, by, math.NaN())
	}
	length, bound, next := 0.0, 0.0, make(map[int][]int)
	high := func(j int) float64 { return 1 - float64(j)/float64(len(size)-1) }
	for j := 1; j < len(size); j++ {
		bound += math.Exp2(-float64(j-2)) * float64(size[j]) // eps_(j-1) of each, j = 0 being eps_-1 = 2
		for _, v := range order[:size[j]] {
			near := order[0]
			for _, u := range order[:size[j-1]] {
				if f.Distance(u, v) < f.Distance(near, v) {
					near = u
				}
			}
			edge(&chain, at[near][0], high(j-1), at[v][0], high(j))
			if _, ok := parent[v]; !ok && v != root && near != v {
				parent[v], next[near] = near, append(next[near], v)
				length += f.Distance(near, v)
				edge(&tree, at[near][0], at[near][1], at[v][0], at[v][1])
			}
		}
	}
	tour := demo.Series{Name: "tour"}
	twice := 0.0
	step := func(u, v int) { // to the right of the edge
		d := f.Distance(u, v)
		x, y := (at[v][1]-at[u][1])/d*.012, (at[u][0]-at[v][0])/d*.012
		tour.X, tour.Y = append(tour.X, at[u][0]+x, at[v][0]+x), append(tour.Y, at[u][1]+y, at[v][1]+y)
		twice += d
	}
	var deep func(u int)
	deep = func(u int) {
		for _, v := range next[u] {
			step(u, v)
			deep(v)
			step(v, u)
		}
	}
	deep(root)
	r.Say("Figure 3", "a depth-first tour has twice the length of the tree", 2., twice/length, exhibit.Near(twice/length, 2, 1e-12), "")
	r.Say("Figure 4", "chaining: the tree over nets is at most the sum of eps_(j-1)|N_j| long", bound, length, exhibit.If(len(parent) == f.Len()-1 && length <= bound, exhibit.Holds), fmt.Sprintf("nets of %v points; the bound is the proof's, for these 16", size))
	path := exhibit.Must(tsp.Solve(ctx, f, &tsp.SolveOptions{Kind: tsp.Open}))
	fold := exhibit.Must(tsp.Fold(f, path))
	folded, line := demo.Series{Name: "path"}, demo.Series{Name: "line"}
	for k, v := range fold.Order {
		folded.X, folded.Y = append(folded.X, at[v][0]), append(folded.Y, at[v][1])
		line.X, line.Y = append(line.X, fold.Position[k]/fold.Length()), append(line.Y, -.15)
	}
	r.Say("Figure 5", "an interval of length TSP folds onto a Hamiltonian path", "-", fold.Length(), exhibit.If(len(path.Order) == f.Len() && slices.IsSorted(fold.Position), exhibit.Holds), "in the picture the line is drawn to the length 1")
	return r.WriteCharts("bsv22-figures-3-5.png",
		&demo.Chart{Title: "Figure 3: a tree, and its depth-first tour", X: "x", Y: "y", Series: []demo.Series{tree, tour}},
		&demo.Chart{Title: "Figure 4: chaining, a net a level", X: "x", Series: []demo.Series{chain}},
		&demo.Chart{Title: "Figure 5: a line folded into a path", X: "x", Series: []demo.Series{folded, line}})
}

// bases draws the Haar basis of eight points and its sums, the Schauder basis.
func bases(r *exhibit.Run) error {
	t := exhibit.Must(walk.Levels(2, 2, 2))
	var haar, schauder []*demo.Chart
	norm, height, overlap := 0.0, 0.0, 0.0
	var all [][]float64
	for l := range 3 {
		h := &demo.Chart{Title: fmt.Sprintf("level %d", l), X: "i", Y: "value"}
		s := &demo.Chart{Title: fmt.Sprintf("level %d", l), X: "t", Y: "value"}
		var at []int // of coefficients
		if l == 0 {
			at = []int{0}
		}
		for lo, hi := t.Level(l); lo < hi; lo++ {
			at = append(at, t.Split(lo))
		}
		for _, i := range at {
			psi := make([]float64, 8)
			psi[i] = 1
			if err := t.HaarInverse(psi); err != nil {
				return err
			}
			name := fmt.Sprint(len(all) + 1)
			steps, sums := demo.Series{Name: name}, demo.Series{Name: name, X: []float64{0}, Y: []float64{0}}
			sum, l1, top := 0.0, 0.0, 0.0
			for k, x := range psi {
				steps.X, steps.Y = append(steps.X, float64(k), float64(k+1)), append(steps.Y, x, x)
				sum, l1 = sum+x, l1+math.Abs(x)
				phi := 2 * sum
				if i == 0 {
					phi = sum
				}
				sums.X, sums.Y = append(sums.X, float64(k+1)), append(sums.Y, phi)
				top = max(top, phi)
			}
			for _, other := range all {
				dot := 0.0
				for k := range psi {
					dot += psi[k] * other[k]
				}
				overlap = max(overlap, math.Abs(dot))
			}
			all = append(all, psi)
			norm, height = max(norm, math.Abs(l1-1)), max(height, math.Abs(top-1))
			h.Series, s.Series = append(h.Series, steps), append(s.Series, sums)
		}
		haar, schauder = append(haar, h), append(schauder, s)
	}
	r.Say("Figure 1", "Schauder basis: phi_1 is linear, the others triangles of height 1 on dyadic intervals", "height 1", 1+height, exhibit.If(height == 0, exhibit.Holds), "twice the sums of the Haar basis")
	r.Say("Figure 2", "Haar basis of l2[n]: orthogonal, of l1 norm 1", "norm 1", 1+norm, exhibit.If(norm == 0 && overlap == 0, exhibit.Holds), "made by walk.Tree.HaarInverse of a unit vector")
	if err := r.WriteCharts("bsv22-figure-1.png", schauder...); err != nil {
		return err
	}
	return r.WriteCharts("bsv22-figure-2.png", haar...)
}

// halton is the radical inverse of i in a base.
func halton(i, base int) float64 {
	x, f := 0.0, 1/float64(base)
	for ; i > 0; i, f = i/base, f/float64(base) {
		x += f * float64(i%base)
	}
	return x
}
