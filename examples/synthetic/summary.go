package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/metricdp/metricdp/internal/random"
)

// maxSample is how many records a summary keeps. Quantiles of so many random
// ones are those of all to within 0.9 % of the records, with probability 99.99 %
// (Dvoretzky, Kiefer, Wolfowitz: 2 exp(-2*2^16*0.009^2) < 1e-4).
const maxSample = 1 << 16

// summary is what a stream of records leaves behind: means and co-moments,
// updated as in Welford's method, and a uniform sample of records, all of them
// where they are few (reservoir sampling).
type summary struct {
	n      int
	mean   []float64
	co     [][]float64 // co[i][j], j <= i: sum of (x_i-mean_i)(x_j-mean_j)
	delta  []float64
	sample [][]float64
	r      *rand.Rand
}

func newSummary(columns int, seed uint64) *summary {
	s := &summary{
		mean:  make([]float64, columns),
		delta: make([]float64, columns),
		r:     random.Seeded(^seed), // not the stream of the noise
	}
	for i := range columns {
		s.co = append(s.co, make([]float64, i+1))
	}
	return s
}

// add adds a record, which is copied.
func (s *summary) add(x []float64) {
	s.n++
	for i, v := range x {
		s.delta[i] = v - s.mean[i]
		s.mean[i] += s.delta[i] / float64(s.n)
		for j := range i + 1 {
			// The mean of j is the new one by now, that of i was the old one.
			s.co[i][j] += s.delta[i] * (x[j] - s.mean[j])
		}
	}
	if len(s.sample) < maxSample {
		s.sample = append(s.sample, slices.Clone(x))
	} else if i := s.r.IntN(s.n); i < maxSample {
		copy(s.sample[i], x)
	}
}

func (s *summary) deviation(i int) float64 { return math.Sqrt(s.co[i][i] / float64(s.n)) }

// correlation returns that of two columns, NaN where one is constant.
func (s *summary) correlation(i, j int) float64 {
	return s.co[max(i, j)][min(i, j)] / math.Sqrt(s.co[i][i]) / math.Sqrt(s.co[j][j])
}

// column returns the values of a column in the sample, ascending.
func (s *summary) column(i int) []float64 {
	v := make([]float64, len(s.sample))
	for k, x := range s.sample {
		v[k] = x[i]
	}
	slices.Sort(v)
	return v
}

func (s *summary) quantiles(i int, p ...float64) []float64 {
	v := s.column(i)
	q := make([]float64, len(p))
	for k := range p {
		q[k] = stat.Quantile(p[k], stat.Empirical, v, nil)
	}
	return q
}

// some returns n random records of the sample, or all, in random order.
func (s *summary) some(n int) [][]float64 {
	all := slices.Clone(s.sample)
	r := random.Seeded(uint64(len(all)))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}
