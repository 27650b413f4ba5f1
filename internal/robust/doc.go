// Package robust holds no code, only tests that call every exported function of the public
// packages that takes arguments and returns an error with each of its arguments wrong in turn:
// NaN, infinite, negative, enormous and subnormal numbers, slices of the wrong length,
// functions that are nil or return nonsense, metrics that are none, contexts that are over.
//
// Every call must come back within a time and a memory, without a panic, with
// either an error of its own package or a result without a NaN in it.
package robust
