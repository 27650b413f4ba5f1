package irc24

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
)

func TestExhibits_Hold(t *testing.T) {
	exhibittest.Hold(t, Exhibits, []string{"IRC24/thm4.4", "IRC24/reduction"}, "irc24-linear.png", "irc24-gaussian.png", "irc24-frequency.png")
}

// The known roots, and the lemma's c, of four cases.
func TestSampling_KnownAnswers(t *testing.T) {
	for p, want := range map[sampling][2]float64{
		{100, 0.01, 1e-6}:    {0.097346139, 0.438607},
		{1000, 0.01, 1e-12}:  {0.041200682, 0.107035},
		{1000, 0.1, 1e-6}:    {0.15332311, 0.282868},
		{10_000, 0.1, 1e-12}: {0.12301689, 0.249711},
	} {
		if got := p.chernoff(); math.Abs(got-want[0]) > 1e-8 {
			t.Errorf("%+v: root %v, want %v", p, got, want[0])
		}
		if got := p.lemma(3 / float64(p.s)); math.Abs(got-want[1]) > 1e-6 {
			t.Errorf("%+v: lemma %v, want %v", p, got, want[1])
		}
	}
}

// The tail of three draws: more than half of them, and more than all.
func TestSampling_Tail(t *testing.T) {
	p := sampling{s: 3, r: 0.25}
	if got, want := p.tail(0.5), (3*3+1)/64.; math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := p.tail(1); got != 0 {
		t.Errorf("%v beyond all", got)
	}
}

// An item of randomized response moves by (90 e^-2 + 0.9 e^-0.2)/Z on average.
func TestMovedBy_ClosedForm(t *testing.T) {
	got, err := movedBy(rand.New(rand.NewPCG(1, 2)), 2, 40_000)
	if err != nil {
		t.Fatal(err)
	}
	near, far := 9*math.Exp(-0.2), 90*math.Exp(-2)
	// A mean of 40,000 numbers in [0,1] is off by .015 with probability below 1e-7.
	if want := (far + 0.1*near) / (1 + near + far); math.Abs(got-want) > 0.015 {
		t.Errorf("%v, want %v", got, want)
	}
}
