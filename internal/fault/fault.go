// Package fault holds the error types of every package of the module and the checks
// that return them. Public packages re-export the types by alias.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// ErrEmpty reports a space, a weight vector or a data set without points.
var ErrEmpty = errors.New("empty input")

// ValueError reports one number outside its domain.
type ValueError struct {
	Op    string  // the call, as in "metric: NewDense"
	Arg   string  // the argument, as in "upper"
	Index int     // position in Arg, or -1 where Arg is a single number
	Value float64 // what was given
	Want  string  // the domain, as in "a finite number >= 0"

	// Private keeps Value out of the message: it is a record or what was to be released.
	Private bool
}

func (e *ValueError) Error() string {
	s := e.Op + ": " + e.Arg
	if e.Index >= 0 {
		s += fmt.Sprintf("[%d]", e.Index)
	}
	if !e.Private {
		s += fmt.Sprintf(" = %v", e.Value)
	}
	return s + ", want " + e.Want
}

// Value is the error of one argument, a number that does not belong to a slice.
func Value(op, arg string, v float64, want string) error {
	return &ValueError{Op: op, Arg: arg, Index: -1, Value: v, Want: want}
}

// Private returns err, which is about a private value, without that value in its message: a
// *[ValueError] and a *[SizeError] keep it in their field, and of any other error, as of a caller's
// own check, the message is left to [errors.Unwrap]. What wraps err must be made after.
func Private(err error) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *ValueError:
		private := *e
		private.Private = true
		return &private
	case *SizeError:
		private := *e
		private.Private = true
		return &private
	case *within:
		return &within{e.op, Private(e.err)}
	}
	return &private{err}
}

type private struct{ err error }

func (p *private) Error() string {
	return "not in the domain (what is wrong is as private as the value: see errors.Unwrap)"
}
func (p *private) Unwrap() error { return p.err }

// need is nil where ok, and else [Value].
func need(ok bool, op, arg string, v float64, want string) error {
	if ok {
		return nil
	}
	return Value(op, arg, v, want)
}

// SizeError reports a length that does not fit the rest of the input.
type SizeError struct {
	Op   string
	Arg  string
	Got  int
	Want string // as in "12" or "at least 1"

	Private bool // keeps Got out of the message, as in [ValueError]
}

func (e *SizeError) Error() string {
	if e.Private {
		return fmt.Sprintf("%s: %s, want size %s", e.Op, e.Arg, e.Want)
	}
	return fmt.Sprintf("%s: %s has size %d, want %s", e.Op, e.Arg, e.Got, e.Want)
}

// Size checks that an argument has the length want.
func Size(op, arg string, got, want int) error {
	if got == want {
		return nil
	}
	return &SizeError{Op: op, Arg: arg, Got: got, Want: fmt.Sprint(want)}
}

// Given checks that an argument is not nil.
func Given(op, arg string, given bool) error {
	if given {
		return nil
	}
	return fmt.Errorf("%s: %s is nil: %w", op, arg, ErrEmpty)
}

// AtLeast checks that an argument has the length least or more.
func AtLeast(op, arg string, got, least int) error {
	if got >= least {
		return nil
	}
	return &SizeError{Op: op, Arg: arg, Got: got, Want: fmt.Sprintf("at least %d", least)}
}

// MemoryError reports an allocation refused before it was tried.
type MemoryError struct {
	Op    string
	Bytes float64 // what the call would need
	Limit float64 // what it may use
}

func (e *MemoryError) Error() string {
	size, unit := float64(1<<30), "GiB"
	if e.Limit < size {
		size, unit = 1<<20, "MiB"
	}
	return fmt.Sprintf("%s: needs %.3g %s, the limit is %.3g %s", e.Op, e.Bytes/size, unit, e.Limit/size, unit)
}

// MemoryLimit is the largest single allocation, in bytes: 16 GiB, about a float64
// matrix of 46,000 points, and 1 GiB where addresses have 32 bits.
const MemoryLimit = 1 << (30 + 4*(^uint(0)>>63))

// Memory returns a *MemoryError where count items of size bytes, as float64 so that
// n*n cannot overflow, pass MemoryLimit.
func Memory(op string, count float64, size int) error {
	if b := count * float64(size); b > MemoryLimit {
		return &MemoryError{Op: op, Bytes: b, Limit: MemoryLimit}
	}
	return nil
}

// Empty checks the number n of points, or entries, of an argument: 0 is ErrEmpty, a
// negative number, as a Len may return, a *SizeError, and one whose points cannot
// have a float64 each a *MemoryError.
func Empty(op, arg string, n int) error {
	switch {
	case n == 0:
		return fmt.Errorf("%s: %s: %w", op, arg, ErrEmpty)
	case n < 0:
		return &SizeError{Op: op, Arg: arg, Got: n, Want: "at least 1"}
	}
	return Memory(op, float64(n), 8)
}

// Len returns the number of points of f, and 0 where f is nil or a nil pointer:
// [Empty] refuses both.
func Len(f interface{ Len() int }) int {
	if f == nil {
		return 0
	}
	if v := reflect.ValueOf(f); v.Kind() == reflect.Pointer && v.IsNil() {
		return 0
	}
	return f.Len()
}

