package robust

import (
	"context"
	"fmt"
	"go/ast"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/arch/api"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/lp/anywhere"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/distribution"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/mechanism/measure/table"
	"github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/walk"
)

// zeros are the zero values of all exported types that draw random numbers, as
// TestZeros_AreComplete finds them.
var zeros = []any{
	new(mechanism.Channel), new(mechanism.Composition), new(mechanism.Sampler), new(mechanism.Sticky[int, int]), new(mechanism.Track[int, int]),
	new(additive.DiscreteGaussian), new(additive.DiscreteLaplace), new(additive.Gaussian), new(additive.KNorm), new(additive.Laplace),
	new(additive.Madlib), new(additive.Knots[[2]float64]), new(additive.LiveTrail[[2]float64]), new(additive.PlanarLaplace), new(additive.Sphere), new(additive.Trail[[2]float64]), new(additive.TruncatedGeometric),
	new(distribution.Distribution[float64]), new(frequency.Estimator), new(distribution.Histogram[float64]), new(frequency.GKRR), new(frequency.ItemWise),
	new(query.Linear[[]float64]), new(emd.Reduced[[]float64, []float64]),
	new(exponential.Mechanism), new(kl10.Nets[int]), new(exponential.Choice), new(exponential.RelaxedMechanism), new(kl10.Mechanism),
	new(domain.Domain[[]float64]), new(private.Measure), new(measure.Release[[]float64]), new(measure.Synthesizer[[]float64]), new(measure.Stream[[]float64]),
	new(table.Release), new(table.Synthesizer), new(words.Text),
	new(walk.Noise), new(walk.Walk),
	new(lp.ConstSolution), new(lp.MostPrivateSolution), new(lp.Solution), new(lp.SpannerSolution),
	new(anywhere.Remap[float64]), new(anywhere.Extended),
}

// interfaces draw random numbers; their zero value is nil, which Go refuses.
var interfaces = []string{"mechanism.Mechanism", "emd.Releaser"}

// TestZeros_Refuse calls each method that draws random numbers of the zero values and
// of nil pointers of their types: it returns an error, or panics where it returns none
// and names a constructor.
func TestZeros_Refuse(t *testing.T) {
	s := surface()
	for _, zero := range zeros {
		v := reflect.ValueOf(zero)
		name := typeName(v.Type().Elem())
		for i := range v.NumMethod() {
			m := v.Type().Method(i)
			if !slices.Contains(parameters(m.Type), reflect.TypeFor[*rand.Rand]()) {
				continue
			}
			// Go itself panics on the way to a method of a value or of an embedded
			// type through a nil pointer, before any code of ours.
			deep, pointers := s.depth(v.Type().Elem(), m.Name)
			_, value := v.Type().Elem().MethodByName(m.Name)
			if pointers < 2 {
				refuses(t, name+"."+m.Name, v.Method(i), s.constructors[name])
			}
			if deep == 0 && !value {
				refuses(t, "nil "+name+"."+m.Name, reflect.Zero(v.Type()).Method(i), s.constructors[name])
			}
		}
	}
}

// depth is how many embedded types lie between t and its method, and how many of
// them are pointers.
func (s types) depth(t reflect.Type, method string) (all, pointers int) {
	if !s.declares[typeName(t)+"."+method] {
		for i := range t.NumField() {
			e := t.Field(i).Type
			if e.Kind() == reflect.Pointer {
				e, pointers = e.Elem(), 1
			} else {
				pointers = 0
			}
			if _, ok := reflect.PointerTo(e).MethodByName(method); ok && t.Field(i).Anonymous {
				a, p := s.depth(e, method)
				return 1 + a, pointers + p
			}
		}
	}
	return 0, 0
}

// refuses calls f with several arguments of the right types.
func refuses(t *testing.T, name string, f reflect.Value, constructors []string) {
	t.Helper()
	var choices [][]reflect.Value
	most := 0
	for _, p := range parameters(f.Type()) {
		choices = append(choices, arguments(p))
		most = max(most, len(choices[len(choices)-1]))
	}
	for k := range most {
		args := make([]reflect.Value, len(choices))
		for i, c := range choices {
			args[i] = clone(c[k%len(c)])
		}
		out, panicked := try(f, args)
		last := len(out) - 1
		switch {
		case f.Type().NumOut() > 0 && f.Type().Out(f.Type().NumOut()-1) == errorType:
			if panicked != nil {
				t.Errorf("%s panics: %v", name, panicked)
			} else if err, _ := out[last].Interface().(error); err == nil {
				t.Errorf("%s(%v) returns %v", name, args, out)
			} else if fault := disown(err); fault != "" {
				t.Errorf("%s: %s", name, fault)
			} else {
				continue
			}
		case panicked == nil:
			t.Errorf("%s(%v) returns %v", name, args, out)
		case !namesOne(fmt.Sprint(panicked), constructors):
			t.Errorf("%s panics and names none of %v: %v", name, constructors, panicked)
		default:
			continue
		}
		return // once is enough
	}
}

