package exponential

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/game"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// RemappedOptions tune [Remapped]. Nil and the zero value mean the defaults.
type RemappedOptions struct {
	Options
	// Prior is the distribution of the inputs, under which the expected loss is to be
	// small; nil: the largest over the inputs.
	Prior []float64
	// Cells is into how many cells noisy points are sorted at most, those of inputs that
	// are far from each other; 0 means 1,000, or as many as outputs.
	Cells int
}

const (
	defaultCells = 1000
	// remapRoom is the share of the rate that is left to rounding.
	remapRoom = 0x1p-24
	// Where triples of two inputs and a cell are no more than tunedWork, a larger rate than
	// alpha is looked for. Only few cells allow for one.
	tunedWork = 2e8
)

// Remapped returns noise whose cells have the answers that lose least: a noisy point is sorted into the cell
// of the input nearest to it, as in [Snapped], and the output is drawn from a distribution of that cell, which
// is post-processing. Under a prior a cell answers with the output of least expected loss; without, the prior
// moves to the inputs that lose most (multiplicative weights), and the average of the answers is kept, until
// none can lose 0.4 per cent less or the rounds are used up.
//
// Spaces and errors are those of Snapped; b.Utility is what is lost. O(n*c*k) time for n points, c cells and k
// outputs, without a prior for one in 12 of 20 to 1,000 rounds; O(n*(c+k) + c*k) memory.
//
// Sources: Chatzikokolakis, ElSalamouny, Palamidessi, "Efficient utility improvement for location
// privacy", 2017; Freund, Schapire, "Adaptive game playing using multiplicative weights", 1999.
func Remapped(ctx context.Context, b metric.Bimetric, alpha float64, o *RemappedOptions) (*Mechanism, error) {
	const op = "exponential: Remapped"
	if o == nil {
		o = &RemappedOptions{}
	}
	if err := b.Check(); err != nil {
		return nil, err
	}
	n := b.Len()
	if err := cmp.Or(checkOutputs(op, o.Outputs, n), checkPrior(op, o.Prior, n)); err != nil {
		return nil, err
	}
	if o.Cells < 0 {
		return nil, fault.Value(op, "Cells", float64(o.Cells), "an integer >= 0")
	}
	sites, _, err := metric.FarthestFirst(ctx, b.Privacy, min(n, cmp.Or(o.Cells, max(defaultCells, len(o.Outputs)))), 0)
	if err != nil {
		return nil, withOp(op, err)
	}
	noise := o.Options
	noise.Outputs = sites
	fam, err := newFamily(op, MethodRemapped, b.Privacy, alpha, &noise)
	if err != nil {
		return nil, err
	}
	s, err := fam.newSnapping(ctx)
	if err != nil {
		return nil, err
	}
	r := &remap{snapping: s, outputs: o.Outputs}
	if r.outputs == nil {
		r.outputs = indices(n)
	}
	rate := s.firstRate()
	if float64(n)*float64(n)*float64(len(s.net)) <= tunedWork {
		if rate, err = s.noiseRate(ctx); err != nil {
			return nil, err
		}
	}
	return s.certifyAs(ctx, rate*(1-remapRoom), func(ctx context.Context, beta float64) (*mechanism.Channel, error) {
		// The answers are found at the first rate and stay as the rate falls: they are
		// post-processing of noise of any rate.
		w, err := s.logMasses(ctx, beta)
		if err == nil && r.answer == nil {
			err = r.findAnswers(ctx, b.Utility, o.Prior, w)
		}
		if err != nil {
			return nil, err
		}
		return r.answerChannel(ctx, w)
	})
}

// remap has a distribution of outputs for every cell.
type remap struct {
	*snapping
	outputs []int
	answer  [][]share
}

// share is the weight of an output, an index into outputs. Those of a cell have the same sum in every cell.
type share struct {
	output int
	weight float64
}

// findAnswers finds them for noise of log-masses w.
func (r *remap) findAnswers(ctx context.Context, rho metric.Finite, prior, w []float64) error {
	n, c, k := r.f.Len(), len(r.net), len(r.outputs)
	if err := fault.Memory(r.op, float64(float64(n)*float64(c+k))+float64(4*float64(c)*float64(k)), 4); err != nil {
		return err
	}
	mass, dist, bad := make([]float32, n*c), make([]float32, n*k), make([]error, n)
	// By the triangle inequality no distance is above twice this, whatever their unit.
	row := finite.Row(rho, 0, nil)
	if err := checkRow(r.op, "Utility", 0, row, nil); err != nil {
		return err
	}
	unit := cmp.Or(slices.Max(row), 1)
	err := parallel.Chunks(ctx, n, 8, r.audit.Workers, nil, func(_, lo, hi int) {
		var from []float64
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			row, sum := w[x*c:(x+1)*c], 0.0
			top := slices.Max(row)
			for _, v := range row {
				sum += math.Exp(v - top)
			}
			for y, v := range row {
				mass[x*c+y] = float32(math.Exp(v-top) / sum)
			}
			from = finite.Row(rho, x, from)
			bad[x] = checkRow(r.op, "Utility", x, from, nil)
			for j, y := range r.outputs {
				dist[x*k+j] = float32(from[y] / unit)
			}
		}
	})
	if err := cmp.Or(err, cmp.Or(bad...)); err != nil {
		return err
	}
	g := &game.Game{N: n, C: c, K: k, Mass: mass, Dist: dist, Workers: r.audit.Workers}
	first := make([]int, c)
	for y, site := range r.net {
		from := dist[site*k : (site+1)*k]
		first[y] = slices.Index(from, slices.Min(from))
	}
	var counts []float64
	if prior == nil {
		counts, err = g.Play(ctx, first, game.Gap, nil)
	} else {
		counts, err = make([]float64, c*k), g.Round(ctx, prior, first, make([]float64, n))
		for y, j := range first {
			counts[y*k+j] = 1
		}
	}
	if err != nil {
		return err
	}
	r.answer = make([][]share, c)
	for y := range r.answer {
		for j, v := range counts[y*k : (y+1)*k] {
			if v > 0 {
				r.answer[y] = append(r.answer[y], share{j, v})
			}
		}
	}
	return nil
}

// answerChannel is that of the answers, for noise of log-masses w.
func (r *remap) answerChannel(ctx context.Context, w []float64) (*mechanism.Channel, error) {
	c := len(r.net)
	type source struct {
		cell int
		log  float64
	}
	var labels []int
	var sources [][]source
	at := make(map[int]int)
	for y, shares := range r.answer {
		for _, s := range shares {
			if _, ok := at[s.output]; !ok {
				at[s.output] = len(labels)
				labels, sources = append(labels, r.outputs[s.output]), append(sources, nil)
			}
			i := at[s.output]
			sources[i] = append(sources[i], source{y, math.Log(s.weight)})
		}
	}
	return mechanism.NewChannel(ctx, mechanism.Rows{Inputs: r.f.Len(), Outputs: len(labels), Log: true, Fill: func(x int, dst []float64) {
		row := w[x*c : (x+1)*c]
		for j, list := range sources {
			most := math.Inf(-1)
			for _, s := range list {
				most = max(most, row[s.cell]+s.log)
			}
			dst[j] = most
			if most > math.Inf(-1) {
				sum := 0.0
				for _, s := range list {
					sum += math.Exp(row[s.cell] + s.log - most)
				}
				dst[j] += math.Log(sum)
			}
		}
	}}, &mechanism.ChannelOptions{Labels: labels, Workers: r.audit.Workers})
}
