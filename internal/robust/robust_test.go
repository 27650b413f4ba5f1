package robust

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/testkit"
)

const (
	// patience is what a call may take that has not been given a context. Good
	// calls here take milliseconds.
	patience = 10 * time.Second

	// memory is what a call may allocate in all, in bytes.
	memory = 512 << 20
)

// call is a call that succeeds.
type call struct {
	name string // "metric.NewDense", "walk.Tree.Center"
	fn   any
	args []any // without the context, which every call gets that takes one
}

// registry holds the calls of all packages.
var registry = [][]call{
	metricCalls, entropyCalls, walkCalls, tspCalls, wassersteinCalls, mechanismCalls,
	additiveCalls, wordsCalls, emdCalls, exponentialCalls, measureCalls, tableCalls, lpCalls, kitCalls, mechanismKitCalls,
}

// accepted are cases that are not tried, with the reason. A case is the call's name
// with the place and the value of the argument.
var accepted = map[string]string{
	"mechanismtest.TestLevel argument 1: nil":    "a test without a mechanism is wrong, and may stop the test",
	"mechanismtest.LevelAtLeast argument 1: nil": "a test without a mechanism is wrong, and may stop the test",
}

func init() {
	for _, n := range []int{math.MaxInt >> 22, math.MaxInt - 1, math.MaxInt} {
		for _, at := range []string{"TestChannel argument 3", "TestDistribution argument 4", "TestLevel argument 5", "LevelAtLeast argument 4"} {
			accepted[fmt.Sprintf("mechanismtest.%s: Samples %d", at, n)] = "it draws as often as it is asked to"
		}
	}
}

// trusting are the functions that may succeed on metrics with a distance that is
// negative or no finite number, with the reason.
var trusting = map[string]string{
	"metric.Bimetric.Check": views, "metric.Bimetric.Lipschitz": order, "metric.Scaled": views, "metric.Subset": views,
	"metric.Diameter": order, "metric.Radius": order, "metric.Index.MinDistance": order, "metric.Index.MinPositiveDistance": order,
	"metric.Index.NearestNeighbors": order, "metric.Index.ReverseNeighbors": order, "metric.Net": order, "metric.Assign": order, "kl10.Misses": order,
	"entropy.Star.Prove": witness, "families.MeasureBound.Prove": witness,
	"tsp.Tour.Open": few, "wasserstein.DistanceEM": few,
	"wasserstein.Distances": later, "exponential.Lazy": later, "exponential.Truncated": later,
	"frequency.New": later, "frequency.NewHadamardBaseline": later, "frequency.NewLaplaceBaseline": later, "frequency.ItemWiseBudget": later, "frequency.NewItemWise": later,
	"frequency.Project": few, "wasserstein.Project": few, "mechanism.Channel.LossAt": few, "lp.LowerBound": witness,
	"lp.Options.Size": few, "lp.ConstOptions.Size": few,
}

const (
	views   = "it hands the metric on and reads no distance"
	order   = "it compares distances and adds nothing up; metric.Validate is for those who doubt theirs"
	witness = "a proof is about the distances as they are, and is meant to cost little"
	few     = "it reads some of the distances only"
	later   = "the distances are read later: by a solver, a release of a lazy channel, a projection"
)

// unknown are the fields of results that are NaN where they were not computed, as
// their docs say.
var unknown = map[string][]string{
	"exponential.Relaxed": {".Entropic", ".Diametric"},
	"lp.Choose":           {".Level", ".Adversary"},
	"lp.Optimal":          {".Adversary"},
	"lp.Spanner":          {".Adversary"},
	"exponential.Best":    {".Level", ".Adversary"},
}

// TestCalls_SurviveBadArguments replaces each argument of each call, and each
// exported field and element of it, by bad values.
func TestCalls_SurviveBadArguments(t *testing.T) {
	if testing.Short() {
		t.Skip("tens of thousands of calls")
	}
	deadline := time.Duration(testkit.Sweep(5, 100)) * time.Millisecond // where the argument is bad
	for _, calls := range registry {
		for _, c := range calls {
			t.Run(c.name, func(t *testing.T) { c.drive(t, deadline) })
		}
	}
}

// drive makes the call once as it is and once for each bad value, with a context that
// ends at the deadline.
func (c call) drive(t *testing.T, deadline time.Duration) {
	fn, good := reflect.ValueOf(c.fn), c.arguments()
	if _, fault, err := c.do(fn, good, patience); err != nil || fault != "" {
		t.Fatalf("the good call fails: %v %s", err, fault)
	}
	failing := fn.Type().NumOut() > 0 && fn.Type().Out(fn.Type().NumOut()-1) == errorType
	slow := "" // the number whose last value only the context ended: the next larger will be, too
	for i := range good {
		for _, b := range bads(fn.Type().In(i), good[i]) {
			at := fmt.Sprintf("argument %d: %s", i, b.what)
			if _, ok := accepted[c.name+" "+at]; ok {
				continue
			}
			args := slices.Clone(good)
			args[i] = b.v
			wait, number := deadline, at[:strings.LastIndex(at, " ")]
			if number == slow {
				wait /= 8
			}
			out, fault, err := c.do(fn, args, wait)
			if slow = ""; errors.Is(err, context.DeadlineExceeded) {
				slow = number
			}
			switch {
			case fault != "":
			case !failing:
			case err != nil:
				fault = disown(err)
			case b.wrong == noSize, b.wrong == noDistance && trusting[c.name] == "":
				fault = b.wrong
			case trusting[c.name] != witness:
				fault = lawless(out, unknown[c.name])
			}
			if fault != "" {
				t.Errorf("%s: %s", at, fault)
			}
		}
	}
}

