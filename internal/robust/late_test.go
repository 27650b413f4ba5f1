package robust

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/metric"
)

// ending cancels a context at a distance, and counts those asked for once it is done.
type ending struct {
	metric.Finite
	left, late *atomic.Int64
	cancel     context.CancelFunc
	done       *atomic.Bool
}

func (e ending) Distance(i, j int) float64 {
	if e.left.Add(-1) == 0 {
		e.cancel()
		e.done.Store(true)
	} else if e.done.Load() {
		e.late.Add(1)
	}
	return e.Finite.Distance(i, j)
}

// TestCalls_AskForFewDistancesOnceCanceled: a distance may take microseconds. Once its
// context is done, no long call of these packages asks for more than some rows of
// distances on every core, wherever it is.
func TestCalls_AskForFewDistancesOnceCanceled(t *testing.T) {
	const n = 200
	rows := 3 * runtime.GOMAXPROCS(0)
	for _, c := range longCalls {
		pkg, _, _ := strings.Cut(c.name, ".")
		if pkg != "metric" && pkg != "tsp" && pkg != "exponential" {
			continue
		}
		f := c.on(n)
		for _, after := range []int64{1, 3 * n, n * n / 8, n * n * 5 / 8, n * n * 9 / 8, n * n * 17 / 8, n * n * 6} {
			ctx, cancel := context.WithCancel(t.Context())
			e := ending{f, new(atomic.Int64), new(atomic.Int64), cancel, new(atomic.Bool)}
			e.left.Store(after)
			err := c.call(ctx, e)
			late := e.late.Load()
			if e.done.Load() && err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", c.name, err)
			}
			most := int64(rows * n)
			if pkg == "tsp" { // moves of a search ask for some distances each
				most += 1 << 13
			}
			if late > most {
				t.Errorf("%s: canceled at distance %d, asked for %d more, %.1f rows (%v)", c.name, after, late, float64(late)/n, err)
			}
			cancel()
			if !e.done.Load() {
				break
			}
		}
	}
}
