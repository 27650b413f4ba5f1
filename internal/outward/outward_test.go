//go:build coarse

package outward_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/arch/api"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/testkit"
)

// end is an end of what is proved: an upper bound or a lower one.
type end struct {
	name  string
	value float64
	upper bool
}

func hi(name string, v float64) end { return end{name, v, true} }
func lo(name string, v float64) end { return end{name, v, false} }

// both are the ends of an interval.
func both(name string, l, h float64) []end { return []end{lo(name, l), hi(name, h)} }

// inward tells whether e proves more than base does, by more than ties and the ends of
// bisections do, and less than 2^-20.
func (e end) inward(base end) bool {
	slack := 0x1p-30 * math.Abs(base.value)
	if e.value == base.value { // both may be infinite
		return false
	}
	if e.upper {
		return !(e.value >= base.value-slack)
	}
	return !(e.value <= base.value+slack)
}

// scenario computes ends of a fixed object. What depends on how a search ends has
// no place in one, unless the search can only end worse. Sites that steer matches, as
// in lp/star.go:231 AddDown, choose here what is computed: others watch them.
type scenario struct {
	name  string
	steer string
	ends  func() []end
}

var scenarios = slices.Concat(ofMechanism, ofEntropy, ofLP, ofEMD, ofMeasure)

// root is the folder of the module.
var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

func place(s directed.Site) string {
	return fmt.Sprintf("%s:%d", strings.TrimPrefix(s.File, root+"/"), s.Line)
}

// run computes the ends of a scenario, or an error where the library refuses.
func (s scenario) run(loose directed.Site) (ends []end, sites []directed.Site, err error) {
	sites = directed.Watch(loose, func() {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%v", r)
			}
		}()
		ends = s.ends()
	})
	return ends, sites, err
}

// METRICDP_SITE, an expression such as lp/star.go:231, chooses the sites that are made
// coarse and must move an end, for one who changed a line.
func TestEnds_MoveOutward(t *testing.T) {
	chosen := regexp.MustCompile(os.Getenv("METRICDP_SITE"))
	seen, moved := map[string]bool{}, map[string]bool{}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			base, sites, err := s.run(directed.Site{})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range base {
				if math.IsNaN(e.value) {
					t.Errorf("%s is NaN", e.name)
				}
			}
			for _, site := range sites {
				at := place(site)
				key := at + " " + site.Func
				seen[key] = true
				if !chosen.MatchString(key) || free(site) || s.steer != "" && regexp.MustCompile(s.steer).MatchString(key) {
					continue
				}
				ends, _, err := s.run(site)
				if err != nil { // what is looser may be refused
					continue
				}
				if len(ends) != len(base) {
					t.Errorf("%s: %s: %d ends instead of %d", at, site.Func, len(ends), len(base))
					continue
				}
				for i, e := range ends {
					if e.inward(base[i]) {
						t.Errorf("%s: with %s coarser %s goes inward, from %v to %v", at, site.Func, e.name, base[i].value, e.value)
					}
					moved[key] = moved[key] || e.value != base[i].value
				}
			}
		})
	}
	found := map[string]bool{}
	for _, c := range calls(t) {
		key := fmt.Sprintf("%s:%d %s", c.file, c.line, c.callee)
		about := c.file + " " + c.caller
		_, known := excused[about]
		_, choice := choices[about+" "+c.callee]
		found[about] = found[about] || known && !moved[key]
		switch {
		case known || choice || moved[key] || !chosen.MatchString(key):
		case seen[key]:
			t.Errorf("%s in %s moves no end of any scenario", key, c.caller)
		default:
			t.Errorf("%s in %s is reached by no scenario", key, c.caller)
		}
	}
	for about := range excused {
		if !found[about] && chosen.String() == "" {
			t.Errorf("excused, but gone, or with all its calls seen: %s", about)
		}
	}
}

// call is a call of package directed in the source.
type call struct {
	file           string
	line           int
	caller, callee string
}

var rounded = regexp.MustCompile(`^(\w+(Up|Down)|Next|Prev)$`)

// calls finds the calls of directed's rounding functions in the library, but for
// the methods of its Sum.
func calls(t *testing.T) (out []call) {
	testkit.Check(t, api.Library(root, func(path string, set *token.FileSet, f *ast.File) {
		for _, d := range f.Decls {
			caller := "a variable"
			if fn, ok := d.(*ast.FuncDecl); ok {
				caller = fn.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok || !rounded.MatchString(s.Sel.Name) {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "directed" {
					out = append(out, call{path, set.Position(s.Pos()).Line, caller, s.Sel.Name})
				}
				return true
			})
		}
	}))
	return out
}

// choices are functions whose rounding chooses what is proved rather than bounding it:
// their sites are left as they are. Keys are file, caller and function of directed.
var choices = map[string]string{
	"entropy/closed.go star DivDown": "the weights of a witness, which is proved anew",
	"entropy/nets.go prove MulDown":  "a rate; what it proves is bounded for any",
}

// declared finds the name of the declared function, which a function literal may be in.
var declared = regexp.MustCompile(`\.(\w+)(\[\.\.\.\])?(\.func[\d.]+)*$`)

