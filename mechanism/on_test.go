package mechanism

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// The least distance that there is makes an input another point, whether points are
// looked up or searched.
func TestOn_RefusesTheNearestOfAll(t *testing.T) {
	least := func(x, y float64) float64 {
		if x == y {
			return 0
		}
		return math.SmallestNonzeroFloat64
	}
	numbers := testkit.Must(metric.NewPoints([]float64{1, 2}, metric.Space[float64](metric.Func[float64](least))))
	vectors := testkit.Must(metric.NewPoints([][]float64{{1}, {2}}, metric.Space[[]float64](metric.Func[[]float64](func(x, y []float64) float64 { return least(x[0], y[0]) }))))
	c := expo(t, space.Path(2, 1), 1, false)
	for x, want := range map[float64]error{1: nil, 2: nil, 1.5: ErrNotAPoint} {
		if _, err := On[float64](c, numbers).Release(nil, x); !errors.Is(err, want) {
			t.Errorf("number %v: %v, want %v", x, err, want)
		}
		if _, err := On[[]float64](c, vectors).Release(nil, []float64{x}); !errors.Is(err, want) {
			t.Errorf("vector %v: %v, want %v", x, err, want)
		}
	}
}

// What Labels releases is, label by label, the matrix of the channel, whose exact
// audit is at most the guarantee: also where outputs stand for other points and
// where labels are not in the order of the points' names.
func TestLabels_IsTheChannel(t *testing.T) {
	f := space.Path(3, 1)
	c := certified(t, expo(t, f, 1, false), f, "step")
	swapped := testkit.Must(c.Relabel([]int{2, 0, 0}))
	beyond := testkit.Must(c.Relabel([]int{3, 1, 4}))
	for _, c := range []*Channel{c, swapped, beyond} {
		labels := []string{"b", "", "a", "d", "c"}
		if c != beyond {
			labels = labels[:3]
		}
		m := testkit.Must(Labels(c, labels))
		weights := make([]float64, 0, 3*len(labels))
		for x := range 3 {
			row := make([]float64, len(labels))
			for y := range c.Outputs() {
				row[c.Output(y)] += c.Prob(x, y)
			}
			count := make([]int, len(labels))
			r := random.Seeded(uint64(x))
			for range 20_000 {
				y := testkit.Must(m.Release(r, labels[x]))
				for i, label := range labels {
					if y == label {
						count[i]++
					}
				}
			}
			testkit.ChiSquare(t, count, row, 1e-7) // nine tests: false-reject probability 9e-7
			weights = append(weights, row...)
		}
		exact := testkit.Must(FromWeights(t.Context(), 3, len(labels), weights, nil))
		// The rows were rounded, to 2^-42 each.
		if a, err := exact.Audit(t.Context(), f, nil); err != nil || a.Lo > m.Guarantee().Alpha()*(1+1e-11) || m.Guarantee() != c.Guarantee() {
			t.Errorf("%v, %v (%v)", a, m.Guarantee(), err)
		}
		clear(labels)
		for range 20 {
			if y, err := m.Release(nil, "b"); err != nil || y == "" && c == swapped {
				t.Errorf("labels are not copied: %q, %v", y, err)
			}
		}
	}
}

