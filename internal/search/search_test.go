package search

import (
	"errors"
	"math"
	"testing"
)

// With tolerance 0 the two ends are neighbors, on both sides of 0 and across it.
func TestBisect_EndsAreAdjacent(t *testing.T) {
	for _, at := range []float64{1.0 / 3, -1.0 / 3, 1e-300, 2.9, -2.9} {
		lo, hi := Change(-3, 3, 0, func(x float64) bool { return x >= at })
		if !(lo < at && at <= hi) || math.Nextafter(lo, 4) != hi {
			t.Errorf("change at %v: [%v, %v]", at, lo, hi)
		}
	}
}

func TestBisect_Tolerance(t *testing.T) {
	calls := 0
	lo, hi := Change(1, 2, 0x1p-20, func(x float64) bool { calls++; return x*x > 2 })
	if !(lo*lo <= 2 && hi*hi > 2 && hi-lo <= 0x1p-20*hi) || calls > 20 {
		t.Errorf("root of 2 in [%v, %v] after %d calls", lo, hi, calls)
	}
}

// With tolerance 0 it ends too: below the spacing of float64 the sections would never
// become shorter.
func TestLeast_Minimum(t *testing.T) {
	for _, c := range []struct{ at, tol, off float64 }{
		{-.7, 1e-9, 1e-8}, {.1, 1e-9, 1e-8}, {2, 1e-9, 1e-8}, {4.9, 1e-9, 1e-8},
		{0, 0, 1e-15}, {2, 0, 1e-15}, {-.7, 0, 1e-15},
	} {
		calls := 0
		x, least, err := Least(-1, 5, c.tol, func(x float64) (float64, error) {
			if calls++; calls > 5000 {
				return 0, errors.New("no end")
			}
			return math.Abs(x - c.at), nil
		})
		if err != nil || math.Abs(x-c.at) > c.off || least != math.Abs(x-c.at) {
			t.Errorf("%v: %v with %v, %v", c, x, least, err)
		}
	}
}

func TestErrors_EndASearch(t *testing.T) {
	stop, calls := errors.New("stop"), 0
	if lo, hi, err := Bisect(0, 1, 0, func(float64) (bool, error) { return false, stop }); err != stop || lo != 0 || hi != 1 {
		t.Errorf("[%v, %v], %v", lo, hi, err)
	}
	_, _, err := Least(0, 1, 1e-9, func(float64) (float64, error) {
		if calls++; calls == 3 {
			return 0, stop
		}
		return float64(calls), nil
	})
	if err != stop || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}
