package robust

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/arch/api"
	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/distribution"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/mechanism/measure/table"
	"github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/wasserstein"
)

// watched is a context that records from where it is looked at, and is canceled at a
// look of a chosen place.
type watched struct {
	context.Context
	cancel context.CancelFunc
	log    *sightings
	at     *sighting // nil: of none
	left   int       // looks until it is canceled
	done   bool
}

// sighting is a call that led to a look at the caller's context: a look itself, or a
// function that was given the context.
type sighting struct {
	file   string // relative to the module
	line   int
	callee string
}

// sightings are all there are.
type sightings struct {
	sync.Mutex
	stacks map[[64]uintptr]sighting // the look at the end of each stack
	calls  map[sighting]bool
	run    map[sighting]bool // the looks of one run
}

func (c *watched) Err() error            { c.look(); return c.Context.Err() }
func (c *watched) Done() <-chan struct{} { c.look(); return c.Context.Done() }

func (c *watched) look() {
	var pcs [64]uintptr
	runtime.Callers(2, pcs[:]) // from Err or Done on
	c.log.Lock()
	defer c.log.Unlock()
	at, ok := c.log.stacks[pcs]
	if !ok {
		at = c.log.read(pcs[:])
		c.log.stacks[pcs] = at
	}
	c.log.run[at] = true
	if c.left--; c.at != nil && at == *c.at || c.left < 0 {
		c.done = true
		c.cancel()
	}
}

// read records the frames of a look and returns that of the look.
func (s *sightings) read(pcs []uintptr) (look sighting) {
	n := slices.Index(pcs, 0)
	if n < 0 {
		n = len(pcs)
	}
	var stack []runtime.Frame
	for frames := runtime.CallersFrames(pcs[:n]); ; {
		f, more := frames.Next()
		stack = append(stack, f)
		if !more {
			break
		}
	}
	callee := ""
	for i := 0; i < len(stack); i++ {
		f := stack[i]
		if file, ok := strings.CutPrefix(f.File, root+"/"); ok && !strings.HasSuffix(file, "_test.go") {
			at := sighting{file, f.Line, callee}
			s.calls[at] = true
			s.calls[sighting{file, f.Line, ""}] = true
			if look == (sighting{}) && !strings.HasPrefix(file, "internal/parallel/") {
				look = at
			}
		}
		m := declared.FindStringSubmatch(f.Function)
		if m == nil {
			continue
		}
		callee = m[1]
		// A literal has the context of the function that it is in: what calls the literal
		// may have another.
		if outer := strings.TrimSuffix(f.Function, m[3]); m[3] != "" && m[3] != "-fm" {
			if k := slices.IndexFunc(stack[i:], func(g runtime.Frame) bool { return g.Function == outer }); k > 0 {
				i += k
			}
		}
	}
	return look
}

// declared finds the name of a function, which function literals may be in.
var declared = regexp.MustCompile(`\.(\w+)(\[\.\.\.\])?((?:\.func[\d.]+|\.\d+|-range\d+|-fm)*)$`)

// root is the folder of the module.
var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// Reasons why a call is not on the way to a look.
const (
	many    = "it looks after more points or steps than fit here"
	clock   = "by the clock: where some programs have time and others have not"
	ended   = "asked where the work has failed, or was stopped"
	rounded = "where rounding, or an overflow, leaves something to do"
	unused  = "an implementation that needs none, or has its result already"
)

