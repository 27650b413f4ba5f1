package exponential

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
)

// Choice is what [Best] or lp.Choose took and what it passed over.
type Choice struct {
	Mechanism
	// Objective is its loss, worst case or under the prior, in the unit of the utility
	// metric; of lp.Choose rounded up.
	Objective float64
	// LowerBound is proved by lp.Choose: no alpha-private mechanism on the points, with
	// these outputs, loses less. BoundBy says by what, "" and 0 where nothing is proved.
	LowerBound float64
	BoundBy    string
	Gap        float64 // (Objective - LowerBound)/Objective, 0 where both are 0
	// Adversary is the error of the best guess of the input from the output, under the prior and the
	// utility metric ([mechanism.Channel.AdversaryError]): NaN without a prior.
	Adversary  float64
	Candidates []Candidate // all, in the order in which they were considered
	Elapsed    time.Duration
}

// Candidate is a construction that was considered.
type Candidate struct {
	Method Method
	Loss   float64 // as Objective; +Inf where there is no mechanism
	Level  float64 // audited; NaN where there is none
	// Adversary is as in [Choice]: NaN without a mechanism or a prior.
	Adversary float64
	Took      time.Duration // from the start of this construction to its end
	// Err is why there is no mechanism. Beside a mechanism it says that the
	// context stopped the search for a better one.
	Err error
}

// MarshalJSON implements json.Marshaler: objective, bound, method with rate, candidates,
// and "channel" by [mechanism.Channel.WriteJSON].
func (c Choice) MarshalJSON() ([]byte, error) {
	if c.Channel == nil {
		return nil, errors.New("exponential: Choice.MarshalJSON: a Choice without a mechanism: Best and lp.Choose make one")
	}
	return json.Marshal(struct {
		Objective  float64            `json:"objective"`
		LowerBound float64            `json:"lowerBound"`
		BoundBy    string             `json:"boundBy,omitempty"`
		Gap        float64            `json:"gap"`
		Adversary  *float64           `json:"adversary,omitempty"`
		Method     Method             `json:"method"`
		Beta       float64            `json:"rate,omitempty"`
		Elapsed    float64            `json:"seconds"`
		Candidates []Candidate        `json:"candidates"`
		Channel    *mechanism.Channel `json:"channel"`
	}{c.Objective, c.LowerBound, c.BoundBy, c.Gap, orNil(c.Adversary), c.Method, c.Beta, c.Elapsed.Seconds(), c.Candidates, c.Channel})
}

// MarshalJSON implements json.Marshaler: method, loss and level or error, and seconds.
func (c Candidate) MarshalJSON() ([]byte, error) {
	text := struct {
		Method    Method   `json:"method"`
		Loss      *float64 `json:"loss,omitempty"`
		Level     *float64 `json:"level,omitempty"`
		Adversary *float64 `json:"adversary,omitempty"`
		Took      float64  `json:"seconds"`
		Err       string   `json:"error,omitempty"`
	}{Method: c.Method, Took: c.Took.Seconds()}
	if c.Loss <= math.MaxFloat64 {
		text.Loss, text.Level, text.Adversary = &c.Loss, &c.Level, orNil(c.Adversary)
	}
	if c.Err != nil {
		text.Err = c.Err.Error()
	}
	return json.Marshal(text)
}

// orNil is nil for NaN, which JSON cannot write.
func orNil(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// UnmarshalJSON is always an error: [mechanism.ReadChannel] audits what it reads.
func (c *Choice) UnmarshalJSON([]byte) error {
	return errors.New(`exponential: Choice.UnmarshalJSON: a channel has to be audited under its metric: decode the member "channel" by mechanism.ReadChannel`)
}

// String is a line for loss, bound and mechanism, and one for each candidate.
func (c *Choice) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "loss %.6g%s", c.Objective, adversaryClause(c.Adversary))
	if c.BoundBy != "" {
		fmt.Fprintf(&s, ", bound %.6g (%s),", c.LowerBound, c.BoundBy)
	}
	fmt.Fprintf(&s, " by %v", &c.Mechanism)
	for _, k := range c.Candidates {
		fmt.Fprintf(&s, "\n  %v", k)
	}
	return s.String()
}

// adversaryClause is one for the error of an adversary, where there is one.
func adversaryClause(adversary float64) string {
	if adversary > 0 {
		return fmt.Sprintf(", adversary's error %.6g", adversary)
	}
	return ""
}

// String is a line: the method with its loss and level, or why it has none.
func (c Candidate) String() string {
	why := ""
	if c.Err != nil {
		why = fault.Reason(c.Err, "lp", "exponential", string(c.Method))
	}
	switch {
	case math.IsInf(c.Loss, 1):
		return fmt.Sprintf("%s: none: %s", c.Method, why)
	case why != "":
		why = " (" + why + ")"
	}
	return fmt.Sprintf("%s: loss %.6g%s at level %.6g%s", c.Method, c.Loss, adversaryClause(c.Adversary), c.Level, why)
}
