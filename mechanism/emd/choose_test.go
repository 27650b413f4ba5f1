package emd

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// The rows of IRC24, Section 3, give 25.
func TestChooseAlpha_KnownAnswer(t *testing.T) {
	rows := []Move{{.08, 1. / 30, .2}, {.008, 1, .2}}
	got, err := ChooseAlpha(rows)
	if err != nil || got > 25*(1+1e-15) || got < 25*(1-1e-15) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = ChooseAlpha(rows[:1]); err != nil || math.Abs(got-75) > 1e-10 {
		t.Errorf("%v, %v", got, err)
	}
}

// What was chosen keeps every row, and one of them with nothing to spare.
func TestPromises_ReverseOfChooseAlpha(t *testing.T) {
	r := random.Seeded(1)
	for range 2000 {
		rows := make([]Move, 1+r.IntN(5))
		for i := range rows {
			rows[i] = Move{math.Pow(10, 6*r.Float64()-3), 1 - r.Float64(), math.Pow(10, 3*r.Float64()-2)}
		}
		alpha := testkit.Must(ChooseAlpha(rows))
		ps := testkit.Must(promise(t, Model{Trust: Local, Unit: "km", Diameter: 1e4}, alpha, 1e-9).Protects(rows))
		tight := false
		for i, p := range ps {
			if p.Eps > rows[i].Eps || p.Delta != 1e-9 || p.Unit != "km" || p.Factor < math.Exp(p.Eps) {
				t.Fatalf("%+v: promise %+v", rows[i], p)
			}
			tight = tight || p.Eps >= rows[i].Eps*(1-1e-14)
			exact := new(big.Rat).SetFloat64(alpha)
			for _, v := range []float64{rows[i].Fraction, rows[i].Distance} {
				exact.Mul(exact, new(big.Rat).SetFloat64(v))
			}
			if exact.Cmp(new(big.Rat).SetFloat64(p.Eps)) > 0 || exact.Cmp(new(big.Rat).SetFloat64(rows[i].Eps)) > 0 {
				t.Fatalf("%+v: alpha %v, promise %+v: the exact level is higher", rows[i], alpha, p)
			}
		}
		if !tight {
			t.Fatalf("rows %+v: alpha %v keeps all with room to spare", rows, alpha)
		}
	}
}

func TestPromise_Words(t *testing.T) {
	for _, tc := range []struct {
		g    Guarantee
		row  Move
		want string
	}{
		{promise(t, Model{Trust: Local, Diameter: 1}, 25, 0), Move{.08, 1. / 3, 0}, "moving a third of a user's items by 0.08 on average makes no result more than 1.95 times as likely"},
		{promise(t, Model{Trust: Local, Unit: "km", Diameter: 1}, 25, 1e-6), Move{.08, 1. / 30, 0}, "moving one in 30 of a user's items by 0.08 km on average makes no result more than 1.069 times as likely, up to a probability of 1e-06"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 1, 1.001e-6), Move{.5, 1, 0}, "moving all of a user's items by 0.5 on average makes no result more than 1.65 times as likely, up to a probability of 1.01e-06"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 1, 0), Move{.5, 1, 0}, "moving all of a user's items by 0.5 on average makes no result more than 1.65 times as likely"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 1, 0), Move{.001, .15, 0}, "moving 15 % of a user's items by 0.001 on average makes no result more than 1.00016 times as likely"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 20, 0), Move{1, .5, 0}, "moving half of a user's items by 1 on average makes no result more than 22027 times as likely"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 20, 0), Move{1, 1, 0}, "moving all of a user's items by 1 on average makes no result more than 4.88e+08 times as likely"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 0, 0), Move{1, 1, 0}, "moving all of a user's items by 1 on average makes no result more than 1.00 times as likely"},
		{discretePromise(t, Model{Trust: Local, Diameter: 1}, .25, DP{.1, .3}), Move{1, 1, 0}, "moving all of a user's items by 1 on average is not protected"},
		{Guarantee{}, Move{1, 1, 0}, "moving all of a user's items by 1 on average is not protected"},
	} {
		ps, err := tc.g.Protects([]Move{tc.row})
		if err != nil || ps[0].String() != tc.want {
			t.Errorf("%v, %v,\nwant %v", ps[0], err, tc.want)
		}
	}
}

// One that was made by hand may hold any numbers.
func TestPromise_AnyFraction(t *testing.T) {
	for _, f := range []float64{-1, -.2, 0, 2, 5e-324, math.NaN(), math.Inf(-1)} {
		if s := (Protection{Move: Move{Fraction: f}, Factor: 2}).String(); !strings.Contains(s, "%") {
			t.Errorf("%v: %s", f, s)
		}
	}
}

func TestFactorWords_RoundUp(t *testing.T) {
	for f, want := range map[float64]string{
		1: "1.00", 1.003: "1.0030", 1.00301: "1.0031", 1.0999: "1.100", 1.1: "1.11", 9.991: "10.00", 10: "10.0", 99.01: "99.1",
		100.5: "101", 1234: "1234", 1e6: "1e+06", 1.0149e9: "1.02e+09", 9.99e99: "9.99e+99",
	} {
		if got := factorWords(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	r := random.Seeded(2)
	for range 10_000 {
		f := math.Exp(50 * r.NormFloat64())
		got, err := strconv.ParseFloat(digitsUp(f), 64)
		if err != nil || got < f || got > f*1.01 {
			t.Errorf("%v: %v, %v", f, got, err)
		}
	}
}