// free tells whether the site is such a choice.
func free(s directed.Site) bool {
	caller := declared.FindStringSubmatch(s.Caller)
	file, _, _ := strings.Cut(place(s), ":")
	if caller == nil {
		return false
	}
	_, ok := choices[file+" "+caller[1]+" "+s.Func]
	return ok
}

// Reasons why a call moves no end.
const (
	decides = "decides, beside a margin or before an exact decision, and bounds nothing that is returned"
	skips   = "decides what need not be looked at; the certificate is computed apart from it"
	small   = "less than 2^-20 of every end here: the package's own tests see it"
	slack   = "does not bind here: the package's own tests see it"
	within  = "the width of noise, which no exported name tells: the package's own tests see it"
	lattice = "an input of a bound on a lattice that is chosen anew for every number"
	rare    = "on a way that small spaces do not take"
	prints  = "is printed"
)

// excused are files and callers with calls that move no end of any scenario.
var excused = map[string]string{
	"entropy/upper.go separations":                                 decides, // the scale there is a step function
	"entropy/whole.go below":                                       decides,
	"entropy/families/baire.go EntropicScale":                      decides,
	"entropy/scale/doubling.go allowed":                            decides,
	"entropy/internal/limit/limit.go Reach":                        decides,
	"entropy/internal/limit/limit.go Least":                        decides,
	"entropy/nets.go row":                                          slack, // TestRow_EnclosesTheNormalizer
	"entropy/scale/outer.go add":                                   decides,
	"lp/anywhere/spaces.go onEarth":                                within, // TestEarth_MapsNoPlacesApart
	"lp/local.go complete":                                         rare,   // TestComplete_RoundsDown
	"lp/mean.go proved":                                            rare,   // TestMean_RoundsDown
	"lp/mean.go meanProgram":                                       rare,   // TestMean_RoundsDown
	"lp/patch.go behind":                                           slack,  // TestBehind_CountsTheRoundingOfSlack
	"mechanism/additive/discretegaussian.go DiscreteGaussianDelta": small,
	"mechanism/additive/knorm.go alphaFor":                         within,
	"mechanism/additive/tracks.go earthTracks":                     within, // TestEarthTrail_MapsNoPlacesApart
	"mechanism/additive/trail.go newLevels":                        within, // TestTrail_LevelRoundsUp
	"mechanism/additive/trail.go level":                            small,  // TestTrail_LevelRoundsUp
	"mechanism/additive/sphere.go sphereAlpha":                     within,
	"mechanism/audit.go lnRatio":                                   slack, // other ways of the same function bind
	"mechanism/composition.go findAbove":                           decides,
	"mechanism/budget.go String":                                   prints,
	"mechanism/emd/accountant/clones.go many":                      lattice,
	"mechanism/emd/accountant/composition.go logDelta":             decides,
	"mechanism/emd/accountant/interval.go BudgetInterval":          slack,
	"mechanism/emd/accountant/shuffle.go movedDelta":               decides,
	"mechanism/emd/accountant/randomizer.go find":                  lattice,
	"mechanism/emd/accountant/veil.go response":                    lattice,
	"mechanism/emd/accountant/randomizer.go least":                 lattice,
	"mechanism/emd/accountant/veil.go newBlanket":                  lattice,
	"mechanism/emd/accountant/veil.go less":                        lattice, // TestCoins_LessIsRoundedDown
	"mechanism/emd/accountant/veil.go logDelta":                    lattice,
	"mechanism/emd/distribution/domain.go level":                   within,
	"mechanism/emd/distribution/domain.go positionsPlan":           within,
	"mechanism/emd/frequency/gkrr.go NewGKRR":                      decides,
	"mechanism/emd/guarantee.go At":                                decides,
	"mechanism/filter.go cost":                                     small, // next to what the conversion takes: TestLossFilter_CostsAreDivergences
	"mechanism/emd/internal/feature/feature.go Steepest":           within,
	"mechanism/emd/internal/tents/box.go NewBox":                   within,
	"mechanism/emd/internal/tents/box.go Slope":                    within,
	"mechanism/emd/internal/tents/sphere.go NewSphere":             within,
	"mechanism/emd/internal/tents/sphere.go Slope":                 within,
	"mechanism/emd/internal/tents/tents.go Slope":                  within,
	"mechanism/emd/query/linear.go addGaussian":                    within,
	"mechanism/emd/reduce_plan.go try":                             slack,
	"mechanism/emd/internal/norm/norm.go LdexpUp":                  rare,
	"mechanism/exponential/lazy.go lazyRate":                       within,
	"mechanism/exponential/relaxed.go scales":                      decides,
	"mechanism/exponential/relaxed.go bound":                       decides,
	"mechanism/guarantee.go Group":                                 slack, // where e^eps - 1 is a number its quotient is smaller
	"mechanism/composedloss.go most":                               decides,
	"mechanism/composedloss.go within":                             decides,
	"mechanism/measure/domain/finite.go largest":                   rare,
	"tsp/covering.go covering":                                     rare,
	"tsp/internal/heldkarp/certify.go certify":                     small,
	"walk/noise.go newNoise":                                       within,
	"wasserstein/cells.go spread":                                  skips,
	"wasserstein/internal/assignment/list.go fill":                 skips,
	"wasserstein/internal/prices/prices.go lower":                  skips,
	"wasserstein/tree.go sources":                                  small,
	"wasserstein/w1.go proved":                                     prints,
}
