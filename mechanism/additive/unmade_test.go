package additive

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// unmadeValue is a value that no constructor made.
type unmadeValue struct {
	constructor string
	releases    []func() error
	guarantee   func() mechanism.Guarantee
	numbers     []func()
	exact       func() bool
	print       fmt.Stringer
}

func unmadeValues() map[string]unmadeValue {
	values := map[string]unmadeValue{}
	vector := []float64{5}
	for name, m := range map[string]*Laplace{"zero": {}, "nil": nil} {
		values["Laplace "+name] = unmadeValue{"NewLaplace", []func() error{
			func() error { return second(m.Release(nil, 5)) },
		}, m.Guarantee, []func(){func() { m.RadiusQuantile(0.5) }}, m.Exact, m}
	}
	for name, m := range map[string]*KNorm{"zero": {}, "nil": nil} {
		values["KNorm "+name] = unmadeValue{"NewKNorm", []func() error{
			func() error { return second(m.Release(nil, nil)) },
			func() error { return second(m.Release(nil, vector)) },
			func() error { return m.ReleaseTo(nil, nil, nil) },
			func() error { return m.ReleaseTo(vector, nil, vector) },
		}, m.Guarantee, []func(){func() { m.RadiusQuantile(0.5) }, func() { m.RadiusProb(1) }, func() { m.SecondMoment() }}, m.Exact, m}
	}
	for name, m := range map[string]*PlanarLaplace{"zero": {}, "nil": nil} {
		values["PlanarLaplace "+name] = unmadeValue{"NewPlanarLaplace", []func() error{
			func() error { return second(m.Release(nil, [2]float64{5, 5})) },
		}, m.Guarantee, []func(){func() { m.RadiusQuantile(0.5) }, func() { m.RadiusProb(1) }}, m.Exact, m}
	}
	for name, m := range map[string]*Gaussian{"zero": {}, "nil": nil} {
		values["Gaussian "+name] = unmadeValue{"NewGaussian", []func() error{
			func() error { return second(m.Release(nil, nil)) },
			func() error { return second(m.Release(nil, vector)) },
			func() error { return m.ReleaseTo(nil, nil, nil) },
			func() error { return m.ReleaseTo(vector, nil, vector) },
		}, m.Guarantee, []func(){func() { m.RadiusQuantile(0.5) }, func() { m.Sigma() }}, m.Exact, m}
	}
	for name, m := range map[string]*Sphere{"zero": {}, "nil": nil} {
		values["Sphere "+name] = unmadeValue{"NewSphere", []func() error{
			func() error { return second(m.Release(nil, metric.LatLon{Lat: 5})) },
		}, m.Guarantee, []func(){func() { m.RadiusQuantile(0.5) }, func() { m.RadiusProb(1) }}, nil, m}
	}
	for name, m := range map[string]*DiscreteLaplace{"zero": {}, "nil": nil} {
		values["DiscreteLaplace "+name] = unmadeValue{"NewDiscreteLaplace", []func() error{
			func() error { return second(m.Release(nil, 5)) },
		}, m.Guarantee, []func(){func() { m.RadiusQuantile(0.5) }}, nil, m}
	}
	for name, m := range map[string]*TruncatedGeometric{"zero": {}, "nil": nil} {
		values["TruncatedGeometric "+name] = unmadeValue{"NewTruncatedGeometric", []func() error{
			func() error { return second(m.Release(nil, 5)) },
		}, m.Guarantee, nil, nil, m}
	}
	for name, m := range map[string]*DiscreteGaussian{"zero": {}, "nil": nil} {
		values["DiscreteGaussian "+name] = unmadeValue{"NewDiscreteGaussian", []func() error{
			func() error { return second(m.Release(nil, 5)) },
		}, m.Guarantee, []func(){func() { m.Sigma() }}, nil, m}
	}
	for name, m := range map[string]*Madlib{"zero": {}, "nil": nil} {
		values["Madlib "+name] = unmadeValue{"NewMadlib", []func() error{
			func() error { return second(m.Release(nil, 0)) },
		}, m.Guarantee, nil, m.Exact, m}
	}
	return values
}

// What no constructor made releases nothing, promises nothing and states no
// number; what it says names the constructor.
func TestUnmade_RefusesToRelease(t *testing.T) {
	for name, v := range unmadeValues() {
		for i, release := range v.releases {
			if err := release(); err == nil || !strings.HasPrefix(err.Error(), "additive: ") || !strings.Contains(err.Error(), v.constructor) {
				t.Errorf("%s: release %d: error %v", name, i, err)
			}
		}
		if g := v.guarantee(); !math.IsInf(g.Alpha(), 1) {
			t.Errorf("%s promises %v", name, g)
		}
		if v.exact != nil && v.exact() {
			t.Errorf("%s is exact", name)
		}
		for i, number := range v.numbers {
			func() {
				defer func() {
					if p := fmt.Sprint(recover()); !strings.Contains(p, v.constructor) {
						t.Errorf("%s: number %d: panic %v", name, i, p)
					}
				}()
				number()
			}()
		}
		if s := v.print.String(); !strings.Contains(s, v.constructor) {
			t.Errorf("%s: %q", name, s)
		}
	}
}
