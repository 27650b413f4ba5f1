package lp

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// checkChoice checks what every choice promises.
func checkChoice(t *testing.T, b metric.Bimetric, alpha float64, prior []float64, s *exponential.Choice) {
	t.Helper()
	a, err := s.Audit(t.Context(), b.Privacy, nil)
	// The constant mechanism needs no audit, whose rounding is some 1e-24.
	if err != nil || a.Hi > alpha && s.Method != exponential.MethodConstant || s.Channel.Guarantee().Alpha() > alpha {
		t.Errorf("audit %v, guarantee %v, alpha %v: %v", a, s.Channel.Guarantee(), alpha, err)
	}
	loss := lossOf(t, s.Channel, b.Utility, prior)
	// What the channel says is 0 may be a probability below 2^-1022.
	far := max(1, s.Candidates[0].Loss) // the constant's: as large as distances, but for a factor
	if !(loss <= s.Objective && s.Objective <= loss*(1+1e-8)+1e-300*far) || s.LowerBound > s.Objective {
		t.Errorf("loss %v, objective %v, bound %v by %q", loss, s.Objective, s.LowerBound, s.BoundBy)
	}
	checkAdversary(t, s.Adversary, s.Channel, b.Utility, prior)
	taken := 0
	for _, k := range s.Candidates {
		if k.Loss < s.Objective || k.Level > alpha {
			t.Errorf("%+v passed over for %v", k, s.Objective)
		}
		if math.IsInf(k.Loss, 1) != (k.Err != nil) {
			t.Errorf("%+v: a loss or an error", k)
		}
		if k.Method == s.Method {
			if k.Adversary != s.Adversary && prior != nil {
				t.Errorf("%+v, an adversary's error of %v", k, s.Adversary)
			}
			taken++
		}
	}
	if taken != 1 {
		t.Errorf("%q is %d times among the candidates", s.Method, taken)
	}
}

func candidate(t *testing.T, s *exponential.Choice, method exponential.Method) exponential.Candidate {
	t.Helper()
	for _, k := range s.Candidates {
		if k.Method == method {
			return k
		}
	}
	t.Fatalf("no %q among %+v", method, s.Candidates)
	return exponential.Candidate{}
}

// Every method releases the outputs that were asked for, points or not, and is valued
// by the loss that was; the best is the optimum of [Optimal] where there is time for it.
func TestChoose_OutputsAndLoss(t *testing.T) {
	f := space.Halton(40)
	squares := make(lossTable, 40)
	for x := range squares {
		squares[x] = make([]float64, 200)
		for y := range squares[x] {
			d := f.Distance(x, y%40)
			squares[x][y] = d * d
		}
	}
	b := metric.Same(f)
	for _, o := range []Options{
		{Outputs: []int{2, 11, 5, 30}},
		{Outputs: []int{102, 2, 11, 105, 130}, Loss: squares.Distance},
		{Outputs: []int{102, 111, 105, 130}, Loss: squares.Distance, Prior: testkit.Distribution(random.Seeded(2), 40, nil)},
	} {
		at := b
		if o.Loss != nil {
			at.Utility = squares
		}
		want := testkit.Must(Optimal(t.Context(), b, 4, &Options{Outputs: o.Outputs, Loss: o.Loss, Prior: o.Prior}))
		for _, o.TimeLimit = range []time.Duration{0, 1} {
			s := testkit.Must(Choose(t.Context(), metric.Bimetric{Privacy: f, Utility: at.Utility}, 4, &o))
			checkChoice(t, at, 4, o.Prior, s)
			if k := candidate(t, s, exponential.MethodRemapped); o.Loss != nil && k.Err != errLoss {
				t.Errorf("%+v", k)
			}
			for y := range s.Outputs() {
				if !slices.Contains(o.Outputs, s.Output(y)) {
					t.Errorf("%s releases %d", s.Method, s.Output(y))
				}
			}
			if s.LowerBound > want.Objective || s.Objective < want.DualBound || o.TimeLimit == 0 && s.Objective > want.Objective*(1+1e-5) || !(s.Gap < .5) {
				t.Errorf("%v, optimal %v", s, want)
			}
		}
	}
}

func TestChoose_Canceled(t *testing.T) {
	// Stopped as the third method would begin: the first two stand.
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	b := metric.Same(space.Halton(20))
	s, err := Choose(ctx, b, 10, &Options{Progress: func(method int, gap float64, _ time.Duration) {
		if !(gap > 0 && gap <= 1) {
			t.Errorf("method %d: gap %v", method, gap)
		}
		if method == 2 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) || s == nil || len(s.Candidates) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	checkChoice(t, b, 10, nil, s)
	// Stopped before anything began.
	if s, err := Choose(ctx, b, 10, nil); !errors.Is(err, context.Canceled) || s != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// Whatever method fails, on spaces on which rounding shows, Choose has a mechanism that loses
// no more than the standard one.
func TestChoose_WorksWhereStandardDoes(t *testing.T) {
	r := random.Seeded(31)
	for i := range testkit.Sweep(12, 400) {
		f, alpha := space.Hard(r)
		b := metric.Same(f)
		if i%4 == 3 {
			b.Utility = space.Uniform(f.Len(), r)
		}
		c, err := Choose(t.Context(), b, alpha, &Options{TimeLimit: 100 * time.Millisecond})
		if err != nil {
			t.Fatalf("%d: %v, alpha %v: %v", i, f, alpha, err)
		}
		checkChoice(t, b, alpha, nil, c)
		far := max(1, c.Candidates[0].Loss)
		if m, err := exponential.Standard(t.Context(), f, alpha, nil); err == nil {
			if loss := lossOf(t, m.Channel, b.Utility, nil); !(c.Objective <= loss*(1+1e-9)+1e-300*far) {
				t.Errorf("%d: %v, alpha %v: %v, the standard mechanism loses %v", i, f, alpha, c, loss)
			}
		}
	}
}
