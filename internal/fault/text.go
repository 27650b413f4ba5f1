package fault

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
