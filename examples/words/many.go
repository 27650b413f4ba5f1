package main

import (
	"context"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/metric"
)

// many compares what there is for n words of which k may be released: those of a
// farthest-point net.
func (s *study) many(ctx context.Context, p *demo.Program, n, k int) error {
	m := &study{alpha: s.alpha, limit: 4 * s.limit, seed: s.seed}
	if err := m.read(ctx, p, n, "common.txt.gz", common); err != nil {
		return err
	}
	if k >= len(m.words) {
		p.Remark("no %d of %d words for a second table", k, len(m.words))
		return nil
	}
	_, center, err := metric.Radius(ctx, m.space)
	if err != nil {
		return err
	}
	net, radii, err := metric.FarthestFirst(ctx, m.space, k, center)
	if err != nil {
		return err
	}
	m.outputs, m.lower, m.lowerBy = net, radii[k], "the word that is farthest from them"
	names := make([]string, k)
	for i, y := range net {
		names[i] = m.words[y]
	}
	p.Remark("\n%d words of %s, released as one of %d: %s.", len(m.words), m.file, k, strings.Join(names, ", "))
	p.Remark("The farthest word is %.4g from the nearest of these: without any privacy the worst loss is as high.\n", radii[k])
	if err := m.compare(ctx, p); err != nil {
		return err
	}
	p.Print(m.table())
	m.explain(p)
	return p.WriteFile("many.csv", m.table().WriteCSV)
}