// unwatched are the calls that no look comes by: by reason and file, the function and
// what it calls.
var unwatched = map[string]map[string]string{
	many: {
		"entropy/scale/doubling.go": "search.cliques",
		"entropy/scale/packing.go":  "cliques.Solve clusterSets.Assign",
		// TestMean_ProvesABound of lp cancels them at any look.
		"lp/internal/kernel/prior.go": "Prior.Err Prior.Chunks",
		"lp/mean.go":                  "mean.Lazily mean. mean.Solve meanProgram.Chunks meanProgram.sharing",
		"lp/start.go":                 "noise.remapped remapped.family",
		"tsp/covering.go":             "covering.Net",
	},
	clock: {
		"lp/choose.go": "spanner.Spanner",
		// Extensions begin in programs that take longer than is left: TestOptimal_DoorsAgainstSimplex
		// of lp cancels them at any look.
		"lp/extended.go":               "keepKernel.Channel",
		"lp/internal/kernel/kernel.go": "sweep.Err Channel.Repair Channel.FromWeights",
		"lp/local.go":                  "complete.Chunks",
		"lp/repair.go":                 "eachOutput.Chunks",
		"lp/spanner.go":                "search.solve",
	},
	ended: {"lp/choose.go": "Choose.Err", "lp/problem.go": "cause.Err", "lp/optimal.go": "search.Err", "lp/spanner.go": "Spanner.adversary search.Err"},
	rounded: {
		"mechanism/emd/accountant/thresholds.go": "upTo.minimize minimize.Err",
		"mechanism/composedloss.go":              "within.hockey",
		"tsp/internal/heldkarp/boruvka.go":       "spanning.prim",
		"entropy/program.go":                     "local.Err",
	},
	unused: {"entropy/upper.go": "onNet.leveling", "mechanism/emd/distribution/domain.go": "Fit.Fit W1.W1", "mechanism/emd/distribution/choose.go": "subdominant.", "mechanism/exponential/snapped.go": "noiseChannel.logMasses"},
}

// handed is a call that is given a context, or that asks one.
type handed struct {
	sighting
	caller string
	asks   bool // the context itself
	local  bool // a function of the package or a variable
}

func (h handed) about() string { return h.caller + "." + h.callee }

// isContext tells whether an expression is a context, by its name.
func isContext(e ast.Expr) bool {
	name := ""
	switch x := e.(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	return name == "ctx" || name == "late"
}

// contextCalls reads the library, but for what is for tests: all calls that are given
// a context or ask it. Of one by a variable the callee is unknown.
func contextCalls(t *testing.T) (calls []handed) {
	plain, any := map[string]bool{}, map[string]bool{} // declared, in a folder and at all
	fields := map[string]bool{}                        // of structs, that are functions
	testkit.Check(t, api.Library(root, func(rel string, set *token.FileSet, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			if x, ok := n.(*ast.StructType); ok {
				for _, field := range x.Fields.List {
					if _, ok := field.Type.(*ast.FuncType); ok {
						for _, name := range field.Names {
							fields[name.Name] = true
						}
					}
				}
			}
			return true
		})
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			any[fn.Name.Name] = true
			if fn.Recv == nil {
				plain[filepath.Dir(rel)+" "+fn.Name.Name] = true
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				x, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				at := sighting{rel, set.Position(x.Lparen).Line, ""}
				asks, local := false, false
				switch y := generic(x.Fun).(type) {
				case *ast.Ident:
					at.callee, local = y.Name, true
				case *ast.SelectorExpr:
					at.callee = y.Sel.Name
					asks = isContext(y.X) && (at.callee == "Err" || at.callee == "Done")
				}
				if (asks || slices.ContainsFunc(x.Args, isContext)) && !slices.Contains(keepers, at.callee) {
					calls = append(calls, handed{at, fn.Name.Name, asks, local})
				}
				return true
			})
		}
	}))
	for i, c := range calls {
		if !c.asks && (c.local && !plain[filepath.Dir(c.file)+" "+c.callee] || !c.local && fields[c.callee] || !any[c.callee]) {
			calls[i].callee = ""
		}
	}
	return calls
}

// generic is a function without its type arguments.
func generic(e ast.Expr) ast.Expr {
	switch x := e.(type) {
	case *ast.IndexExpr:
		return x.X
	case *ast.IndexListExpr:
		return x.X
	}
	return e
}