// try calls f and returns what it panics with, if it does.
func try(f reflect.Value, args []reflect.Value) (out []reflect.Value, panicked any) {
	defer func() { panicked = recover() }()
	return f.Call(args), nil
}

// namesOne tells whether a message begins with a package and names a function.
func namesOne(message string, functions []string) bool {
	return own.MatchString(message) && slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(message, f) })
}

// arguments are values of type t: zero, and what the registry's good calls have.
func arguments(t reflect.Type) []reflect.Value {
	if t == contextType { // nil is refused for itself
		return []reflect.Value{reflect.ValueOf(context.Background())}
	}
	values := []reflect.Value{reflect.Zero(t)}
	for _, calls := range registry {
		for _, c := range calls {
			for _, a := range c.args {
				if v := reflect.ValueOf(a); a != nil && v.Type().AssignableTo(t) && len(values) < 20 {
					values = append(values, v)
				}
			}
		}
	}
	if len(values) > 1 && values[1].Kind() == reflect.Func {
		return values[1:]
	}
	return values
}

func parameters(f reflect.Type) (in []reflect.Type) {
	for i := range f.NumIn() {
		in = append(in, f.In(i))
	}
	return in
}

// typeName is "walk.Noise", without type arguments.
func typeName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:] + "." + name
}

// TestZeros_AreComplete reads every public package: each exported type with an exported
// method that takes a *rand.Rand, its own or that of an embedded type, is in zeros.
func TestZeros_AreComplete(t *testing.T) {
	s := surface()
	var have []string
	for _, zero := range zeros {
		have = append(have, typeName(reflect.TypeOf(zero).Elem()))
	}
	found := 0
	for name := range s.draws {
		_, typ, _ := strings.Cut(name, ".")
		if !ast.IsExported(typ) {
			continue
		}
		found++
		if !slices.Contains(have, name) && !slices.Contains(interfaces, name) {
			t.Errorf("%s draws random numbers and is not in zeros", name)
		}
	}
	for _, name := range have {
		if !s.draws[name] {
			t.Errorf("%s is in zeros and draws nothing", name)
		}
	}
	if found < 25 {
		t.Errorf("%d types", found)
	}
}

// types is what the source of the public packages says of its types, by names as "walk.Noise".
type types struct {
	draws        map[string]bool     // they have a method that takes a *rand.Rand
	declares     map[string]bool     // such methods, as "walk.Noise.Draw", where they are declared
	constructors map[string][]string // exported functions and methods that return one
	binaries     []string            // they have MarshalBinary, in order
}

func surface() types {
	s := types{draws: map[string]bool{}, declares: map[string]bool{}, constructors: map[string][]string{}}
	embeds := map[string][]string{}
	for _, decl := range testkit.Must(declarations()) {
		pkg := decl.pkg
		switch d := decl.Decl.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() {
				continue
			}
			if d.Recv != nil && d.Name.Name == "MarshalBinary" {
				s.binaries = append(s.binaries, qualified(pkg, d.Recv.List[0].Type))
			}
			if d.Recv != nil && takesRand(d.Type) {
				name := qualified(pkg, d.Recv.List[0].Type)
				s.draws[name], s.declares[name+"."+d.Name.Name] = true, true
			}
			if d.Type.Results == nil {
				continue
			}
			for _, r := range d.Type.Results.List {
				name, by := qualified(pkg, r.Type), d.Name.Name
				if d.Recv != nil {
					by = api.TypeName(d.Recv.List[0].Type) + "." + by
				}
				s.constructors[name] = append(s.constructors[name], by)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				ts, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				name := pkg + "." + ts.Name.Name
				var fields []*ast.Field
				_, methods := ts.Type.(*ast.InterfaceType)
				switch u := ts.Type.(type) {
				case *ast.StructType:
					fields = u.Fields.List
				case *ast.InterfaceType:
					fields = u.Methods.List
				}
				for _, field := range fields {
					if fn, ok := field.Type.(*ast.FuncType); ok && methods && takesRand(fn) {
						s.draws[name] = true
					}
					if len(field.Names) == 0 {
						embeds[name] = append(embeds[name], qualified(pkg, field.Type))
					}
				}
			}
		}
	}
	slices.Sort(s.binaries)
	for grown := true; grown; {
		grown = false
		for name, embedded := range embeds {
			if !s.draws[name] && slices.ContainsFunc(embedded, func(e string) bool { return s.draws[e] }) {
				s.draws[name], grown = true, true
			}
		}
	}
	return s
}

func takesRand(f *ast.FuncType) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool {
		star, ok := p.Type.(*ast.StarExpr)
		return ok && qualified("", star.X) == "rand.Rand"
	})
}

// qualified is the name of a type, or of that which it points to, with its package:
// pkg where it says none.
func qualified(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return qualified(pkg, e.X)
	case *ast.IndexExpr:
		return qualified(pkg, e.X)
	case *ast.IndexListExpr:
		return qualified(pkg, e.X)
	case *ast.SelectorExpr:
		return fmt.Sprint(e.X, ".", e.Sel.Name)
	}
	return pkg + "." + api.TypeName(e)
}
