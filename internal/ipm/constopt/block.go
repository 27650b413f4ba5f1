package constopt

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/ipm"
)

// pinned is the room below which an unknown counts as determined, because
// rounding of large budgets hides it and multipliers grow as 1/room. Its input
// is then treated as outside, which is a restriction: the channel stays
// private.
const pinned = 1e-7

// block is the program of one output: unknowns first..first+len(in) or one less
// where no input is outside, rows row..end.
type block struct {
	in       []int32 // inputs of the unknowns but Y
	outside  bool    // there is a Y, after those
	first    int     // first unknown
	row, end int
	inverse  int // first entry of the inverse of the block of in
	chol     int // first entry of the factor
}

// row is the privacy row s = beta m_to - alpha m_from >= 0, by the unknowns of its block.
type row struct {
	from, to            int32
	alpha, beta, budget float64 // exp(-budget/2), exp(budget/2)
}

// slack is s for the unknowns v of the block.
func (r *row) slack(v []float64) float64 { return r.beta*v[r.to] - r.alpha*v[r.from] }

func (b *block) size() int {
	if b.outside {
		return len(b.in) + 1
	}
	return len(b.in)
}

func (s *solver) distance(u, v int) float64 {
	return min(s.p.Budget[u*s.n+v], ipm.MaxBudget)
}

// newBlock lists the unknowns of output w at the distances d, and appends its
// rows. In units of exp(-d) the budget of a row (p, q) is
//
//	e(a,b) + d[a] - d[b]                        a, b inside
//	min over v outside of e(a,v) + d[a] - d[v]  from a to Y
//	min over v outside of e(a,v) - d[a] + d[v]  from Y to a
//
// all >= 0, since d itself, all unknowns 1, is private.
func (s *solver) newBlock(w int, d []float64) block {
	outside := make([]bool, s.n)
	for u := range outside {
		outside[u] = true
	}
	for _, u := range s.p.Inside[w] {
		outside[u] = false
	}
	up, down := make([]float64, s.n), make([]float64, s.n)
	lower := func(u, v int) { // v is outside
		e := s.distance(u, v)
		up[u], down[u] = min(up[u], e+d[u]-d[v]), min(down[u], e-d[u]+d[v])
	}
	// The room of every unknown of I(w) against those outside. One without is outside.
	in := make([]int32, 0, len(s.p.Inside[w]))
	for _, u := range s.p.Inside[w] {
		up[u], down[u] = math.Inf(1), math.Inf(1)
		for v := range s.n {
			if outside[v] {
				lower(u, v)
			}
		}
		in = append(in, int32(u))
	}
	for again := true; again; { // an input that is pinned may pin others
		again = false
		for k, u := range in {
			if up[u]+down[u] >= pinned {
				continue
			}
			in, outside[u] = slices.Delete(in, k, k+1), true
			for _, a := range in {
				lower(int(a), int(u))
			}
			again = true
			break
		}
	}
	b := block{in: in, outside: len(in) < s.n, row: len(s.rows)}
	for i, u := range in {
		for j, v := range in[:i] {
			e := s.distance(int(u), int(v))
			s.addRow(j, i, e+d[v]-d[u])
			s.addRow(i, j, e+d[u]-d[v])
		}
	}
	if b.outside {
		for i, u := range in {
			s.addRow(i, len(in), up[u])
			s.addRow(len(in), i, down[u])
		}
	}
	if b.size() == 1 { // the only row is m >= 0
		s.rows = append(s.rows, row{beta: 1})
	}
	b.end = len(s.rows)
	return b
}

// addRow appends the row (p, q) of budget e. What rounding made negative is 0.
func (s *solver) addRow(p, q int, e float64) {
	e = max(0, e)
	s.rows = append(s.rows, row{int32(p), int32(q), math.Exp(-e / 2), math.Exp(e / 2), e})
}
