package walk

import "slices"

// Scales holds the scales of the noise of a tree.
type Scales struct {
	// Total is the scale of the noise on the total, 0 for none.
	Total float64
	// Level holds, for l from 0 to Height()-1, the scale of the noise that the
	// nodes of depth l add to their children.
	Level []float64
}

// At returns the scales divided by alpha, each rounded up: where s has a loss of
// at most 1 per unit, the result has a loss of at most alpha. It must leave all
// of them in the bounds of [NewNoise].
func (s Scales) At(alpha float64) (Scales, error) {
	const op = "walk: Scales.At"
	if err := checkScale(op, "alpha", -1, alpha); err != nil {
		return Scales{}, err
	}
	s = Scales{quotientUp(s.Total, alpha), slices.Clone(s.Level)}
	for l, b := range s.Level {
		s.Level[l] = quotientUp(b, alpha)
	}
	return s, s.check(op, len(s.Level))
}

func (s Scales) check(op string, height int) error {
	if err := checkLen(op, "Level", len(s.Level), height); err != nil {
		return err
	}
	if s.Total != 0 {
		if err := checkScale(op, "Total", -1, s.Total); err != nil {
			return err
		}
	}
	for l, b := range s.Level {
		if err := checkScale(op, "Level", l, b); err != nil {
			return err
		}
	}
	return nil
}

// equal returns the scale that all levels, and a needed total, have in common.
func (s Scales) equal(rel Relation) (b float64, ok bool) {
	all := s.Level
	if rel == AddRemoveOne {
		all = append([]float64{s.Total}, all...)
	}
	if len(all) == 0 {
		return 0, false
	}
	return all[0], slices.Min(all) == slices.Max(all)
}

// EqualScales returns scales that are all alike and have a loss of exactly 1 per
// unit of rel: each is t.Sensitivity(rel), as an integer. Under ReplaceOne the
// total has none.
func (t *Tree) EqualScales(rel Relation) (Scales, error) {
	const op = "walk: Tree.EqualScales"
	if err := t.check(op); err != nil {
		return Scales{}, err
	}
	if err := rel.check(op); err != nil {
		return Scales{}, err
	}
	// At least 1: where nothing can differ, any scale will do.
	return t.allScales(rel, float64(max(1, t.Sensitivity(rel)))), nil
}

func (t *Tree) allScales(rel Relation, b float64) Scales {
	s := Scales{Level: slices.Repeat([]float64{b}, t.Height())}
	if rel == AddRemoveOne {
		s.Total = b
	}
	return s
}

// Normalize returns scales prop. to s whose [Tree.Loss] per unit of rel is at most
// 1 and above 1 - (Height()+2)*2^-48. Total must be positive where rel is
// AddRemoveOne; under ReplaceOne it is dropped. The results must be in the bounds
// of [NewNoise]. A tree that cannot tell any two inputs apart has scales of 1.
// O(nodes).
//
// Levels need not share the loss equally. Equal scales suit cells of an interval. For cells
// of R^d scales prop. to side^((d-1)/2) have the least a-priori bound; side^(1/4) did best
// in simulation for d = 2 and 3.
func (t *Tree) Normalize(rel Relation, s Scales) (Scales, error) {
	const op = "walk: Tree.Normalize"
	if rel == ReplaceOne {
		s.Total = 0
	} else if err := checkScale(op, "Total", -1, s.Total); err != nil {
		return Scales{}, err
	}
	loss, err := t.lossOf(op, rel, s)
	if err != nil {
		return Scales{}, err
	}
	if loss == 0 {
		return t.allScales(rel, 1), nil
	}
	// Loss rounds up, by about one ulp an addition; a few steps of the factor
	// bring it to 1 or below. Deep trees need larger steps.
	step := float64(0x1p-52 * float64(t.Height()+2))
	out := Scales{Level: make([]float64, len(s.Level))}
	for f := loss; ; f *= 1 + step {
		out.Total = s.Total * f
		for l, b := range s.Level {
			out.Level[l] = b * f
		}
		loss, err := t.lossOf(op, rel, out)
		if err != nil {
			return Scales{}, err
		}
		if loss <= 1 {
			return out, nil
		}
	}
}