// arguments are the call's arguments, with nil for the context of a function that takes one: do
// sets it.
func (c call) arguments() []reflect.Value {
	t, args := reflect.TypeOf(c.fn), c.args
	if at := slices.Index(parameters(t), contextType); at >= 0 {
		args = slices.Insert(slices.Clone(args), at, nil)
	}
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.New(t.In(i)).Elem()
		if a != nil {
			in[i].Set(reflect.ValueOf(a))
		}
	}
	return in
}

// do calls fn with copies of args, and a context of so long where they have none. It returns the results but for the error, what else is wrong, and the
// error.
func (c call) do(fn reflect.Value, args []reflect.Value, wait time.Duration) (out []reflect.Value, fault string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = clone(a)
		if a.Type() == contextType && a.IsNil() {
			in[i].Set(reflect.ValueOf(ctx))
		}
	}
	done := make(chan struct{})
	before := allocated()
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				fault = fmt.Sprintf("panic: %v\n%s", r, frames(debug.Stack()))
			}
		}()
		if fn.Type().IsVariadic() {
			out = fn.CallSlice(in)
		} else {
			out = fn.Call(in)
		}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		return nil, fmt.Sprintf("no answer in %v", patience), nil
	}
	if b := allocated() - before; fault == "" && b > memory {
		fault = fmt.Sprintf("%d MiB allocated", b>>20)
	}
	if k := len(out); k > 0 && out[k-1].Type() == errorType {
		err, _ = out[k-1].Interface().(error)
		out = out[:k-1]
	}
	return out, fault, err
}

// frames are the lines of a stack in the module's own files, innermost first.
func frames(stack []byte) string {
	var out []string
	for line := range strings.Lines(string(stack)) {
		if strings.Contains(line, "/") && strings.Contains(line, ".go:") && !strings.Contains(line, "/src/") && !strings.Contains(line, "internal/robust") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out[:min(len(out), 4)], "\n")
}

// allocated is the number of bytes allocated since the start.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// own is how the errors of the module begin. One package returns those of another
// as they are where they name the argument.
var own = regexp.MustCompile("^(metric|metrictest|entropy|scale|families|walk|tsp|wasserstein|mechanism|mechanismtest|additive|emd|query|frequency|distribution|accountant|exponential|kl10|domain|measure|private|table|words|lp|anywhere): ")

// disown says what is wrong with an error: it must begin with a package's name. What the
// arguments themselves return, contexts and functions, may come back as it is.
func disown(err error) string {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errNo):
		return ""
	case !own.MatchString(err.Error()):
		return fmt.Sprintf("the error names no package: %v (%T)", err, err)
	case strings.Contains(err.Error(), "%!"):
		return fmt.Sprint("the error is misprinted: ", err)
	}
	return ""
}

// lawless says what is wrong with results: a NaN among the numbers that they show
// but for the unknown ones, or a guarantee that is none.
func lawless(out []reflect.Value, unknown []string) string {
	for i, v := range out {
		if at := strings.TrimSpace(nan(v, 4)); at != "" && !slices.ContainsFunc(unknown, func(f string) bool { return strings.HasSuffix(at, f) }) {
			return fmt.Sprintf("result %d%s is NaN", i, at)
		}
	}
	return ""
}

// nan finds a NaN in what v shows: its exported fields, elements, and Alpha of its Guarantee.
func nan(v reflect.Value, depth int) string {
	if depth == 0 || !v.IsValid() {
		return ""
	}
	switch v.Kind() {
	case reflect.Float64:
		if math.IsNaN(v.Float()) {
			return " "
		}
		return ""
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return ""
		}
	}
	if v.CanInterface() {
		if g := v.MethodByName("Guarantee"); g.IsValid() && g.Type().NumIn() == 0 {
			level := g.Call(nil)[0]
			if a := level.MethodByName("Alpha"); a.IsValid() {
				if x := a.Call(nil)[0].Float(); math.IsNaN(x) || x < 0 {
					return fmt.Sprintf(".Guarantee().Alpha() = %v: ", x)
				}
			}
		}
		if a := v.MethodByName("Alpha"); a.IsValid() && a.Type().NumIn() == 0 && a.Type().NumOut() == 1 && a.Type().Out(0).Kind() == reflect.Float64 {
			if x := a.Call(nil)[0].Float(); math.IsNaN(x) || x < 0 {
				return fmt.Sprintf(".Alpha() = %v: ", x)
			}
		}
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return nan(v.Elem(), depth)
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), 64) {
			if at := nan(v.Index(i), depth-1); at != "" {
				return fmt.Sprintf("[%d]%s", i, at)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				if at := nan(v.Field(i), depth-1); at != "" {
					return "." + f.Name + at
				}
			}
		}
	}
	return ""
}
