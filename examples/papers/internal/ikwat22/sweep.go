package ikwat22

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// axis is the label of losses.
func axis(s space) string {
	return fmt.Sprintf("loss that %v %% do not exceed (%s)", 100*share, s.unit)
}

// byLevel draws the losses on one space against eps_tight. The levels but for the two at
// the ends are the middle ones.
func byLevel(ctx context.Context, r *exhibit.Run, figure string, from source, n int, levels []float64) error {
	s := exhibit.Must(from(ctx, n, r.Seed))
	var t result
	for _, level := range levels {
		if err := t.measureAt(ctx, s, level, schemes()); err != nil {
			return err
		}
	}
	err := t.draw(r, "ikwat22-"+figure+".png", levels, &demo.Chart{
		Title: "What privacy costs: " + s.title,
		X:     fmt.Sprintf("eps_tight at delta = %v (per %s)", delta, s.unit), LogX: true,
		Y: axis(s),
	})
	t.sayAll(r, 1, len(levels)-1, "middle levels")
	return err
}

// bySize draws the losses at one level against the number of words.
func bySize(ctx context.Context, r *exhibit.Run, sizes []int) error {
	var t result
	var places []float64
	var last space
	for _, n := range sizes {
		s := exhibit.Must(words(ctx, n, r.Seed))
		if err := t.measureAt(ctx, s, fixed, within(n)); err != nil {
			return err
		}
		places, last = append(places, float64(n)), s
	}
	err := t.draw(r, "ikwat22-fig2.png", places, &demo.Chart{
		Title: fmt.Sprintf("Words in clusters of %d, eps_tight = %v at delta = %v", perCluster, fixed, delta),
		X:     "words", LogX: true,
		Y: axis(last),
	})
	t.sayAll(r, 0, len(sizes), "all sizes")
	return err
}

// within are the schemes that take minutes at most for n points.
func within(n int) []scheme {
	const large = 200 // for Spanner and OPTMech
	if n <= large {
		return schemes()
	}
	return []scheme{exponentialMech(), constOPTMech(neighbors/2, lambdas...), constOPTMech(neighbors, lambdas...)}
}
