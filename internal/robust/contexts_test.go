package robust

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
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
	at     sighting // no look is at its zero
	left   int      // looks until it is canceled
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
	if c.left--; at == c.at || c.left < 0 {
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
	byinput = "programs here are too small for it; its package stops it at its looks"
	ended   = "asked once a search has ended, or after more steps than it has here"
	aside   = "on a way that no call here takes"
	listed  = "by a table: the looks come by the functions in it"
)

// unwatched are the calls that no look comes by: by reason and file, the function and
// what it calls.
var unwatched = map[string]map[string]string{
	byinput: {
		"internal/ipm/byinput/factor.go": "Factorize.attempt Factorize.solveBorder attempt.Chunks attempt.factor attempt.Err factor.Chunks factor.update factor.Signed update.Err",
		"internal/ipm/byinput/order.go":  "eliminate.Err",
		"internal/ipm/byinput/plan.go":   "NewPlan.eliminate",
		"internal/ipm/byinput/solve.go":  "Solve.residual Solve.apply solveBorder.apply residual.Chunks apply.Chunks apply.Err",
		"internal/ipm/input.go":          "inputPlan.NewPlan assembleInput.Factorize newtonInput.Solve",
		"internal/ipm/lazy.go":           "Lazily.Err",
		"internal/ipm/solve.go":          "Prepare.inputPlan",
		"internal/ipm/sparse_link.go":    "linkSparse.Chunks linkSparse.Err",
	},
	aside: {
		"entropy/scale/doubling.go":                 "search.cliques",
		"entropy/internal/cells/prover.go":          "search.Reaches",
		"entropy/internal/clique/clique.go":         "Reaches.search",
		"entropy/families/measures.go":              "MeasureNet.Densify",
		"entropy/nets.go":                           "Prove.prove",
		"entropy/scale/packing.go":                  "cliques.Solve clusterSets.Assign",
		"entropy/upper.go":                          "UpperBounds.newWork",
		"internal/parallel/sort.go":                 "Sort.Chunks Sort.merge",
		"lp/choose.go":                              "Choose.searched try.build spanner.Spanner",
		"lp/internal/kernel/kernel.go":              "channel.NewChannel channel.Certify",
		"lp/internal/kernel/ring.go":                "addRings.Chunks ringsAround.Factorize ringsAround.Solve",
		"lp/merge.go":                               "prepare.Lazily shortest.NewGraphEdges shortest.Pairs",
		"lp/mostprivate.go":                         "start.separate run.try run.over separate.Optimal separate.FromWeights separate.Certify separate.Misses",
		"lp/repair.go":                              "eachOutput.Chunks",
		"lp/spanner.go":                             "Spanner.adversary search.solve",
		"lp/start.go":                               "start.searched noise.remapped noise.family searched.LowerBounds remapped.family",
		"mechanism/atlevel.go":                      "AtLevel.",
		"mechanism/audit.go":                        "audit.auditPure auditDelta.auditPure",
		"mechanism/composition.go":                  "audit.pure pure.pairs audit.check",
		"mechanism/emd/accountant/change.go":        "near.chord chord.logDelta chord.node node.logDelta",
		"mechanism/emd/accountant/path.go":          "proves.delta delta.near",
		"mechanism/emd/accountant/shuffle.go":       "level.level budget.budget",
		"mechanism/emd/accountant/shuffled.go":      "proves.proves",
		"mechanism/emd/accountant/thresholds.go":    "upTo.minimize",
		"mechanism/emd/accountant/veil.go":          "logDelta.among among.New",
		"mechanism/emd/distribution.go":             "NewDistribution.open NewDistribution.plan Estimate.Fit",
		"mechanism/emd/domain.go":                   "Fit.Fit W1.W1",
		"mechanism/emd/finite.go":                   "choosePlan.centers choosePlan.star subdominant.",
		"mechanism/emd/frequencies.go":              "NewGKRRFrequencies.itemWiseFrequencies Distribution.Project",
		"mechanism/emd/hadamard.go":                 "Channel.NewChannel NewHadamardFrequencies.checkOn",
		"mechanism/emd/histogram.go":                "Error.Fit Error.W1",
		"mechanism/emd/internal/tents/box.go":       "Fit.Fit W1.W1",
		"mechanism/emd/internal/tents/sphere.go":    "Fit.Fit W1.W1",
		"mechanism/emd/itemwise.go":                 "ItemWiseBudget.shuffleOf Release.tally Release.drawRuns",
		"mechanism/emd/laplace.go":                  "NewLaplaceFrequencies.checkOn",
		"mechanism/exponential/lazy.go":             "lazy.NewChannel",
		"mechanism/exponential/relaxed.go":          "relax.bound bound.clusters",
		"mechanism/exponential/snapped.go":          "channel.weights",
		"mechanism/losses.go":                       "within.hockey",
		"mechanism/measure/bound.go":                "bound.PrivateMeasureBound",
		"mechanism/measure/estimate.go":             "measureFrom.nearest nearest.Densify nearest.Project",
		"mechanism/measure/domain/finite.go":        "NewFinite.domain",
		"mechanism/measure/domain/taxonomy.go":      "NewTaxonomy.newNet newUltrametric.newNet",
		"mechanism/measure/table/synthesizer.go":    "release.measureMargins release.measurePairs measurePairs.Count",
		"tsp/covering.go":                           "covering.Net",
		"tsp/internal/heldkarp/boruvka.go":          "spanning.prim",
		"tsp/internal/heldkarp/heldkarp.go":         "tree.spanning OneTree.prove",
		"tsp/solve.go":                              "bound.OneTree",
		"wasserstein/assignment.go":                 "Assignment.matchPlaces matchPlaces.solve",
		"wasserstein/cells.go":                      "solveCells.prove",
		"wasserstein/internal/assignment/solver.go": "solve.auction",
		"wasserstein/internal/simplex/costs.go":     "reduce.Store extend.Potentials",
		"wasserstein/tree.go":                       "along.prove",
		"wasserstein/w1.go":                         "problem.solveCells",
	},
	listed: {"mechanism/exponential/best.go": "Best.build"},
	ended: {
		"internal/dense/dense.go":                    "gauss.Err",
		"internal/parallel/sort.go":                  "merge.Err",
		"lp/choose.go":                               "Choose.Err",
		"lp/constopt.go":                             "replacement.cause",
		"lp/mostprivate.go":                          "start.Err",
		"lp/optimal.go":                              "search.Err",
		"lp/problem.go":                              "cause.Err distances.cause constant.cause",
		"mechanism/emd/accountant/path.go":           "delta.Err",
		"mechanism/emd/accountant/thresholds.go":     "minimize.Err",
		"mechanism/exponential/relaxed.go":           "bound.Err",
		"tsp/improve.go":                             "descend.Err",
		"tsp/internal/heldkarp/boruvka.go":           "spanning.Err",
		"wasserstein/internal/assignment/auction.go": "auction.Err",
		"wasserstein/multiset.go":                    "multisetCost.Err",
	},
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
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"examples", "testdata", "testkit", "tools", ".git"}, d.Name()) || strings.HasSuffix(d.Name(), "test") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, root+"/")
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
		return nil
	})
	testkit.Check(t, err)
	for i, c := range calls {
		if !c.asks && (c.local && !plain[filepath.Dir(c.file)+" "+c.callee] || !any[c.callee]) {
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
var keepers = []string{"limit", "linger", "Cause", "newSolver"}

// TestContexts_AreLookedAt makes the calls of the registry, and long ones on few points,
// with a context that records its looks. Each call in the library that is given a
// context, and each that asks one, is on the way to such a look, or in it: were it
// given another context, or not asked, it would be missed. Each call is then canceled
// at each place of a look, and says so.
func TestContexts_AreLookedAt(t *testing.T) {
	testkit.Swept(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // loops are on the goroutine of the call
	log := &sightings{stacks: map[[64]uintptr]sighting{}, calls: map[sighting]bool{}}
	canceled := map[sighting]bool{}
	run := func(name string, at sighting, call func(context.Context) error) {
		most := 20_000
		if endless.MatchString(name) {
			most = 40
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		log.run = map[sighting]bool{}
		c := &watched{Context: ctx, cancel: cancel, log: log, at: at, left: most}
		if err := call(c); c.done && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: canceled at %s:%d, the error is %v", name, at.file, at.line, err)
		}
	}
	for _, s := range watchedCalls() {
		run(s.name, sighting{}, s.call)
		looks := log.run
		for at := range looks {
			if !canceled[at] {
				canceled[at] = true
				run(s.name, at, s.call)
			}
		}
	}
	calls := contextCalls(t)
	excused := map[string]bool{} // and whether it is needed
	for _, files := range unwatched {
		for file, list := range files {
			for _, about := range strings.Fields(list) {
				excused[file+" "+about] = false
			}
		}
	}
	for _, h := range calls {
		if log.calls[h.sighting] {
			continue
		}
		about := h.file + " " + h.about()
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
				in := make([]reflect.Value, fn.Type().NumIn())
				for i, a := range c.arguments(fn.Type()) {
					in[i] = reflect.New(fn.Type().In(i)).Elem()
					if a != nil {
						in[i].Set(reflect.ValueOf(a))
					}
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
	for _, c := range longCalls {
		sizes := []func() metric.Finite{func() metric.Finite { return c.on(40) }}
		if more := elsewhere[c.name]; more != nil {
			sizes = append(sizes, more)
		}
		for _, f := range sizes {
			out = append(out, watchedCall{c.name, func(ctx context.Context) error { return c.call(ctx, f()) }})
		}
	}
	return append(out, ways...)
}

// ways are calls that go on where those of the registry turn off.
var ways = []watchedCall{
	{"hierarchies", func(ctx context.Context) error {
		u := nested()
		f := space.Formula(u.Len(), u.Distance)
		_, err1 := scale.Packing(ctx, f, nil, .1, nil)
		_, err3 := scale.Diametric(ctx, metric.Same(f), []float64{5}, nil)
		_, err4 := scale.Entropic(ctx, metric.Same(f), []float64{5}, nil)
		_, err5 := scale.Doubling(ctx, f, []float64{5}, nil)
		_, err6 := scale.Outer(ctx, f, []float64{5}, nil)
		return cmp.Or(err1, err3, err4, err5, err6)
	}},
	{"two hierarchies", func(ctx context.Context) error {
		return err1(scale.Entropic(ctx, metric.Same(nested()), []float64{5}, nil))
	}},
	{"two hierarchies, diametric", func(ctx context.Context) error {
		return err1(scale.Diametric(ctx, metric.Same(nested()), []float64{5}, nil))
	}},
	{"hierarchy and space", func(ctx context.Context) error {
		return err1(scale.Entropic(ctx, metric.Bimetric{Privacy: nested(), Utility: flat(40)}, []float64{5}, nil))
	}},
	{"doubling of 150", func(ctx context.Context) error { return err1(scale.Doubling(ctx, flat(150), []float64{5}, nil)) }},
	{"large packing", func(ctx context.Context) error {
		return err1(scale.Packing(ctx, flat(4200), nil, .1, nil))
	}},
	{"dense, not definite", func(ctx context.Context) error {
		const n = 130
		fill := func(a []float64) error {
			clear(a)
			for i := range n {
				a[i*n+i] = float64(2*(i%2) - 1)
			}
			return nil
		}
		a := make([]float64, n*n)
		return err1(dense.Factorize(ctx, n, a, fill))
	}},
	{"sort", func(ctx context.Context) error {
		x := make([]int, 1<<15)
		for i := range x {
			x[i] = i * 40503 & (1<<15 - 1)
		}
		return parallel.Sort(ctx, x, cmp.Compare[int])
	}},
	{"cells of W1", func(ctx context.Context) error {
		f := flat(300)
		return err1(wasserstein.W1(ctx, f, arbitrary(300), uniformly(300), &wasserstein.Options{Cells: 40}))
	}},
	{"progress of W1", func(ctx context.Context) error {
		f := flat(100)
		return err1(wasserstein.W1(ctx, f, arbitrary(100), uniformly(100), &wasserstein.Options{Progress: func(int, float64, float64) {}}))
	}},
	{"large W1", func(ctx context.Context) error {
		return err1(wasserstein.W1(ctx, flat(1200), arbitrary(1200), uniformly(1200), nil))
	}},
	{"large W1 without places", func(ctx context.Context) error {
		f := flat(500)
		return err1(wasserstein.W1(ctx, space.Formula(500, f.Distance), arbitrary(500), uniformly(500), nil))
	}},
	{"large W1, lazy", func(ctx context.Context) error {
		f := flat(500)
		return err1(wasserstein.W1(ctx, space.Formula(500, f.Distance), arbitrary(500), uniformly(500), &wasserstein.Options{Lazy: true}))
	}},
	{"assignment of places", func(ctx context.Context) error {
		f := flat(80)
		a, b := parity(80)
		return err1(wasserstein.Assignment(ctx, testkit.Must(wasserstein.Distances(f, a, b)), nil))
	}},
	{"assignment by auction", func(ctx context.Context) error {
		f := high(1200)
		a, b := parity(1200)
		return err1(wasserstein.Assignment(ctx, testkit.Must(wasserstein.Distances(f, a, b)), nil))
	}},
	{"tours of doubled points", func(ctx context.Context) error {
		f := doubled()
		return err1(tsp.Solve(ctx, space.Formula(f.Len(), f.Distance), nil))
	}},
	{"space filling", func(ctx context.Context) error { return err1(tsp.SpaceFilling(ctx, flat(40), tsp.Closed)) }},
	{"covering integral", func(ctx context.Context) error { return err1(tsp.CoveringIntegral(ctx, flat(3000))) }},
	{"sampled triples", func(ctx context.Context) error {
		return metric.Validate(ctx, globe(60), &metric.ValidateOptions{MaxTriples: 10, Samples: 100})
	}},
	{"separated domain", func(ctx context.Context) error {
		return err1(domain.NewFinite(ctx, flat(60), &domain.FiniteOptions{Separation: .2}))
	}},
	{"domain without an index", func(ctx context.Context) error {
		return err1(domain.NewFinite(ctx, high(60), nil))
	}},
	{"separated taxonomy", func(ctx context.Context) error {
		return err1(domain.NewFolded(ctx, flat(60), &domain.FoldedOptions{Separation: .2}))
	}},
	{"precise composition", func(ctx context.Context) error {
		return err1(twice(flat(60)).Audit(ctx, flat(60), &mechanism.AuditOptions{Delta: .01}))
	}},
	{"tiny delta", func(ctx context.Context) error {
		return err1(lazily(flat(60)).Audit(ctx, flat(60), &mechanism.AuditOptions{Delta: 1e-300}))
	}},
	{"pure composition", func(ctx context.Context) error {
		return err1(twice(flat(40)).Audit(ctx, flat(40), nil))
	}},
	{"read channel", func(ctx context.Context) error {
		b := testkit.Must(channel.MarshalJSON())
		return err1(mechanism.ReadChannel(ctx, bytes.NewReader(b), path, nil))
	}},
	{"channel of the local model", func(ctx context.Context) error {
		return err1(emd.NewDistribution(ctx, emd.Finite(flat(60)), local, 1, nil))
	}},
	{"separated ultrametric", func(ctx context.Context) error {
		return err1(domain.NewUltrametric(ctx, nested().(*metric.Ultrametric), nil))
	}},
	{"read words", func(ctx context.Context) error {
		return err1(words.Read(ctx, strings.NewReader("2 2\na 1 2\nb 3 4\n"), nil))
	}},
	{"limited programs", func(ctx context.Context) error {
		return err1(lp.Optimal(ctx, metric.Same(flat(30)), 5, &lp.Options{TimeLimit: time.Hour}))
	}},
	{"limited choice", func(ctx context.Context) error {
		return err1(lp.Choose(ctx, metric.Same(flat(30)), 5, &lp.ChooseOptions{TimeLimit: time.Hour}))
	}},
	{"by input", func(ctx context.Context) error {
		return err1(lp.Optimal(ctx, metric.Same(woods(300)), 1, &lp.Options{Outputs: []int{0, 1, 2, 3, 4, 5}, Tolerance: .3}))
	}},
}

// parity gives the even and the odd numbers.
func parity(n int) (a, b []int) {
	for i := range n / 2 {
		a, b = append(a, 2*i), append(b, 2*i+1)
	}
	return a, b
}

// endless are the long calls that are so on few points too.
var endless = regexp.MustCompile("^(words|table|mechanismtest|measure[.](Count|Release|Measure)|emd[.]Histogram)")

// elsewhere are the spaces on which a long call takes other ways.
var elsewhere = map[string]func() metric.Finite{
	"scale.Entropic": nested, "scale.Diametric": nested, "scale.Doubling": nested, "scale.Outer": nested, "scale.Packing": nested,
	"exponential.Best": nested, "domain.NewFinite": nested, "wasserstein.Assignment": nested, "entropy.LevelFor": doubled,
	"tsp.Solve": doubled, "tsp.Solve, without an index": nested, "wasserstein.W1": doubled, "lp.Extended": func() metric.Finite { return woods(40) },
	"mechanism.Composition.Audit": func() metric.Finite { return flat(150) },
}

// nested is an ultrametric, and doubled has each point twice.
func nested() metric.Finite {
	return testkit.Must(metric.Subdominant(context.Background(), flat(40)))
}

func doubled() metric.Finite {
	pts := make([][]float64, 150)
	for i := range pts {
		pts[i] = []float64{float64(i / 2 % 7), float64(i / 14)}
	}
	return space.Euclidean(pts)
}
