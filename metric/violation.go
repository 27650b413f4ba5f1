package metric

import "fmt"

// Axiom names a law of metrics.
type Axiom string

// The laws that [Validate] and the constructors check.
const (
	FiniteValue    Axiom = "0 <= d(i,j) < Inf"
	ZeroSelf       Axiom = "d(i,i) = 0"
	Symmetry       Axiom = "d(i,j) = d(j,i)"
	Identity       Axiom = "d(i,j) > 0 for i != j"
	Triangle       Axiom = "d(i,j) <= d(i,k) + d(k,j)"
	UltrametricLaw Axiom = "d(i,j) <= max(d(i,k), d(k,j))"
)

// Violation is the error that carries a witness against a law: the points I and J, for
// three-point laws also K (otherwise -1), and by how much the law fails.
type Violation struct {
	Op      string // the call, as in "metric: Validate"
	Axiom   Axiom
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
