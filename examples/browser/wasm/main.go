//go:build js && wasm

// Wasm is package engine in a browser: it sets the global function metricdp, which
// takes the name of a question and its arguments as JSON and returns the answer as
// JSON, {"answer": ...} or {"error": "..."}.
package main

import (
	"context"
	"encoding/json"
	"syscall/js"

	"github.com/metricdp/metricdp/examples/browser/engine"
)

func main() {
	e := engine.New()
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