// keepers are functions that keep the context for others, or tell why it ended.
var keepers = []string{"findAbove", "limit", "linger", "Cause", "cause", "newSolver", "newPoint"}

// TestContexts_AreLookedAt makes the calls of the registry, and long ones on few points, with a
// context that records its looks. Each call in the library that is given a context, and each
// that asks one, is on the way to such a look, or in it: were it given another context, or not
// asked, it would be missed. Each call is then canceled at each place of a look, and says so.
func TestContexts_AreLookedAt(t *testing.T) {
	testkit.Swept(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // loops are on the goroutine of the call
	log := &sightings{stacks: map[[64]uintptr]sighting{}, calls: map[sighting]bool{}}
	canceled := map[sighting]bool{}
	run := func(name string, at *sighting, call func(context.Context) error) (said bool) {
		most := 20_000
		if large.MatchString(name) {
			most = 1_000_000
		}
		if endless.MatchString(name) {
			most = 40
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		log.run = map[sighting]bool{}
		c := &watched{Context: ctx, cancel: cancel, log: log, at: at, left: most}
		err := call(c)
		complete := err == nil && tolerant.MatchString(name)
		if c.done && !errors.Is(err, context.Canceled) && !complete {
			t.Errorf("%s: canceled at %v, the error is %v", name, at, err)
		}
		return !complete
	}
	for _, s := range watchedCalls() {
		run(s.name, nil, s.call)
		looks := log.run
		for at := range looks {
			if !canceled[at] {
				canceled[at] = run(s.name, &at, s.call)
			}
		}
	}
	calls := contextCalls(t)
	excused := map[string]bool{}   // and whether it is needed
	sometimes := map[string]bool{} // where that depends on time
	for reason, files := range unwatched {
		for file, list := range files {
			for _, about := range strings.Fields(list) {
				excused[file+" "+about] = false
				sometimes[file+" "+about] = reason == clock || reason == ended
			}
		}
	}
	for _, h := range calls {
		about := h.file + " " + h.about()
		if log.calls[h.sighting] {
			if sometimes[about] {
				excused[about] = true
			}
			continue
		}
		if _, ok := excused[about]; !ok {
			t.Errorf("%s:%d: no look comes by %s in %s", h.file, h.line, h.callee, h.caller)
		}
		excused[about] = true
	}
	for about, needed := range excused {
		if !needed {
			t.Errorf("excused, but gone or seen: %s", about)
		}
	}
}

// watchedCall is a call with a context.
type watchedCall struct {
	name string
	call func(context.Context) error
}

// watchedCalls are those of the registry, and the long ones on few points.
func watchedCalls() (out []watchedCall) {
	for _, calls := range registry {
		for _, c := range calls {
			fn := reflect.ValueOf(c.fn)
			at := slices.Index(parameters(fn.Type()), contextType)
			if at < 0 {
				continue
			}
			out = append(out, watchedCall{c.name, func(ctx context.Context) error {
				in := c.arguments()
				for i := range in {
					in[i] = clone(in[i])
				}
				in[at].Set(reflect.ValueOf(ctx))
				var results []reflect.Value
				if fn.Type().IsVariadic() {
					results = fn.CallSlice(in)
				} else {
					results = fn.Call(in)
				}
				err, _ := results[len(results)-1].Interface().(error)
				return err
			}})
		}
	}
	add := func(c longCall, f func(n int) metric.Finite, n int) {
		out = append(out, watchedCall{c.name, func(ctx context.Context) error { return c.call(ctx, f(n)) }})
	}
	for _, c := range longCalls {
		add(c, c.on, 40)
		if more := elsewhere[c.name]; more != nil {
			add(c, more, 40)
		}
	}
	for _, c := range ways {
		add(c, c.on, c.n)
	}
	return out
}

// ways are calls that go on where those of the registry turn off, on so many points: each comes by
// a look that no other does, or may by the clock.
var ways = []longCall{
	{"hierarchies", bare(nested), 40, func(ctx context.Context, f metric.Finite) error {
		_, err1 := scale.Packing(ctx, f, nil, .1, nil)
		_, err3 := scale.Diametric(ctx, metric.Same(f), []float64{5}, nil)
		_, err4 := scale.Entropic(ctx, metric.Same(f), []float64{5}, nil)
		_, err5 := scale.Doubling(ctx, f, []float64{5}, nil)
		_, err6 := scale.Outer(ctx, f, []float64{5}, nil)
		return cmp.Or(err1, err3, err4, err5, err6)
	}},
	{"large packing", flat, 4200, on(scale.Packing, here, nil, .1)},
	{"dense, not definite", flat, 130, func(ctx context.Context, f metric.Finite) error {
		n := f.Len()
		fill := func(a []float64) error {
			clear(a)
			for i := range n {
				a[i*n+i] = float64(2*(i%2) - 1)
			}
			return nil
		}
		return err1(dense.Factorize(ctx, n, make([]float64, n*n), fill))
	}},
	{"sort", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		x := make([]int, 1<<15)
		for i := range x {
			x[i] = i * 40503 & (1<<15 - 1)
		}
		return parallel.Sort(ctx, x, cmp.Compare[int])
	}},
	{"cells of W1", flat, 300, on(wasserstein.W1, here, arbitrary, uniformly, &wasserstein.Options{Cells: 40})},
	{"tours of doubled points", bare(doubled), 150, on(tsp.Solve, here)},
	{"sampled triples", globe, 60, on(metric.Validate, here, &metric.ValidateOptions{MaxTriples: 10, Samples: 100})},
	{"separated domain", flat, 60, on(domain.NewFinite, here, &domain.FiniteOptions{Separation: .2})},
	{"separated taxonomy", flat, 60, on(domain.NewFolded, here, &domain.FoldedOptions{Separation: .2})},
	{"precise composition", flat, 60,
		on(func(f metric.Finite) any { return twice(f).Audit }, here, &mechanism.AuditOptions{Delta: .01})},
	{"tiny delta", flat, 60,
		on(func(f metric.Finite) any { return lazily(f).Audit }, here, &mechanism.AuditOptions{Delta: 1e-300})},
	{"read channel", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		b := testkit.Must(channel.MarshalJSON())
		return err1(mechanism.ReadChannel(ctx, bytes.NewReader(b), path, nil))
	}},
	{"read words", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		return err1(words.Read(ctx, strings.NewReader("2 2\na 1 2\nb 3 4\n"), nil))
	}},
	{"limited programs", flat, 30, on(lp.Optimal, alone, 5, &lp.Options{TimeLimit: time.Hour})},
	{"limited choice", flat, 30, on(lp.Choose, alone, 5, &lp.Options{TimeLimit: time.Hour})},
	{"by column", woods, 70, on(lp.Optimal, alone, 1, &lp.Options{Tolerance: 1e-2})},
	{"most private of some alike", flat, 12, func(ctx context.Context, f metric.Finite) error {
		alike := space.Formula(12, func(i, j int) float64 { return float64((i/2 - j/2) * (i/2 - j/2)) })
		b := metric.Bimetric{Privacy: alike, Utility: f}
		return err1(lp.MostPrivate(ctx, b, kl10.Target{Gamma: .1, Delta: .6}, nil))
	}},
	{"choice without time", flat, 30, on(lp.Choose, alone, 5, &lp.Options{TimeLimit: 1})},
	{"start at a small level", flat, 330, on(lp.Optimal, alone, .5, &lp.Options{TimeLimit: 3 * time.Second})},
	{"columns of some inputs", flat, 300, on(lp.Optimal, alone, 60, &lp.Options{Tolerance: .1})},
	{"balanced kernel", flat, 3000, func(ctx context.Context, all metric.Finite) error {
		outputs := make([]int, all.Len())
		for y := range outputs {
			outputs[y] = y
		}
		inputs := append(outputs[:255:255], 0) // merged: nothing is left out
		b := metric.Bimetric{Privacy: testkit.Must(metric.Subset(all, inputs)), Utility: all}
		return err1(lp.Optimal(ctx, b, 8, &lp.Options{Outputs: outputs, Tolerance: .2}))
	}},
	{"relaxations", flat, 300,
		on(lp.Optimal, alone, 8, &lp.Options{Outputs: []int{0, 1, 2, 3, 4, 5}, Tolerance: 1e-4})},
	{"ends of many items", flat, 1,
		on(accountant.Shuffle{Records: 2000, Items: 300, Alpha0: 1, Diameter: 1}.LevelInterval, 1e-6)},
	{"no privacy needed", flat, 12, on(lp.MostPrivate, alone, kl10.Target{Gamma: .5, Delta: .6})},
	{"spanner", flat, 30, on(lp.Spanner, alone, 5, &lp.SpannerOptions{Options: lp.Options{TimeLimit: time.Hour}})},
	{"bounds at a small level", flat, 12, on(entropy.UpperBounds, alone, 1e-3)},
	{"net of measures", globe, 40, on(families.MeasureNet, here, 1)},
	{"witnesses", globe, 60, provedAgain(entropy.UpperBounds)},
	{"witness of a program", flat, 12, provedAgain(entropy.LowerBounds)},
	{"bound by many pairs", flat, 120, on(entropy.LowerBounds, alone, 4)},
	{"parts of columns", flat, 3, func(ctx context.Context, f metric.Finite) error {
		d := testkit.Must(metric.Densify(context.Background(), f))
		p := &ipm.Problem{Inputs: 3, Outputs: 2, Budget: d, Class: []int{0, 1, 2}, Pairs: [][]int32{{1, 2}, {2}, nil}, Support: [][]int32{{0, 1}, {1, 2}}}
		for i := range 6 {
			p.Loss = append(p.Loss, d.Distance(i/3, i%3))
		}
		plan, err := ipm.Prepare(ctx, p)
		if err != nil {
			return err
		}
		plan.Solve(ctx, ipm.Settings{Tolerance: .1})
		return ctx.Err()
	}},
	{"doubled scales", globe, 300, on(scale.Doubling, here, []float64{.1})},
	{"dense, singular", flat, 1,
		on(dense.Factorize, 130, make([]float64, 130*130), func(a []float64) error { clear(a); return nil })},
	{"two channels", flat, 40, func(ctx context.Context, f metric.Finite) error {
		c := often(mechanism.Repeated{Mechanism: lazily(f), Times: 2}, mechanism.Repeated{Mechanism: lazily(globe(40)), Times: 1})
		_, err := c.Audit(ctx, f, nil)
		return cmp.Or(err, err1(c.Audit(ctx, f, &mechanism.AuditOptions{Delta: 1e-3})))
	}},
	{"tracks, so often", flat, 1, on(func(metric.Finite) any { // a law above and another below
		return often(mechanism.Repeated{Mechanism: knots, Times: 10}).AuditAt
	}, .1, 1e-6)},
	{"level of a mechanism", flat, 40, func(ctx context.Context, f metric.Finite) error {
		return err2(mechanism.AtLevel(ctx, f, 1, func(ctx context.Context, alpha float64) (*mechanism.Channel, error) {
			m, err := exponential.Standard(ctx, f, alpha, nil)
			if err != nil {
				return nil, err
			}
			return m.Channel, nil
		}, nil))
	}},
	{"steep channel", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		c := testkit.Must(mechanism.FromLogWeights(context.Background(), 2, 2, []float64{0, 1e12, 1e12, 0}, nil))
		return err1(c.Audit(ctx, space.Path(2, 1), &mechanism.AuditOptions{Delta: 1e-3}))
	}},
	{"accountant of several items", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		r, err := accountant.NewRandomizer(ctx, channel, path)
		if err != nil {
			return err
		}
		s := accountant.Shuffle{Records: 1000, Items: 3, Randomizer: r}
		_, err = s.Level(ctx, 1e-6)
		_, err2 := s.Delta(ctx, 1e-25)
		for _, v := range []accountant.Moved{{Items: 1, Distance: 1}, {Items: 2, Distance: 2}} {
			err = cmp.Or(err, err1(s.MovedLevel(ctx, v, 1e-6)), err1(s.MovedDelta(ctx, v, 1e-3)))
		}
		return cmp.Or(err, err2)
	}},
	{"distribution of a spacing", flat, 60,
		on(distribution.New[int], finiteDomain, central, 1, &distribution.Options{Spacing: .3})},
	{"distribution of a small spacing", flat, 60,
		on(distribution.New[int], finiteDomain, central, 1, &distribution.Options{Spacing: 1e-3})},
	{"estimates", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		return cmp.Or(estimated2(ctx, distribution.Box(metric.Euclidean{}, []float64{0, 0}, []float64{4, 4}), []float64{1, 2}, []float64{2, 2}, []float64{3, 2}),
			estimated2(ctx, distribution.Sphere(metric.GreatCircle{Radius: 1}), place, metric.LatLon{Lat: 3}, metric.LatLon{Lon: 3}),
			estimated2(ctx, distribution.Finite(flat(60)), 1, 2, 3),
			estimated2(ctx, distribution.Finite(onLine(60)), 1, 2, 3), estimated2(ctx, distribution.Finite(nested(40)), 1, 2, 3))
	}},
	{"hard cells", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		_, err1 := scale.Entropic(ctx, metric.Same(high(120)), []float64{.3, 1, 3}, nil)
		_, err2 := scale.Diametric(ctx, metric.Same(high(120)), []float64{.3, 1, 3}, nil)
		_, err3 := scale.Doubling(ctx, high(150), []float64{.3, 1, 3}, nil)
		return cmp.Or(err1, err2, err3)
	}},
	{"infinite distances", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		f := space.Formula(4, func(i, j int) float64 { return math.Inf(1) })
		if _, err := wasserstein.DistanceEM(ctx, f, []int{0, 1}, []int{2, 3}); err == nil {
			return errors.New("an infinite distance is none")
		}
		return ctx.Err()
	}},
	{"a tour of a point", bare(flat), 1, on(tsp.Solve, here)},
	{"records of a table", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		_, err := tables.Release(ctx, seeded(), slices.Repeat(records, 7000))
		s := testkit.Must(table.New(tableColumns, 1e-9, nil))
		return cmp.Or(err, err1(s.Release(ctx, seeded(), slices.Repeat(records, 7000))), err1(tableRelease.Records(ctx, seeded(), 200_000)))
	}},
	{"accountant of two outputs", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		c := testkit.Must(mechanism.FromProbabilities(context.Background(), 2, 2, []float64{.75, .25, .25, .75}, 1e-9, nil))
		for _, n := range []int64{1000, 1 << 20} {
			r, err := accountant.NewRandomizer(ctx, c, space.Path(2, 1))
			if err != nil {
				return err
			}
			if _, err := (accountant.Shuffle{Records: n, Items: 1, Randomizer: r}).Level(ctx, 1e-6); err != nil {
				return err
			}
		}
		return nil
	}},
	{"distribution of frequencies", flat, 5, func(ctx context.Context, f metric.Finite) error {
		c := testkit.Must(exponential.Standard(context.Background(), f, 1, nil)).Channel
		q, err := frequency.New(ctx, c, f, emd.Model{Trust: emd.Central, Users: 3, Items: 4}, &frequency.Options{Delta: 1e-6})
		if err != nil {
			return err
		}
		_, _, err = q.Distribution(ctx, testkit.Must(q.Estimate(testkit.Must(q.Release(seeded(), threeUsers)))))
		_, err2 := frequency.NewClustered(ctx, gkrr, emd.Model{Trust: emd.Central, Users: 1000, Items: 4, Diameter: 1}, &frequency.Options{Delta: 1e-6})
		return cmp.Or(err, err2)
	}},
	{"frequencies", globe, 40, func(ctx context.Context, f metric.Finite) error {
		m := emd.Model{Trust: emd.Local, Items: 1}
		_, err1 := frequency.NewHadamardBaseline(ctx, f, m, emd.DP{Eps: 1, Delta: 1e-6}, nil)
		_, err2 := frequency.NewLaplaceBaseline(ctx, f, emd.Model{Trust: emd.Central, Users: 100, Items: 1}, 1)
		_, err3 := frequency.ItemWiseBudget(ctx, emd.Model{Trust: emd.Central, Users: 100, Items: 1}, emd.Promise{Alpha: .1, Delta: 1e-6}, &frequency.BudgetOptions{Space: f})
		return cmp.Or(err1, err2, err3)
	}},
	{"relaxed by a search", globe, 60, on(exponential.Relaxed, beside, 5, &exponential.RelaxedOptions{Accuracy: true})},
	{"bound of a measure", high, 60, func(ctx context.Context, f metric.Finite) error {
		d := testkit.Must(domain.NewFinite(context.Background(), f, nil))
		m := testkit.Must(private.New(d, 1, &private.Options{Estimator: private.Nearest}))
		return err1(m.LowerBound(ctx))
	}},
	{"one record", flat, 1, func(ctx context.Context, _ metric.Finite) error {
		one := func(yield func([]float64, error) bool) { yield([]float64{.5}, nil) }
		return err1(measure.Count(ctx, smallBox, one, &measure.CountOptions{Workers: 2})) // 1 keeps no records
	}},
	{"cells of a domain", flat, 1 << 15, on(domain.NewFinite, here)},
	{"one-tree", flat, 2100, on(tsp.Solve, here, &tsp.SolveOptions{Kicks: -1, Bound: tsp.BoundTree})},
	{"matching of vectors", func(n int) metric.Finite { return space.Cube(n, 8, 0, metric.Euclidean{}, seeded()) }, 400, on(wasserstein.Assignment, divided)},
	{"matching of places", flat, 500, on(wasserstein.Assignment, divided)},
	{"matching by auction", flat, 1, on(wasserstein.Assignment,
		wasserstein.CostFunc(300, 300, func(i, j int) float64 { return float64((i + 1) * (j + 1)) }))},
	{"far measures without places", flat, 200, func(ctx context.Context, f metric.Finite) error {
		n := f.Len()
		far := func(i, j int) float64 { return 1000 + float64(j) + math.Abs(math.Sin(float64(i*n+j))) }
		return err1(wasserstein.Between(ctx, wasserstein.CostFunc(n, n, far), uniformly(n), arbitrary(n), nil))
	}},
	{"measures in many dimensions", flat, 1250, func(ctx context.Context, f metric.Finite) error {
		n := f.Len()
		far := func(i, j int) float64 { return 1 + math.Abs(math.Sin(float64(i*i*n+j*j))) }
		return err1(wasserstein.Between(ctx, wasserstein.CostFunc(n, n, far), uniformly(n), arbitrary(n), nil))
	}},
	{"progress of many cells", flat, 4200, func(ctx context.Context, f metric.Finite) error {
		n := f.Len()
		mu, nu := make([]float64, n), make([]float64, n)
		for i := range n / 2 {
			mu[2*i], nu[2*i+1] = 1, 1
		}
		return err1(wasserstein.W1(ctx, f, mu, nu, silent))
	}},
	{"closed form of rounded places", onLine, 60, on(wasserstein.W1, here, arbitrary, uniformly)},
}

