package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/csvfile"
)

// read streams the records and releases them. The best size of cells depends on
// how many there are: a first pass finds out, unless -records said it, and
// checks the file; the last one counts. Memory is that of the cells and of a
// sample, however long the file.
func (s *study) read(ctx context.Context, p *demo.Program, rng *rand.Rand) error {
	s.original = newSummary(len(s.columns), s.seed)
	once := s.size > 0
	if !once {
		if info, err := os.Stat(p.In); err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeCharDevice|os.ModeSocket) != 0 {
			return fmt.Errorf("%s: can be read only once: say with -records about how many there are", p.In)
		}
		if err := s.each(ctx, p, "reading", func(x []float64) error { s.original.add(x); return nil }); err != nil {
			return err
		}
		s.size = s.original.n
	}
	if err := s.build(); err != nil {
		return err
	}
	counts := s.synthesizer.Domain().NewCounts()
	err := s.each(ctx, p, "counting", func(x []float64) error {
		if once {
			s.original.add(x)
		}
		return counts.Add(x)
	})
	if err != nil {
		return err
	}
	if counts.Len() != s.original.n {
		return fmt.Errorf("%s: has changed while it was read", s.file)
	}
	s.release, err = s.synthesizer.Release(rng, counts)
	return err
}

// each calls visit for every record, moved into the bounds, in memory that the
// next one overwrites, and counts the records that had to be moved.
func (s *study) each(ctx context.Context, p *demo.Program, label string, visit func(x []float64) error) error {
	f, name, err := p.Input(shipped.file, places)
	if err != nil {
		return err
	}
	defer f.Close()
	report, wipe := p.Progress(label)
	defer wipe()
	src := &source{ctx: ctx, r: f, size: len(places), report: report}
	if file, ok := f.(*os.File); ok {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		src.size = int(info.Size()) // 0 for a pipe
	}
	s.clipped = 0
	n := 0
	x := make([]float64, len(s.columns))
	var failed error
	err = csvfile.Read(name, src, csvfile.Columns{Required: s.names, AnyLength: true}, func(r *csvfile.Row) {
		moved := false
		for k, c := range s.columns {
			v := r.Float(s.names[k], -math.MaxFloat64, math.MaxFloat64)
			x[k] = min(max(v, c.Lo), c.Hi)
			moved = moved || x[k] != v
		}
		if moved {
			s.clipped++
		}
		if n++; src.size == 0 {
			report(n, s.size)
		}
		if failed == nil { // a bad row ends Read: what visit makes of it does not matter
			failed = visit(x)
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// source is a reader that reports how far it is, and ends with the context.
type source struct {
	ctx        context.Context
	r          io.Reader
	done, size int // bytes
	report     func(done, total int)
}

func (s *source) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(b)
	if s.done += n; s.size > 0 {
		s.report(s.done, s.size)
	}
	return n, err
}
