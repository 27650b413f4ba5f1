// Synthetic turns a table of numbers into synthetic records that may be
// published: they are like the originals in every respect that varies slowly,
// and none of the originals shows in them.
//
//	go run ./examples/synthetic
//	go run ./examples/synthetic -eps 0.1 -secure -out /tmp/synthetic
//	go run ./examples/synthetic -in people.csv -cols age,income -bounds 0:110,0:200000
//
// It streams the records, counts them in the cells of the box that the public
// bounds span, releases the counts with differential privacy and writes
// synthetic.csv. Then it compares the synthetic records with the originals.
//
// A run repeats with its -seed, and whoever knows that can take the noise off
// again. What is to be published has to be made with -secure.
package main

import (
	"context"
	_ "embed"
	"encoding/csv"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure"
)

//go:embed places.csv
var places []byte

func main() { demo.Main("synthetic", run) }

// study is what was asked for and what came of it.
type study struct {
	request
	original, synthetic *summary
	clipped             int // originals with a value outside its bounds
	synthesizer         *measure.Synthesizer[[]float64]
	release             *measure.Release[[]float64]
	records             [][]float64 // the synthetic ones
	blur                float64     // W1 of two samples of the originals; 0 where all are compared
}

func run(ctx context.Context, p *demo.Program) error {
	q, err := ask(p)
	if err != nil {
		return err
	}
	s := &study{request: q}
	noise := random.Seeded(p.Seed)
	if s.secure {
		noise = nil // the library's own
	}
	if err := s.read(ctx, p, noise); err != nil {
		return err
	}
	if err := s.synthesize(noise); err != nil {
		return err
	}
	p.Remark("Records in %s: %d, with %s.", s.file, s.original.n, strings.Join(s.spans(), ", "))
	p.Remark("They are counted in a %s.\n", s.synthesizer.Domain())
	if err := s.compare(ctx, p); err != nil {
		return err
	}
	if err := p.WriteFile("synthetic.csv", s.writeRecords); err != nil {
		return err
	}
	return s.draw(p)
}

const (
	// defaultRows is the most synthetic records that are made where -rows does not
	// say how many: they are all in memory at once.
	defaultRows = 1_000_000
)

// build makes the synthesizer. The number of records is public: what is protected
// is which records these are.
func (s *study) build() error {
	d, err := measure.NewBox(s.columns, nil)
	if err != nil {
		return err
	}
	s.synthesizer, err = measure.NewSynthesizer(d, s.eps, nil)
	return err
}

// synthesize draws the synthetic records.
func (s *study) synthesize(rng *rand.Rand) (err error) {
	if s.rows == 0 {
		s.rows = min(s.original.n, defaultRows)
	}
	s.records, err = s.release.Records(rng, s.rows, &measure.RecordOptions{Centers: !s.jitter, Shuffle: true})
	if err != nil {
		return err
	}
	s.synthetic = newSummary(len(s.columns), s.seed)
	for _, x := range s.records {
		for k, c := range s.columns {
			x[k] = round(x[k], c)
		}
		s.synthetic.add(x)
	}
	return nil
}

// fineness is the share of a column's range to which values are rounded.
const fineness = 1e-6

// round rounds v to a decimal fraction, but not out of the column's bounds.
func round(v float64, c measure.Column) float64 {
	places := math.Ceil(-math.Log10((c.Hi - c.Lo) * fineness))
	if places > 15 { // 10^places would soon not be exact
		return v
	}
	ten := math.Pow(10, max(0, places))
	return min(max(math.Round(v*ten)/ten, c.Lo), c.Hi)
}

// writeRecords writes synthetic.csv.
func (s *study) writeRecords(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(s.names) // the writer keeps its first error for Error
	line := make([]string, len(s.names))
	for _, x := range s.records {
		for k, v := range x {
			line[k] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}
