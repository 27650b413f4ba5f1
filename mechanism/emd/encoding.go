package emd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// claim is a guarantee in JSON.
type claim struct {
	Trust    string      `json:"trust,omitempty"`
	Users    int         `json:"users,omitempty"` // none in the local trust
	Items    int         `json:"items,omitempty"` // none: any number
	Diameter float64     `json:"diameter,omitempty"`
	Unit     metric.Unit `json:"unit,omitempty"`
	Radius   float64     `json:"radius,omitempty"` // of a discrete promise
	Eps      *float64    `json:"eps,omitempty"`    // of a discrete promise; none: promises nothing
	Alpha    *float64    `json:"alpha,omitempty"`  // of one per unit; none: promises nothing
	Delta    float64     `json:"delta,omitempty"`
	Reach    float64     `json:"reach,omitempty"` // none: all distances
}

// MarshalJSON implements json.Marshaler: the model, and the level in it, as
// {"trust":"central","users":100,"diameter":20,"unit":"km","alpha":0.1}, with "items" in a bounded
// model and "delta" where it is positive. A discrete promise has "radius" and "eps" for "alpha".
func (g Guarantee) MarshalJSON() ([]byte, error) {
	m := g.model
	if err := fault.Name("emd: Guarantee.MarshalJSON", "unit", string(m.Unit)); err != nil {
		return nil, err
	}
	c := claim{Items: m.Items, Diameter: m.Diameter, Unit: m.Unit, Radius: g.radius, Delta: g.level.Delta()}
	if g != (Guarantee{}) {
		c.Trust = m.Trust.String()
	}
	if m.Trust != Local {
		c.Users = m.Users
	}
	if a := g.level.Alpha(); !math.IsInf(a, 1) {
		if g.radius > 0 {
			c.Eps = &a
		} else {
			c.Alpha = &a
		}
	}
	if r := g.level.Reach(); !math.IsInf(r, 1) {
		c.Reach = r
	}
	return json.Marshal(c)
}

// UnmarshalJSON implements json.Unmarshaler. What is read is a claim of whoever wrote it, checked as by
// [NewGuarantee] and [NewDiscrete]; other names are an error, and an error leaves g as it is.
func (g *Guarantee) UnmarshalJSON(b []byte) error {
	const op = "emd: Guarantee.UnmarshalJSON"
	var c claim
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := fault.Name(op, "unit", string(c.Unit)); err != nil {
		return err
	}
	var have Guarantee
	if c != (claim{}) {
		var err error
		if have, err = c.guarantee(op); err != nil {
			return err
		}
	}
	*g = have
	return nil
}

func (c claim) guarantee(op string) (Guarantee, error) {
	trust := Trust(slices.Index(trusts[:], c.Trust))
	switch {
	case trust < Local:
		return Guarantee{}, fmt.Errorf("%s: trust = %.40q, want local, shuffled or central", op, c.Trust)
	case trust == Local && c.Users != 0:
		return Guarantee{}, fault.Value(op, "users", float64(c.Users), "none in the local trust")
	case c.Radius == 0 && c.Eps != nil || c.Radius != 0 && (c.Alpha != nil || c.Reach != 0):
		return Guarantee{}, fmt.Errorf("%s: want radius and eps of a discrete promise, or alpha and reach of one per unit", op)
	}
	model := Model{Trust: trust, Users: c.Users, Items: c.Items, Diameter: c.Diameter, Unit: c.Unit}
	stated := func(level *float64) float64 {
		if level == nil {
			return math.Inf(1)
		}
		return *level
	}
	if c.Radius != 0 {
		return newDiscrete(op, model, c.Radius, DP{stated(c.Eps), c.Delta})
	}
	model, err := model.Check(op)
	if err != nil {
		return Guarantee{}, err
	}
	var level mechanism.Guarantee
	if c.Alpha != nil || c.Delta != 0 || c.Unit != "" {
		level, err = mechanism.NewGuarantee(stated(c.Alpha), c.Delta, c.Unit)
	}
	if err == nil && c.Reach != 0 {
		level, err = level.Within(c.Reach)
	}
	if err != nil {
		return Guarantee{}, fmt.Errorf("%s: %w", op, err)
	}
	return Guarantee{level: level, model: model}, nil
}
