package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/metric"
)

// read takes the first n words of the file of -in, or of the one that ships,
// and their metric.
func (s *study) read(ctx context.Context, p *demo.Program, n int, shipped string, text []byte) error {
	f, name, err := p.Input(shipped, text)
	if err != nil {
		return err
	}
	defer f.Close()
	s.file = filepath.Base(name)
	v, err := words.Read(ctx, f, &words.ReadOptions{Name: name, Max: n})
	if err != nil {
		return err
	}
	if v.Len() < 2 {
		return fmt.Errorf("%s: %d words, want two at least", name, v.Len())
	}
	s.words, s.vectors = v.Words(), v.Vectors()
	s.space, err = metric.Densify(ctx, v.Points())
	s.Comparison = demo.Comparison{Space: s.space, Measure: s.measure}
	return err
}
