package measure

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/apportion"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
)

// Release is what a [Synthesizer] publishes: a measure on the cells of its
// domain. Everything about it is private at the Synthesizer's level, however
// often it is used. It must not be modified.
type Release[P any] struct {
	// Weights are the masses of the cells, or of the regions that a lazy domain
	// was unfolded to: multiples of 2^-52 that are >= 0 and sum to 1 exactly,
	// unless the estimator is Signed.
	Weights []float64
	// Total is the number of records under ReplaceOne, and the noisy number
	// under AddRemoveOne, which may even be negative.
	Total float64

	s     *Synthesizer[P]
	nodes []node  // of the weights; nil where they are the cells
	moved float64 // W1 from the centered counts to the weights, at most
}

func (r *Release[P]) check(op string) error {
	return fault.Made(r != nil && r.s != nil, op, "Release", "Synthesizer.Release")
}

// Point returns the point at which Weights[i] lies.
func (r *Release[P]) Point(i int) P {
	fault.Must(r, r.check("measure: Release.Point"))
	v := r.node(i)
	return r.s.d.at(nil, v)
}

func (r *Release[P]) node(i int) node {
	if r.nodes != nil {
		return r.nodes[i]
	}
	return r.s.d.cell(r.s.d.index(i))
}

// RecordOptions are for [Release.Records]. Nil and zero mean the defaults.
type RecordOptions struct {
	// Sample draws records independently from the measure, in place of giving
	// every cell its share of the m records to within 1.
	Sample bool
	// Jitter spreads the records of a cell uniformly over it, where it has
	// volume, in place of putting them all at its point.
	Jitter bool
	// Shuffle puts the records in random order; they are sorted by cell
	// otherwise.
	Shuffle bool
}

const (
	maxRecords = math.MaxInt32 // that a measure is divided into
	recordSize = 40            // about the memory of a record: a slice and two numbers
)

// Records returns m synthetic records, or Total rounded, at least 1, where m is
// 0. By default their empirical measure is that of the weights in multiples of
// 1/m, within 1/m for every node of the tree (Corollary 7.3 of BSV22; see
// [Release.Multiplicities]). rng is read where options ask for randomness. A
// Signed measure has none; some 400 million are a *[metric.MemoryError].
func (r *Release[P]) Records(rng *rand.Rand, m int, o *RecordOptions) ([]P, error) {
	opt := orZero(o)
	n, m, err := r.multiplicities("measure: Release.Records", m)
	if err != nil {
		return nil, err
	}
	if err := fault.Memory("measure: Release.Records", float64(m), recordSize); err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	if opt.Sample {
		clear(n)
		t := exact.NewTable(exact.Weights{W: r.Weights})
		for range m {
			n[t.Draw(rng)]++
		}
	}
	var within *rand.Rand
	if opt.Jitter {
		within = rng
	}
	records := make([]P, 0, m)
	for i, k := range n {
		v := r.node(i)
		for range k {
			records = append(records, r.s.d.at(within, v))
		}
	}
	if opt.Shuffle {
		rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	}
	return records, nil
}

// Multiplicities returns how many of m records each weight stands for, in sum m
// exactly: m times the sums of the first weights, rounded to integers, and their
// differences. Every run of cells, and so every node of the tree, gets its
// share to within 1. m = 0 is as in Records.
func (r *Release[P]) Multiplicities(m int) ([]int64, error) {
	n, _, err := r.multiplicities("measure: Release.Multiplicities", m)
	return n, err
}

func (r *Release[P]) multiplicities(op string, m int) ([]int64, int, error) {
	if err := r.check(op); err != nil {
		return nil, 0, err
	}
	if m == 0 {
		m = int(max(1, min(maxRecords, math.Round(r.Total))))
	}
	if m < 0 || m > maxRecords {
		return nil, 0, fault.Value(op, "m", float64(m), fmt.Sprintf("an integer in [0, %d]", maxRecords))
	}
	if r.s.p.opt.Estimator == Signed {
		return nil, 0, fmt.Errorf("%s: a Signed measure has no records", op)
	}
	n := make([]int64, len(r.Weights))
	apportion.Divide(r.Weights, int64(m), n)
	return n, m, nil
}