// Twice refuses to merge counts with themselves: every record would count twice, and what
// is stated of a release would be half of what it is.
func Twice(op, what string) error {
	return fmt.Errorf("%s: %s with themselves: every record would count twice", op, what)
}

// Made is the check of a method on its receiver, a what from one of its makers.
func Made(made bool, op, what, makers string) error {
	if made {
		return nil
	}
	return fmt.Errorf("%s: a %s that is not from %s", op, what, makers)
}

// Must returns v, and panics where there is an error.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// ErrMemoized reports a mechanism that repeats draws where levels add up because draws are
// independent: equal outputs would show which inputs are equal.
var ErrMemoized = errors.New("the mechanism repeats draws, so that equal outputs show equal inputs")

// Independent returns nil where the releases of m are independent of one another given their
// inputs, and else [ErrMemoized] with m's String. One without Memoized counts as independent.
func Independent(m any) error {
	if d, ok := m.(interface{ Memoized() bool }); ok && d.Memoized() {
		return fmt.Errorf("%w: %s", ErrMemoized, Describe(m))
	}
	return nil
}

// ErrUnit reports distances or levels in different units.
var ErrUnit = errors.New("different units")

// Unit returns the unit given, or that of the metric where that is "". Two
// different ones are ErrUnit.
func Unit[U ~string](op string, given, metric U) (U, error) {
	switch {
	case given == "":
		return metric, nil
	case metric == "" || given == metric:
		return given, nil
	}
	return "", fmt.Errorf("%s: %w: Unit is %q, the metric's %q", op, ErrUnit, given, metric)
}

// Within is the err of a part of the call op, without the name of the package where
// that is op's too.
func Within(op string, err error) error { return &within{op, err} }

type within struct {
	op  string
	err error
}

func (w *within) Error() string {
	pkg, _, _ := strings.Cut(w.op, " ")
	return w.op + ": " + strings.TrimPrefix(w.err.Error(), pkg+" ")
}

func (w *within) Unwrap() error { return w.err }

// Positive checks 0 < v < +Inf.
func Positive(op, arg string, v float64) error {
	return need(v > 0 && !math.IsInf(v, 1), op, arg, v, "a finite number > 0")
}

// NonNegative checks 0 <= v < +Inf.
func NonNegative(op, arg string, v float64) error {
	return need(v >= 0 && !math.IsInf(v, 1), op, arg, v, "a finite number >= 0")
}

// Delta checks 0 <= v < 1.
func Delta(op, arg string, v float64) error {
	return need(v >= 0 && v < 1, op, arg, v, "a number in [0, 1)")
}

// Fraction checks 0 < v < 1.
func Fraction(op, arg string, v float64) error {
	return need(v > 0 && v < 1, op, arg, v, "a number in (0, 1)")
}

// Index checks 0 <= i < n, for indices that come from data.
func Index(op, arg string, i, n int) error {
	if i >= 0 && i < n {
		return nil
	}
	return Value(op, arg, float64(i), fmt.Sprintf("an index in [0, %d)", n))
}

// Indices checks that every entry of idx lies in [0, n).
func Indices(op, arg string, idx []int, n int) error {
	k := slices.IndexFunc(idx, func(i int) bool { return i < 0 || i >= n })
	if k < 0 {
		return nil
	}
	return &ValueError{Op: op, Arg: arg, Index: k, Value: float64(idx[k]), Want: fmt.Sprintf("an index in [0, %d)", n)}
}

// Permutation checks that perm holds every index of [0, n) once.
func Permutation(op, arg string, perm []int, n int) error {
	if err := cmp.Or(Size(op, arg, len(perm), n), Indices(op, arg, perm, n)); err != nil {
		return err
	}
	seen := make([]bool, n)
	for k, i := range perm {
		if seen[i] {
			return &ValueError{Op: op, Arg: arg, Index: k, Value: float64(i), Want: "each index once"}
		}
		seen[i] = true
	}
	return nil
}

// AllFinite checks that every entry of v is a finite number.
func AllFinite(op, arg string, v []float64) error {
	return all(op, arg, v, -math.MaxFloat64, "a finite number")
}

// AllNonNegative checks that every entry of v is a finite number >= 0.
func AllNonNegative(op, arg string, v []float64) error {
	return all(op, arg, v, 0, "a finite number >= 0")
}

func all(op, arg string, v []float64, least float64, want string) error {
	for i, x := range v {
		if !(x >= least && x <= math.MaxFloat64) {
			return &ValueError{Op: op, Arg: arg, Index: i, Value: x, Want: want}
		}
	}
	return nil
}

// Distribution checks for n finite numbers >= 0 that sum to 1 within tol.
func Distribution(op, arg string, p []float64, n int, tol float64) error {
	if err := cmp.Or(Size(op, arg, len(p), n), AllNonNegative(op, arg, p)); err != nil {
		return err
	}
	sum := 0.0
	for _, x := range p {
		sum += x
	}
	return need(math.Abs(sum-1) <= tol, op, "sum of "+arg, sum, "1")
}
