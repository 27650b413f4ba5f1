package privatebeam

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window/trigger"
)

// batch refuses collections that would be released more than once: a release per
// window, or per firing of a trigger, spends the budget each time.
func batch(op string, col beam.PCollection) error {
	w := col.WindowingStrategy()
	if w.Fn.Kind != window.GlobalWindows {
		return fmt.Errorf("%s: the input is in %s: only the global window is released once", op, w.Fn.Kind)
	}
	if _, once := w.Trigger.(*trigger.DefaultTrigger); !once {
		return fmt.Errorf("%s: the input has the trigger %v: only the default one releases once", op, w.Trigger)
	}
	return nil
}

// built holds what [build] made, for the life of the process.
var built sync.Map // of func() (any, error)

// build makes what a description stands for, once a process: a runner sets a
// DoFn up for every bundle that it runs at a time. It outlives the bundle, so make
// must not end with the context of one.
func build[T any](description any, make func() (T, error)) (T, error) {
	name, err := json.Marshal(description)
	if err != nil {
		var none T
		return none, err
	}
	key := fmt.Sprintf("%v %v %x", reflect.TypeFor[T](), reflect.TypeOf(description), sha256.Sum256(name))
	once, _ := built.LoadOrStore(key, sync.OnceValues(make))
	return once.(func() (T, error))()
}
