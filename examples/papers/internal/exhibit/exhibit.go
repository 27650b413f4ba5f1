// Package exhibit runs parts of papers and prints what they claim beside what
// comes out.
package exhibit

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

// Exhibit is a figure, a table or a theorem of a paper.
type Exhibit struct {
	Name  string                            // paper and place, as in "IKWAT22/table2"
	About string                            // one line: what it shows
	Run   func(ctx context.Context, r *Run) // fails by [Must] or [Check]
}

// Verdict is how a claim fares.
type Verdict string

const (
	Holds     Verdict = "holds"
	Better    Verdict = "better"    // here it is better than the paper has it
	Differs   Verdict = "differs"   // expected to, and said why
	Corrected Verdict = "corrected" // false as printed; the right one holds
	Fails     Verdict = "FAILS"     // neither the paper's claim nor what was expected here
)

// claim is one line of the table of verdicts.
type claim struct {
	place, text string
	paper, here any
	verdict     Verdict
	why         string
}

// Run is one run of an exhibit, at the size of the paper if Full.
type Run struct {
	*demo.Program
	Full   bool
	claims []claim
}

// Say adds a claim of the paper, with the place where it stands, as in "Theorem 3": what
// it says in short, its number or formula, "-" where it prints none, what came out here, and
// why the two differ, which may be "" where nothing does. A number of ours is never the paper's.
func (r *Run) Say(place, text string, paper, here any, v Verdict, why string) {
	r.claims = append(r.claims, claim{place, text, paper, here, v, why})
}

// WriteCharts is that of the program, with [Check].
func (r *Run) WriteCharts(file string, charts ...*demo.Chart) {
	Check(r.Program.WriteCharts(file, charts...))
}

// failure is what [Check] panics with.
type failure struct{ error }

// Check ends the exhibit with err, where there is one. It is for the goroutine of Run.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must returns v after a Check.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Must2 is Must of two values.
func Must2[T, U any](v T, w U, err error) (T, U) {
	Check(err)
	return v, w
}

// Largest is Must of a value that a pair of points reaches, as [metric.Diameter] returns it.
func Largest(v float64, _, _ int, err error) float64 { return Must(v, err) }

// run runs the exhibit and returns what ended it.
func (e Exhibit) run(ctx context.Context, r *Run) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
	}()
	e.Run(ctx, r)
	return nil
}

// If is v where ok, which the run has found out, and Fails otherwise.
func If(ok bool, v Verdict) Verdict {
	if ok {
		return v
	}
	return Fails
}

// Near is Holds where two numbers differ by at most the share rel of want, and Fails
// otherwise.
func Near(got, want, rel float64) Verdict {
	return If(math.Abs(got-want) <= rel*math.Abs(want), Holds)
}

// Tally counts the cases in which a claim holds.
type Tally struct{ ok, all int }

// Add counts a case.
func (t *Tally) Add(ok bool) {
	t.all++
	if ok {
		t.ok++
	}
}

// Say is [Run.Say] of a claim that fails unless it held in all cases.
func (t Tally) Say(r *Run, place, claim, paper string, v Verdict, why string) {
	r.Say(place, claim, paper, fmt.Sprintf("%d of %d", t.ok, t.all), If(t.all > 0 && t.ok == t.all, v), why)
}

// Size is small by default and large where the run is full.
func Size[T any](r *Run, small, large T) T {
	if r.Full {
		return large
	}
	return small
}

// RunAll runs exhibits one after the other and prints the claims of each. It fails
// after the last one where a claim did.
func RunAll(ctx context.Context, p *demo.Program, exhibits []Exhibit, full bool) error {
	sheet := demo.NewTable("exhibit", "place", "claim", "paper", "here", "verdict", "why")
	count := map[Verdict]int{}
	for i, e := range exhibits {
		r := &Run{Program: p, Full: full}
		if err := e.run(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		if i > 0 {
			fmt.Fprintln(p.Stdout)
		}
		fmt.Fprintf(p.Stdout, "%s: %s\n", e.Name, e.About)
		r.print()
		for _, c := range r.claims {
			sheet.Row(e.Name, c.place, c.text, c.paper, c.here, string(c.verdict), c.why)
			count[c.verdict]++
		}
	}
	if err := p.WriteFile("verdicts.csv", sheet.WriteCSV); err != nil {
		return err
	}
	var parts []string
	for _, v := range []Verdict{Holds, Better, Differs, Corrected, Fails} {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[v], v))
		}
	}
	fmt.Fprintf(p.Stdout, "\nclaims: %s\n", strings.Join(parts, ", "))
	if count[Fails] > 0 {
		return fmt.Errorf("claims that fail: %d", count[Fails])
	}
	return nil
}

// print prints the claims as a table, and below it why they differ.
func (r *Run) print() {
	t := demo.NewTable("place", "claim", "paper", "here", "verdict")
	for _, c := range r.claims {
		t.Row(c.place, c.text, c.paper, c.here, string(c.verdict))
	}
	r.Print(t)
	for _, c := range r.claims {
		if c.why != "" {
			fmt.Fprintf(r.Stdout, "  %s: %s\n", c.text, c.why)
		}
	}
}