// Mean returns the integral of f under the released measure.
func (r *Release[P]) Mean(f func(P) float64) float64 {
	fault.Must(r, r.check("measure: Release.Mean"))
	sum := 0.0
	for i, w := range r.Weights {
		if w != 0 {
			sum += float64(w * f(r.Point(i)))
		}
	}
	return sum
}

// Confidence bounds the error of all Lipschitz statistics at once: with
// probability at least prob over the noise, such as 0.95, for every f with
// |f(x) - f(y)| <= lipschitz*Distance(x, y),
//
//	|Mean(f) - mean of f over the points of the records' cells| <= Confidence.
//
// For the records themselves add lipschitz*Resolution(). prob lies in (0, 1).
//
// The bound is rigorous and computed from the release alone: W1 is at most the
// distance of the weights from the centered counts, which are both released, and
// of these from the truth, which is noise: the a-priori bound covers its mean,
// and a Chernoff bound its deviation. It is no more than lipschitz times
// [Domain.Diameter], which is all that is claimed for a lazy domain; but a Signed
// measure may be farther off, and then the bound is larger, up to +Inf. O(nodes).
func (r *Release[P]) Confidence(lipschitz, prob float64) (float64, error) {
	const op = "measure: Release.Confidence"
	if err := r.check(op); err != nil {
		return 0, err
	}
	if !(lipschitz >= 0) || math.IsInf(lipschitz, 1) {
		return 0, fault.Value(op, "lipschitz", lipschitz, "a finite number >= 0")
	}
	if !(prob > 0 && prob < 1) {
		return 0, fault.Value(op, "prob", prob, "a number in (0, 1)")
	}
	beta := directed.SubDown(1, prob) // of failure
	p := r.s.p
	most := lipschitz * p.diameter
	if p.opt.Estimator == Signed {
		most = math.Inf(1)
	}
	if p.tree == nil {
		return most, nil
	}
	records, shift := r.Total, 0.0
	if b := p.scales.Total; b > 0 {
		// |noise of the total| <= q but for beta/2, as P{|K| >= q} <= 2e^(-q/b).
		// It moves the total and the mass that is spread at will.
		beta /= 2
		q := float64(b * math.Log(2/beta))
		records, shift = max(1, r.Total)-q, q*p.diameter
		if records <= 0 {
			return most, nil
		}
	}
	moved := r.moved * max(1, r.Total) / records
	w1 := (p.signedCost()+p.tail(beta)+shift)/records + moved
	return min(most, lipschitz*w1*roundUp), nil
}

// tail returns t such that the W1 cost of the noise exceeds its mean by more
// than t with a probability of at most beta.
//
// The cost F is a function of independent variates z_i, and moves by at most
// rho_i |dz_i|: a change of one child's noise dz shifts that much mass within
// its node, whose diameter is rho, and for Haar noise half of it. Let D_i be
// the martingale differences of F. Given the others, and with an independent
// copy z' of z_i, E e^(theta D_i) <= E e^(theta(F(z_i)-F(z'))) by Jensen, a
// symmetric variable, so <= E cosh(theta rho_i |z_i-z'|) = (E e^(theta rho_i
// z))^2, which is at most (1-(theta rho_i b)^2)^-2 for the Laplace distribution
// of scale b, and less for the discrete one: there (cosh x - 1)/x^2 increases.
// Chernoff's bound is then minimized over theta.
func (p *plan) tail(beta float64) float64 {
	type term struct{ count, width float64 }
	var terms []term
	widest := 0.0
	for _, s := range p.shape {
		if s.arity < 2 {
			continue
		}
		t := term{float64(s.nodes * s.arity), s.diameter * p.scales.Level[s.depth]}
		if p.opt.Distribution == DiscreteHaar {
			t.count, t.width = float64(s.nodes), t.width/2
		}
		terms = append(terms, t)
		widest = max(widest, t.width)
	}
	if widest == 0 {
		return 0
	}
	at := func(u float64) float64 { // theta = u/widest
		sum := -directed.Log(beta)
		for _, t := range terms {
			x := u * t.width / widest
			sum -= float64(2 * t.count * math.Log1p(-x*x))
		}
		return sum / u * widest
	}
	best := math.Inf(1)
	for i := 1; i < 200; i++ { // any theta gives a valid bound
		best = min(best, at(math.Exp2(-float64(i)/10)*0.999))
	}
	return best
}