var (
	silent       = &wasserstein.Options{Progress: func(int, float64, float64) {}}
	finiteDomain = func(f metric.Finite) any { return distribution.Finite(f) }
	// divided are the costs from the even points to the odd ones.
	divided = func(f metric.Finite) any {
		a, b := parity(f.Len())
		return testkit.Must(wasserstein.Distances(f, a, b))
	}
)

// bare is a space without its coordinates, rows and order.
func bare(of func(n int) metric.Finite) func(n int) metric.Finite {
	return func(n int) metric.Finite { return space.Formula(n, of(n).Distance) }
}

// parity gives the even and the odd numbers.
func parity(n int) (a, b []int) {
	for i := range n / 2 {
		a, b = append(a, 2*i), append(b, 2*i+1)
	}
	return a, b
}

// onLine are n points of the line, as vectors.
func onLine(n int) metric.Finite {
	x := make([][]float64, n)
	for i := range x {
		x[i] = []float64{float64(i * i % 17)}
	}
	return testkit.Must(metric.NewPoints(x, metric.Manhattan{}))
}

// provedAgain proves bounds by their witnesses.
func provedAgain(bounds func(context.Context, metric.Bimetric, float64, *entropy.Options) ([]entropy.Bound, error)) func(context.Context, metric.Finite) error {
	return func(ctx context.Context, f metric.Finite) error {
		list, err := bounds(ctx, two(f), 1, nil)
		for _, b := range list {
			if err == nil && b.Witness != nil {
				_, err = b.Witness.Prove(ctx, two(f), 1)
			}
		}
		return err
	}
}

