//go:build js && wasm

// Wasm is package engine in a browser: it sets the global function metricdp, which
// takes the name of a question and its arguments as JSON and returns the answer as
// JSON, {"answer": ...} or {"error": "..."}.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall/js"

	"github.com/metricdp/metricdp/examples/browser/engine"
)

func main() {
	e := engine.New(storage{})
	js.Global().Set("metricdp", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return call(e, args[0].String(), args[1].String())
	}))
	js.Global().Call("metricdpReady")
	select {} // the function lives as long as the page
}

// call is Call with the error in the answer.
func call(e *engine.Engine, what, args string) string {
	var reply struct {
		Answer json.RawMessage `json:"answer,omitempty"`
		Error  string          `json:"error,omitempty"`
	}
	var err error
	if reply.Answer, err = e.Call(context.Background(), what, []byte(args)); err != nil {
		reply.Error = err.Error()
	}
	b, err := json.Marshal(reply)
	if err != nil {
		return `{"error":"the answer is no JSON"}`
	}
	return string(b)
}

// storage is the browser's local storage, which outlives the page. What is ours there
// begins with prefix.
type storage struct{}

const prefix = "metricdp-"

// do calls a method of the storage. Browsers throw where they keep nothing.
func (storage) do(method string, args ...any) (v js.Value, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("the browser's storage: %v", thrown)
		}
	}()
	return js.Global().Get("localStorage").Call(method, args...), nil
}

func (s storage) Load(key string) ([]byte, bool, error) {
	v, err := s.do("getItem", prefix+key)
	if err != nil || v.IsNull() {
		return nil, false, err
	}
	return []byte(v.String()), true, nil
}

// Swap is whole within a page, which nothing interrupts. Two pages of one site may both swap.
func (s storage) Swap(key string, old, new []byte) (bool, error) {
	value, ok, err := s.Load(key)
	if err != nil || ok != (old != nil) || !bytes.Equal(value, old) {
		return false, err
	}
	_, err = s.do("setItem", prefix+key, string(new))
	return err == nil, err
}

func (s storage) Clear() error {
	for i := 0; ; {
		v, err := s.do("key", i)
		switch {
		case err != nil:
			return err
		case v.IsNull():
			return nil
		case !strings.HasPrefix(v.String(), prefix):
			i++
			continue
		}
		if _, err := s.do("removeItem", v.String()); err != nil { // the next key moves to i
			return err
		}
	}
}
