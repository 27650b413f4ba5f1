// Package ikwat22 has the exhibits of IKWAT22 (Imola, Kasiviswanathan, White, Aggarwal,
// Teissier, Balancing utility and scalability in metric differential privacy, 2022): its
// statements, and its experiments in its setting (Section 5.1) on other data. Words of GloVe
// stand for both embeddings, scaled for FastText, and cells of Europe by their towns for the
// cells of Beijing that most traces of GeoLife visit.
package ikwat22

import (
	"context"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{
	{Name: "IKWAT22/lemma1", About: "dense points draw the exponential mechanism in like a black hole; weights help", Run: lemma1},
	{Name: "IKWAT22/thm1", About: "Theorem 1, Corollary 1, Table 1: variables, rows and nonzeros of each program", Run: programs},
	{Name: "IKWAT22/thm2", About: "Algorithm 1 is eps-private", Run: func(ctx context.Context, r *exhibit.Run) { theorem2(ctx, r, exhibit.Size(r, 30, 100)) }},
	{Name: "IKWAT22/thm3", About: "no mechanism loses less than a packing says", Run: func(ctx context.Context, r *exhibit.Run) {
		theorem3(ctx, r, exhibit.Size(r, 40, 100))
	}},
	{Name: "IKWAT22/thm4", About: "SpannerMech", Run: func(ctx context.Context, r *exhibit.Run) { theorem4(ctx, r, exhibit.Size(r, 60, 200)) }},
	{Name: "IKWAT22/fig1", About: "loss against the level, 50 and 200 words, for FastText", Run: func(ctx context.Context, r *exhibit.Run) {
		levels := []float64{.5, 1, 1.5, 2, 2.5, 3.5, 5, 7}
		byLevel(ctx, r, "1", panel{fastText, 50, levels, 1, 3.5, .15, .3}, panel{fastText, 200, exhibit.Size(r, []float64{2, 3.5}, levels), 1, 3.5, .15, .3})
	}},
	{Name: "IKWAT22/table2", About: "Table 2 and Figure 2: seconds, nonzeros and loss against the number of words, for FastText", Run: func(ctx context.Context, r *exhibit.Run) {
		r.WriteCharts("ikwat22-fig2.png", bySize(ctx, r, "2", fastText, numbers(r), .2))
	}},
	{Name: "IKWAT22/table3", About: "ConstOPT's lambda and r", Run: func(ctx context.Context, r *exhibit.Run) { table3(ctx, r, 200) }},
	{Name: "IKWAT22/table4", About: "Table 4 and Figure 4: as Table 2, for words of GloVe and locations", Run: func(ctx context.Context, r *exhibit.Run) {
		words := bySize(ctx, r, "4", gloVe, numbers(r), .2)
		r.WriteCharts("ikwat22-fig4.png", words, bySize(ctx, r, "4", geoLife, numbers(r), .06))
	}},
	{Name: "IKWAT22/fig3", About: "loss against the level, words of GloVe and locations", Run: func(ctx context.Context, r *exhibit.Run) {
		words, at, large := []float64{.2, .35, .5, .7, 1, 1.5}, []float64{.1, .2, .3, .5, .8, 1.5}, exhibit.Size(r, 80, 200)
		byLevel(ctx, r, "3", panel{gloVe, 50, words, .5, 1, .05, .1}, panel{gloVe, large, words, .5, 1, .2, .2},
			panel{geoLife, 50, at, .3, .8, .15, .3}, panel{geoLife, large, at, .3, .8, .15, .3})
	}},
}

func numbers(r *exhibit.Run) []int {
	return exhibit.Size(r, []int{50, 100, 150}, []int{50, 100, 150, 200, 250, 300, 350, 400})
}
