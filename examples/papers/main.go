// Papers runs the figures, tables and theorems of the five papers that this library
// stands on, and says what the paper claims, what comes out here, and why the two
// differ where they do.
//
//	go run ./examples/papers
//	go run ./examples/papers -list
//	go run ./examples/papers -only IKWAT22/table2
//	go run ./examples/papers -only IKWAT22 -full -out /tmp/papers
//
// Each exhibit takes seconds; with -full it has the sizes of the paper, and takes what
// it takes. Its pictures go to the folder of -out, with verdicts.csv, where all claims
// stand.
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/bsv22"
	"github.com/metricdp/metricdp/examples/papers/internal/bsv24"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/examples/papers/internal/ikwat22"
	"github.com/metricdp/metricdp/examples/papers/internal/irc24"
	"github.com/metricdp/metricdp/examples/papers/internal/kl10"
)

func main() { demo.Main("papers", run) }

// exhibits are all, paper by paper.
var exhibits = slices.Concat(ikwat22.Exhibits, bsv24.Exhibits, bsv22.Exhibits, kl10.Exhibits, irc24.Exhibits)

func run(ctx context.Context, p *demo.Program) error {
	only := p.Flags.String("only", "", "the exhibits whose names begin so, as IKWAT22 or IKWAT22/table2")
	full := p.Flags.Bool("full", false, "at the sizes of the papers: minutes to hours")
	list := p.Flags.Bool("list", false, "print the exhibits and run none")
	if err := p.Parse(); err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(exhibits), func(e exhibit.Exhibit) bool { return !strings.HasPrefix(e.Name, *only) })
	if len(chosen) == 0 {
		return fmt.Errorf("-only %q: no exhibit's name begins so (-list prints them)", *only)
	}
	if *list {
		t := demo.NewTable("exhibit", "what it shows")
		for _, e := range chosen {
			t.Row(e.Name, e.About)
		}
		p.Print(t)
		return nil
	}
	return exhibit.RunAll(ctx, p, chosen, *full)
}