// A label is refused that is none, or is one twice, or has no point; so is an output
// without a label.
func TestLabels_Refuses(t *testing.T) {
	c := expo(t, space.Path(3, 1), 1, false)
	cases := []refused{
		{testkit.Err(Labels(c, []string{"a", "b"})), "Labels: labels has size 2, want 3"},
		{testkit.Err(Labels(c, []string{"a", "b", "c", "d"})), "Labels: labels has size 4, want 3"},
		{testkit.Err(Labels(c, []string{"a", "b", "a"})), `Labels: labels[2] = "a" is labels[0] too`},
	}
	for _, m := range []Mechanism[int, int]{nil, (*Channel)(nil), &Channel{}} {
		cases = append(cases, refused{testkit.Err(Labels(m, []string{"a"})), "Labels: "})
	}
	for _, bad := range []any{math.NaN(), []int{1}, struct{ any }{[]int{1}}} {
		cases = append(cases, refused{testkit.Err(Labels(c, []any{1, bad, 2})), "Labels: labels[1]"})
	}
	refuse(t, cases)
	type pair struct {
		n    int
		name [2]string
	}
	for _, bad := range []any{"a\xff", pair{1, [2]string{"a", "\xc3("}}, struct{ any }{"\xff"}} {
		for _, err := range []error{testkit.Err(Labels(c, []any{1, bad, 2})), testkit.Err(LabelBoth(c, []any{1, bad, 2}, []int{1, 2, 3})),
			testkit.Err(LabelBoth(c, []int{1, 2, 3}, []any{1, bad, 2})), testkit.Err(LabelBoth(c, []int{1, 2, 3}, []any{1, []any{bad}, 2}))} {
			if err == nil || !strings.Contains(err.Error(), "s[1] = ") || !strings.HasSuffix(err.Error(), " is not valid UTF-8") {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	testkit.Must(LabelBoth(c, []pair{{1, [2]string{"\u00e9", "\ufffd"}}, {}, {n: 1}}, [][]byte{{0xff}, nil, {}}))
	m := testkit.Must(Labels(c, []any{"a", 1, 2.5}))
	for _, x := range []any{"b", 3, math.NaN(), []int{1}, nil} {
		if _, err := m.Release(nil, x); !errors.Is(err, ErrNotAPoint) || strings.Contains(err.Error(), "b\"") {
			t.Errorf("%v: %v", x, err)
		}
	}
	hidden := testkit.Must(Labels(Mechanism[int, int](unsized{testkit.Must(c.Relabel([]int{7, 7, 7}))}), []string{"a", "b", "c"}))
	if _, err := hidden.Release(nil, "a"); err == nil || !strings.Contains(err.Error(), "output 7") {
		t.Errorf("an output without a label: %v", err)
	}
	if _, err := hidden.Release(nil, "lake"); err == nil || strings.Contains(err.Error(), "lake") {
		t.Errorf("the error names the input: %v", err)
	}
}

// Outputs numbered otherwise than inputs get their own names: what is released is,
// name by name, the matrix of the channel, with equal names merged.
func TestLabelBoth_IsTheChannel(t *testing.T) {
	f := space.Path(3, 1)
	apart := testkit.Must(certified(t, expo(t, f, 1, false), f, "step").Relabel([]int{3, 1, 0}))
	inputs, outputs := []string{"a", "b", "c"}, []float64{.5, 7, 9, .5}
	for _, m := range []Mechanism[int, int]{apart, unsized{apart}} {
		both := testkit.Must(LabelBoth(m, inputs, outputs))
		for x, name := range inputs {
			want := []float64{apart.Prob(x, 0) + apart.Prob(x, 2), apart.Prob(x, 1)}
			count, r := make([]int, 2), random.Seeded(uint64(x))
			for range 20_000 {
				switch y := testkit.Must(both.Release(r, name)); y {
				case .5:
					count[0]++
				case 7:
					count[1]++
				default:
					t.Fatalf("%v released", y)
				}
			}
			testkit.ChiSquare(t, count, want, 1e-7) // six tests: false-reject probability 6e-7
		}
		if both.Guarantee() != apart.Guarantee() {
			t.Error(both.Guarantee())
		}
	}
	both := testkit.Must(LabelBoth(apart, inputs, outputs))
	inputs[0], outputs[0], outputs[1], outputs[3] = "z", 0, 0, 0
	if y, err := both.Release(nil, "a"); err != nil || y == 0 {
		t.Errorf("lists are not copied: %v, %v", y, err)
	}
	if _, err := both.Release(nil, "z"); !errors.Is(err, ErrNotAPoint) {
		t.Error(err)
	}
}

// unsized does not tell the size of its channel.
type unsized struct{ c *Channel }

func (u unsized) Guarantee() Guarantee                       { return u.c.Guarantee() }
func (u unsized) Release(rng *rand.Rand, x int) (int, error) { return u.c.Release(rng, x) }
