package game

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// What the answers lose is near the best of all, by enumeration, on every architecture.
func TestPlay_NearlyBest(t *testing.T) {
	r := random.Seeded(35)
	const steps = 100
	for range 40 {
		g := &Game{N: 3, C: 2, K: 2, Mass: make([]float32, 6), Dist: make([]float32, 6)}
		for x := range 3 {
			p := r.Float32()
			g.Mass[2*x], g.Mass[2*x+1] = p, 1-p
			g.Dist[2*x], g.Dist[2*x+1] = r.Float32(), r.Float32()
		}
		worst := func(first, second float64) float64 {
			most := 0.
			for x := range 3 {
				loss := 0.
				for y, p := range []float64{first, second} {
					loss += float64(g.Mass[2*x+y]) * (p*float64(g.Dist[2*x]) + (1-p)*float64(g.Dist[2*x+1]))
				}
				most = max(most, loss)
			}
			return most
		}
		w := testkit.Must(g.Play(t.Context(), []int{0, 0}, Gap, nil))
		have, best := worst(w[0]/(w[0]+w[1]), w[2]/(w[2]+w[3])), math.Inf(1)
		for i := range steps + 1 {
			for j := range steps + 1 {
				best = min(best, worst(float64(i)/steps, float64(j)/steps))
			}
		}
		if have > best*(1+Gap)+1e-6 {
			t.Errorf("%+v: %v, the best %v", g, have, best)
		}
	}
}

// Cells with lists answer what these have, and lose as little as in the game of these outputs alone.
func TestPlay_AnswersFromLists(t *testing.T) {
	r := random.Seeded(37)
	for range 10 {
		const n, c, k = 7, 5, 9
		g, few := &Game{N: n, C: c, K: k}, &Game{N: n, C: c, K: 3}
		list := r.Perm(k)[:few.K]
		for range n {
			p := make([]float64, c)
			for y := range p {
				p[y] = r.ExpFloat64()
			}
			for _, v := range p {
				g.Mass = append(g.Mass, float32(v/floats.Sum(p)))
			}
			for range k {
				g.Dist = append(g.Dist, r.Float32())
			}
			for _, j := range list {
				few.Dist = append(few.Dist, g.Dist[len(g.Dist)-k:][j])
			}
		}
		few.Mass = g.Mass
		answer := make([]int, c)
		for y := range c {
			g.Lists, answer[y] = append(g.Lists, list), list[0]
		}
		worst := func(weight []float64) float64 {
			most := 0.0
			for x := range n {
				loss := 0.0
				for y := range c {
					row := weight[y*few.K : (y+1)*few.K]
					for j, v := range row {
						loss += float64(g.Mass[x*c+y]) * float64(few.Dist[x*few.K+j]) * v / floats.Sum(row)
					}
				}
				most = max(most, loss)
			}
			return most
		}
		have, want := worst(testkit.Must(g.Play(t.Context(), answer, Gap, nil))), worst(testkit.Must(few.Play(t.Context(), make([]int, c), Gap, nil)))
		if math.Abs(have-want) > 2*Gap*want {
			t.Errorf("%v, with these outputs alone %v", have, want)
		}
	}
}

// In a cell that does not matter to the worst input answers are best for the mean, and else for the
// worst of those there.
func TestPlay_MeanDecidesTheRest(t *testing.T) {
	g := &Game{N: 4, C: 2, K: 2, Mass: []float32{1, 0, 1, 0, 0, 1, 0, 1}, Dist: []float32{1, 0, 0, 1, 0, 0.3, 0.2, 0.1}, Mean: 0.1}
	w := testkit.Must(g.Play(t.Context(), []int{0, 0}, 1e-3, nil))
	if w[3] > 0 || math.Abs(w[0]-w[1]) > 0.01*w[0] {
		t.Errorf("weights %v", w)
	}
	g.Mean = 0
	if w := testkit.Must(g.Play(t.Context(), []int{0, 0}, 1e-3, nil)); w[3] == 0 {
		t.Errorf("weights %v without the mean", w)
	}
}

// Where rounds try few of many outputs, what is told to be proved is so, by plain multiplicative
// weights on all of them.
func TestPlay_BoundIsOfAllOutputs(t *testing.T) {
	r := random.Seeded(36)
	for range 8 {
		g := &Game{N: 12, C: 3, K: 150}
		for range g.N {
			p, q := r.Float32()/2, r.Float32()/2
			g.Mass = append(g.Mass, p, q, 1-p-q)
			for range g.K {
				g.Dist = append(g.Dist, r.Float32())
			}
		}
		var gap float64
		w := testkit.Must(g.Play(t.Context(), make([]int, g.C), Gap, func(_ int, v float64) bool { gap = v; return true }))
		won, loss, prior, answer := make([]float64, g.N), make([]float64, g.N), make([]float64, g.N), make([]int, g.C)
		for x := range loss {
			for y := range g.C {
				row := w[y*g.K : (y+1)*g.K]
				for j, v := range row {
					loss[x] += float64(g.Mass[x*g.C+y]) * float64(g.Dist[x*g.K+j]) * v / floats.Sum(row)
				}
			}
		}
		have := slices.Max(loss)
		const rounds, rate = 2000, 0.1
		for range rounds {
			sum := 0.0
			for x, v := range won {
				prior[x] = math.Exp(rate * (v - slices.Max(won)))
				sum += prior[x]
			}
			floats.Scale(1/sum, prior)
			testkit.Check(t, g.Round(t.Context(), prior, answer, loss))
			floats.Add(won, loss)
		}
		if least := slices.Max(won) / rounds; have*(1-gap) > least || have > least*(1+Gap) {
			t.Errorf("a loss of %v, gap %v; plain weights %v", have, gap, least)
		}
	}
}
