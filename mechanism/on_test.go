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
)

// A label is refused that is none, or is one twice, or has no point; so is an output without a label.
func TestLabels_Refuses(t *testing.T) {
	c := expo(t, space.Path(3, 1), 1, false)
	var cases []refused
	for _, m := range []Mechanism[int, int]{nil, (*Channel)(nil), &Channel{}} {
		cases = append(cases, refused{testkit.Err(Labels(m, []string{"a"}, []string{"a"})), "Labels: m: empty"})
	}
	for _, bad := range []any{math.NaN(), []int{1}, struct{ any }{[]int{1}}} {
		cases = append(cases, refused{testkit.Err(Labels(c, []any{1, bad, 2}, []int{1, 2, 3})), "Labels: inputs[1]"})
	}
	refuse(t, cases)
	type pair struct {
		n    int
		name [2]string
	}
	for _, bad := range []any{"a\xff", pair{1, [2]string{"a", "\xc3("}}, struct{ any }{"\xff"}} {
		for _, err := range []error{testkit.Err(Labels(c, []any{1, bad, 2}, []int{1, 2, 3})),
			testkit.Err(Labels(c, []int{1, 2, 3}, []any{1, bad, 2})), testkit.Err(Labels(c, []int{1, 2, 3}, []any{1, []any{bad}, 2}))} {
			if err == nil || !strings.Contains(err.Error(), "s[1] = ") || !strings.HasSuffix(err.Error(), " is not valid UTF-8") {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	testkit.Must(Labels(c, []pair{{1, [2]string{"\u00e9", "\ufffd"}}, {}, {n: 1}}, [][]byte{{0xff}, nil, {}}))
	m := testkit.Must(Labels(c, []any{"a", 1, 2.5}, []int{0, 1, 2}))
	for _, x := range []any{"b", 3, math.NaN(), []int{1}, nil} {
		if _, err := m.Release(nil, x); !errors.Is(err, ErrNotAPoint) || strings.Contains(err.Error(), "b\"") {
			t.Errorf("%v: %v", x, err)
		}
	}
	hidden := testkit.Must(Labels(Mechanism[int, int](unsized{testkit.Must(c.Relabel([]int{7, 7, 7}))}), []string{"a", "b", "c"}, []string{"a", "b", "c"}))
	if _, err := hidden.Release(nil, "a"); err == nil || !strings.Contains(err.Error(), "output 7") {
		t.Errorf("an output without a label: %v", err)
	}
	if _, err := hidden.Release(nil, "lake"); err == nil || strings.Contains(err.Error(), "lake") {
		t.Errorf("the error names the input: %v", err)
	}
}

// Outputs numbered otherwise than inputs get their own names: what is released is,
// name by name, the matrix of the channel, with equal names merged.
func TestLabels_IsTheChannel(t *testing.T) {
	f := space.Path(3, 1)
	apart := testkit.Must(certified(t, expo(t, f, 1, false), f, "step").Relabel([]int{3, 1, 0}))
	inputs, outputs := []string{"a", "b", "c"}, []float64{.5, 7, 9, .5}
	for _, m := range []Mechanism[int, int]{apart, unsized{apart}} {
		both := testkit.Must(Labels(m, inputs, outputs))
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
	both := testkit.Must(Labels(apart, inputs, outputs))
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
