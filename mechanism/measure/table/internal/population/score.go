package population

import "math"

// Prediction is what the population says of the cells of a grid, for the score by which they are
// picked: the distance of the private counts from Counts, less Cost. All of it is public.
type Prediction struct {
	Counts []int64
	Cost   float64
}

// Predict returns it, where a table more would have noise of the given scale in each cell. The
// cost is the noise of the table, where first is true, a quarter of it for later picks, and
// what the rows, of which there are finitely many, err by themselves.
func (p *Population) Predict(scale float64, first bool, g Grid) Prediction {
	mu := p.Counts(g)
	q := Prediction{Counts: make([]int64, len(mu))}
	roots := 0.0
	for c, v := range mu {
		q.Counts[c] = int64(math.Round(v))
		roots += math.Sqrt(v)
	}
	share := .25
	if first {
		share = 1
	}
	q.Cost = share*scale*float64(len(mu)) + .8*roots*math.Sqrt(1+p.weight())
	return q
}

// Threshold returns the score of "none" among so many candidates, in units of the scale of
// the noise that all scores get. By the logarithm of their number, a first pick where columns
// are independent is unlikely; later ones may be wrong more often.
func Threshold(candidates int, first bool) float64 {
	t := math.Log(float64(candidates))
	if first {
		return t + 2
	}
	return t / 2
}
