package spaces

// BestMass maximizes u/(1+e^u), what two points prove at alpha times their distance: e^u (u-1) = 1.
const BestMass = 1.2784645427610738

// LineMinimax is a lower bound of the optimal accuracy of [0,1], under |x-y|, at level
// beta: 1/(beta+2) by the proof of pathMinimax in package families, and what a table
// proves, of 33 points of equal gaps by their linear programs. Outputs between the points
// are no better there: under a prior on the points the best answer is a median of the
// posterior, one of the points. Between the entries, the optimum falls as beta grows, and
// beta times it rises: in units of 1/beta it is that of a longer interval.
func LineMinimax(beta float64) float64 {
	v := 1 / (beta + 2)
	for _, p := range lineOptima {
		if p.beta >= beta {
			v = max(v, p.least)
		} else {
			v = max(v, p.beta*p.least/beta)
		}
	}
	return v
}

type lineOptimum struct{ beta, least float64 }

var lineOptima = []lineOptimum{
	{.1, .476282}, {.25, .444924}, {.5, .40146}, {.75, .366199}, {1, .336947}, {1.25, .312245},
	{1.5, .29107}, {1.75, .272695}, {2, .256572}, {2.25, .242294}, {2.5, .229554}, {3, .207772},
	{3.5, .189781}, {4, .174642}, {5, .150573}, {6, .13221}, {8, .106045}, {11, .081287}, {16, .057724},
}
