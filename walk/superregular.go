package walk

// SuperregularOptions holds the options of [Superregular]. Nil and the zero
// value mean the defaults.
type SuperregularOptions struct {
	// PaperScale takes the scale L+2 of BSV22, L = log2 n, in place of L+1,
	// which is enough.
	PaperScale bool
}

// Superregular returns the random walk of n steps of BSV22, its Theorem on
// superregular walks: Laplace noise of scale L+1 on the Haar coefficients of the
// balanced binary tree of n leaves and of height L = log2 n rounded up, the
// total included.
//
// The increments Z have a joint density prop. to e^-V(z) and V, [Walk.Potential],
// is 1-Lipschitz in the l1 norm, like that of independent Laplace variates of
// scale 1: the walk is 1-regular. But its partial sums stay within a multiple of
// (log n)^(3/2) of 0 in place of the square root of n; [Walk.Variances] has them
// exactly.
//
// Added to a measure and scaled by 2/alpha it is alpha-private per unit of total
// variation. [ReplaceOne] with scales of 2L does better, since the total is known.
func Superregular(n int, o *SuperregularOptions) (*Walk, error) {
	t, err := Balanced(n, 2)
	if err != nil {
		return nil, err
	}
	b := t.Height() + 1
	if o != nil && o.PaperScale {
		b++
	}
	return New(t, KNorm, t.allScales(AddRemoveOne, float64(b)))
}
