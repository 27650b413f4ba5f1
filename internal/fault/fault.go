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
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Reason is the message of err in one line, without the names that it begins with,
// one after another.
func Reason(err error, names ...string) string {
	s := strings.ReplaceAll(err.Error(), "\n", "; ")
	for _, name := range names {
		s = strings.TrimPrefix(s, name+": ")
	}
	return s
}

// Decimal reads a number as people write it in data: [strconv.ParseFloat]
// without the hexadecimals and underscores of Go's own notation, which a file
// with 0x1p4 or 1_0 in it hardly means. "NaN" and "Inf" are read.
func Decimal(s string) (float64, error) {
	if strings.ContainsAny(s, "_xXpP") {
		return 0, &strconv.NumError{Func: "Decimal", Num: s, Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(s, 64)
}

// Text finds the first byte of s that has no place in a name, which is shown, compared and
// written to files: bytes that are no UTF-8, control characters, and the marks of the direction
// of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), with which one name can
// look like another. It says what stands there; at is -1 where s is a name.
func Text(s string) (at int, what string) {
	for at, r := range s {
		switch {
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(s[at:]); size == 1 {
				return at, fmt.Sprintf("the byte %#02x, which is no UTF-8", s[at])
			}
		case unicode.IsControl(r):
			return at, fmt.Sprintf("the control character %U", r)
		case r == 0x061C, r == 0x200E, r == 0x200F, 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069:
			return at, fmt.Sprintf("%U, a mark of the direction of text", r)
		}
	}
	return -1, ""
}

// Describe returns what v says of itself or, where it has no String, its type: %v would
// show addresses, which differ from process to process.
func Describe(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", v)
}

// Quantity is v to so many digits, with its unit if it has one.
func Quantity[U ~string](v float64, digits int, unit U) string {
	return strings.TrimSpace(fmt.Sprintf("%.*g %s", digits, v, unit))
}

// Name checks that s is a name, as [Text] does, empty ones among them.
func Name(op, arg, s string) error {
	if at, what := Text(s); at >= 0 {
		return fmt.Errorf("%s: %s = %.40q has at byte %d %s", op, arg, s, at, what)
	}
	return nil
}

// AtMost is v to so many digits, rounded up: what is proved of a bound above stays true
// of its text.
func AtMost(v float64, digits int) string {
	rounded := func(v float64) (near float64, exponent int) {
		text := strconv.FormatFloat(v, 'e', digits-1, 64)
		near, _ = strconv.ParseFloat(text, 64)
		exponent, _ = strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
		return near, exponent
	}
	if near, exponent := rounded(v); near < v {
		v = near + math.Pow10(exponent-digits+1)
	}
	near, _ := rounded(v)
	return fmt.Sprint(near)
}
