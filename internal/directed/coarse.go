//go:build coarse

package directed

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Site is a call, outside this package, of one of its functions. Several calls of
// a function on one line are one site.
type Site struct {
	File   string // absolute
	Line   int
	Func   string // of this package, such as AddUp or (*Sum).Add
	Caller string // the full name of the function that calls
}

// frames are enough for the longest way through this package and its caller.
const frames = 10

var (
	mu       sync.Mutex
	known    = map[[frames]uintptr]Site{}
	reached  map[Site]bool // nil: nobody watches
	loosened Site
)

// Watch runs f and returns the sites that it reached. The results at loose, if any
// site is it, err by some 2^-20 of their size, upper bounds upward and lower bounds
// downward. One call of Watch at a time.
func Watch(loose Site, f func()) []Site {
	mu.Lock()
	reached, loosened = map[Site]bool{}, loose
	mu.Unlock()
	f()
	mu.Lock()
	defer mu.Unlock()
	out := slices.Collect(maps.Keys(reached))
	reached = nil
	return out
}

func up(v float64) float64 {
	mu.Lock()
	defer mu.Unlock()
	if reached == nil {
		return v
	}
	var pcs [frames]uintptr
	runtime.Callers(2, pcs[:])
	site, ok := known[pcs]
	if !ok {
		site = outermost(pcs[:])
		known[pcs] = site
	}
	reached[site] = true
	if site == loosened {
		v += math.Abs(v) * 0x1p-20
	}
	return v
}

// outermost returns the call by which this package was entered. CallersFrames also
// tells functions that are inlined.
func outermost(pcs []uintptr) Site {
	const own = "github.com/metricdp/metricdp/internal/directed."
	var s Site
	for all := runtime.CallersFrames(pcs); ; {
		f, more := all.Next()
		name, inside := strings.CutPrefix(f.Function, own)
		if !inside {
			s.File, s.Line, s.Caller = f.File, f.Line, f.Function
			return s
		}
		if s.Func = name; !more {
			return s
		}
	}
}
