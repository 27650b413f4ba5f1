package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/query"
)

// choose fixes the moves that are to be hidden and, where it is not given, alpha.
func (s *study) choose() error {
	if s.places != nil {
		s.rows = []emd.Move{{Distance: s.move, Fraction: 1, Eps: s.eps}}
		if 10*s.move <= s.wide {
			s.rows = append(s.rows, emd.Move{Distance: 10 * s.move, Fraction: 0.1, Eps: s.eps})
		}
	} else {
		s.rows = []emd.Move{{Distance: 1, Fraction: s.move, Eps: s.eps}}
	}
	if s.alpha > 0 {
		return nil
	}
	var err error
	s.alpha, err = emd.ChooseAlpha(s.rows)
	return err
}

// level is what a release is to keep: a level of d_EM-privacy, or one of ordinary
// differential privacy for users.
type level struct {
	alpha float64 // per unit of d_EM, or 0
	eps   float64 // else
}

func (l level) String() string {
	if l.alpha > 0 {
		return fmt.Sprintf("d_EM, alpha = %.4g", l.alpha)
	}
	return fmt.Sprintf("user DP, eps = %.4g", l.eps)
}

// Places in what levels returns.
const (
	sameMoves = iota // user-level privacy that promises as much for the moves
	ours             // the level of the guarantee itself
	sameUser         // user-level privacy that promises as much for a whole user
)

// levels are what is compared for a guarantee under d_EM.
func (s *study) levels(g emd.Guarantee) ([3]level, error) {
	hidden, err := s.moves(g, false)
	return [3]level{{eps: hidden}, {alpha: g.Alpha()}, {eps: g.UserLevel().Eps}}, err
}

// moves is the level at which a guarantee hides every one of the moves; changed
// says that its distance is the share of a user's items that change, however far.
func (s *study) moves(g emd.Guarantee, changed bool) (float64, error) {
	rows := slices.Clone(s.rows)
	if changed {
		for i := range rows {
			rows[i].Distance = 1
		}
	}
	promises, err := g.Protects(rows)
	worst := 0.0
	for _, q := range promises {
		worst = max(worst, q.Eps)
	}
	return worst, err
}

// noisy is the mean of per-user means of a query with noise. At a level of
// user-level privacy the distance of two users is the share of their items that
// differ: any two items are at distance 1, and reach bounds how far apart the
// values of the query are then.
func noisy[P any](ctx context.Context, q query.Query[P], reach float64, model emd.Model, l level, o *query.LinearOptions[P]) (*query.Linear[P], error) {
	model.Items = 0
	if l.alpha > 0 {
		return query.NewLinear(ctx, q, model, emd.Promise{Alpha: l.alpha}, o)
	}
	q.Lipschitz, model.Diameter, model.Unit = reach, 1, ""
	return query.NewLinear(ctx, q, model, emd.Promise{Alpha: l.eps}, nil)
}

// guarantee is what a release at alpha promises, to users of any number of items.
func (s *study) guarantee(ctx context.Context) (emd.Guarantee, error) {
	if s.places == nil {
		l, err := s.shares(ctx, level{alpha: s.alpha})
		if err != nil {
			return emd.Guarantee{}, err
		}
		return l.Guarantee(), nil
	}
	l, err := s.mean(ctx, center(), level{alpha: s.alpha})
	if err != nil {
		return emd.Guarantee{}, err
	}
	return l.Guarantee(), nil
}

// hopeless is a level beyond which no one would speak of protection: a factor
// e^10 = 22,000.
const hopeless = 10

// introduce says who the users are and what is promised to them.
func (s *study) introduce(p *demo.Program, g emd.Guarantee, levels [3]level) error {
	promises, err := g.Protects(s.rows)
	if err != nil {
		return err
	}
	per := "share of a user's items that change (d_EM)"
	if s.places != nil {
		per = "km that a user's items move on average (d_EM)"
	}
	p.Remark("%d users of %s hold %d items. What is protected is all that one user holds.\n", len(s.items), s.file, s.total())
	p.Remark("alpha = %.4g per %s promises:", s.alpha, per)
	for _, q := range promises {
		p.Remark("  %v (eps = %.4g);", q, q.Eps)
	}
	whole, not := levels[sameUser].eps, ""
	if whole > hopeless {
		not = ", that is, not at all"
	}
	p.Remark("  putting any other user in its place is protected at eps = %.4g only%s.", whole, not)
	p.Remark("Ordinary user-level differential privacy (user DP) beside it: at eps = %.4g it promises as much for these moves, and for", levels[sameMoves].eps)
	p.Remark("any other change too; at eps = %.4g as much for a whole user, and no more than that for the moves.", whole)
	p.Remark("The columns eps are what is promised for the moves and for a whole user: less is better.\n")
	return nil
}
