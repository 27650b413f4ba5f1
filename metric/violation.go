package metric

import "fmt"

// The laws that [Validate] and the constructors check: the Axiom of a [Violation].
const (
	FiniteValue    = "0 <= d(i,j) < Inf"
	ZeroSelf       = "d(i,i) = 0"
	Symmetry       = "d(i,j) = d(j,i)"
	Identity       = "d(i,j) > 0 for i != j"
	Triangle       = "d(i,j) <= d(i,k) + d(k,j)"
	UltrametricLaw = "d(i,j) <= max(d(i,k), d(k,j))"
)

// Violation is the error that carries a witness against a law: the points I and J, for three-point
// laws also K (otherwise -1), and by how much the law fails.
type Violation struct {
	Op      string // the call, as in "metric: Validate"
	Axiom   string
	I, J, K int
	Excess  float64 // by how much, in the unit of the metric
}

func (v *Violation) Error() string {
	op, k := "", ""
	if v.Op != "" {
		op = v.Op + ": "
	}
	if v.K >= 0 {
		k = fmt.Sprintf(", k=%d", v.K)
	}
	return fmt.Sprintf("%s%s fails at i=%d, j=%d%s by %v", op, v.Axiom, v.I, v.J, k, v.Excess)
}