// estimated2 releases points of a domain, estimates their distribution and its error.
func estimated2[P any](ctx context.Context, d *distribution.Domain[P], points ...P) error {
	r, err := distribution.New(ctx, d, emd.Model{Trust: emd.Central, Users: 1}, 2, nil)
	if err != nil {
		return err
	}
	report, err := r.Release(seeded(), emd.One(points))
	if err != nil {
		return err
	}
	h, err := r.Estimate(ctx, report)
	if err != nil {
		return err
	}
	return err1(h.Error(ctx, seeded(), .5, &distribution.ErrorOptions{Draws: 2}))
}

// tolerant are calls that have a result if they are within the tolerance where they are canceled:
// others are canceled at the same place.
var tolerant = regexp.MustCompile("^(anywhere|lp[.]Optimal|balanced kernel|columns of some inputs|relaxations)")

// large are the ways with programs of 260 inputs and more, which look once for each input
// and output.
var large = regexp.MustCompile("^(relaxations|start at a small level|balanced kernel|columns of some inputs)$")

// endless are the long calls that are so on few points too.
var endless = regexp.MustCompile("^(words|table|mechanismtest|measure[.](Count|Release)|private[.]Measure|distribution[.]Histogram)")

// elsewhere are the spaces on which a long call takes other ways.
var elsewhere = map[string]func(n int) metric.Finite{
	"scale.Entropic": nested, "scale.Diametric": nested, "scale.Doubling": nested, "scale.Outer": nested, "scale.Packing": nested,
	"exponential.Best": nested, "domain.NewFinite": nested, "wasserstein.Assignment": nested, "entropy.LevelFor": doubled,
	"tsp.Solve": doubled, "tsp.Solve, without an index": nested, "wasserstein.W1": doubled,
	"mechanism.Composition.Audit": func(int) metric.Finite { return flat(150) },
}

// nested is an ultrametric, and doubled has each of 75 points twice.
func nested(n int) metric.Finite {
	return testkit.Must(metric.Subdominant(context.Background(), flat(n)))
}

func doubled(int) metric.Finite {
	pts := make([][]float64, 150)
	for i := range pts {
		pts[i] = []float64{float64(i / 2 % 7), float64(i / 14)}
	}
	return space.Euclidean(pts)
}
