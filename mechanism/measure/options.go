package measure

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/walk"
)

// Relation says which data sets are neighbors.
type Relation = walk.Relation

const (
	// ReplaceOne makes two data sets of the same size neighbors where they differ in one record.
	// The number of records is public.
	ReplaceOne = walk.ReplaceOne
	// AddRemoveOne makes them neighbors where one has a record more. That number is private and
	// noised.
	AddRemoveOne = walk.AddRemoveOne
)

// SynthesizerOptions are for [NewSynthesizer]; nil and zero mean the defaults.
type SynthesizerOptions struct {
	// Relation names the neighbors that are protected from one another.
	Relation Relation
	// PerPerson, where not 0, makes eps the level of a person with all records, of which there are
	// at most so many ([CountPersons]): a record gets eps/PerPerson. Relation must be AddRemoveOne.
	PerPerson int
	// Levels, where not nil, divides all regions alike: after j divisions the next one takes
	// Levels[j] levels of the domain's tree at once. The default goes as deep as the noisy counts
	// say.
	Levels []int
	// Shares are the parts of the budget that the divisions get, up to a factor; nil means equal
	// ones. Only with Levels.
	Shares []float64
	// Prune stops at regions whose noisy mass is at most Prune times the scale of their parts'
	// noise, such as 2; 0 divides all. Only with Levels.
	Prune float64
	// MaxCells is how many regions a release may have; 0 means 2^22.
	MaxCells int
}

// rule applies the defaults, or says what is wrong for the domain.
func (o *SynthesizerOptions) rule(op string, t region.Tree) (adaptive.Rule, error) {
	if o.MaxCells < 0 {
		return nil, fault.Value(op, "MaxCells", float64(o.MaxCells), "an integer >= 0")
	}
	o.MaxCells = cmp.Or(o.MaxCells, 1<<22)
	if o.Levels == nil {
		if o.Shares != nil {
			return nil, &fault.SizeError{Op: op, Arg: "Shares", Got: len(o.Shares), Want: "0, without Levels"}
		}
		if o.Prune != 0 {
			return nil, fault.Value(op, "Prune", o.Prune, "0 without Levels")
		}
		return adaptive.Adaptive{}, nil
	}
	f := adaptive.Fixed{Steps: slices.Clone(o.Levels), Shares: slices.Clone(o.Shares), Prune: o.Prune}
	if err := fault.NonNegative(op, "Prune", o.Prune); err != nil {
		return nil, err
	}
	if f.Shares == nil {
		f.Shares = slices.Repeat([]float64{1}, len(f.Steps))
	}
	if len(f.Shares) != len(f.Steps) {
		return nil, &fault.SizeError{Op: op, Arg: "Shares", Got: len(f.Shares), Want: fmt.Sprintf("%d, as Levels", len(f.Steps))}
	}
	sum, height := 0, t.Height(region.Node{})
	for j, n := range f.Steps {
		if n < 1 || n > height-sum {
			return nil, &fault.ValueError{Op: op, Arg: "Levels", Index: j, Value: float64(n), Want: fmt.Sprintf("an integer >= 1, in all at most %d", height)}
		}
		if sum += n; sum == f.Steps[0] || f.Prune == 0 {
			if n := t.Width(region.Node{}, sum); n > o.MaxCells {
				return nil, &fault.ValueError{Op: op, Arg: "Levels", Index: j, Value: float64(f.Steps[j]), Want: fmt.Sprintf("fewer: %d regions are more than MaxCells", n)}
			}
		}
		if s := f.Shares[j]; !(s >= 1e-9 && s <= 1e9) {
			return nil, &fault.ValueError{Op: op, Arg: "Shares", Index: j, Value: s, Want: "a number in [1e-9, 1e9]"}
		}
	}
	return f, nil
}
