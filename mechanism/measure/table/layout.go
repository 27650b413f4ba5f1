package table

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/metricdp/metricdp/internal/fault"
)

const (
	day       = time.DateOnly
	second    = time.DateTime
	secondsOf = 24 * 60 * 60 // a day
)

// The layouts of serial days, as spreadsheets store dates.
const (
	Excel     = "excel"     // of Windows: day 61 is 1900-03-01
	Excel1904 = "excel1904" // of old Macintoshes: day 0 is 1904-01-01
)

// The first and last day that the format has, and those that serial days begin with.
var firstDay, lastDay, day1900, day1904 = days(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)), days(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)),
	days(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)), days(time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC))

func days(t time.Time) float64 { return math.Floor(float64(t.Unix()) / secondsOf) }

// parseDay reads a bound of a date or, with a clock or without, of a time.
func parseDay(kind Kind, text string) (float64, error) {
	layout := day
	if kind == Time && len(text) > len(day) {
		layout = second
	}
	t, err := time.Parse(layout, text)
	return stamp(kind, t), err
}

// stamp is the entry of a record: the day that stands there, whatever the zone, or the second.
func stamp(kind Kind, t time.Time) float64 {
	if kind == Time {
		return float64(t.Unix())
	}
	_, zone := t.Zone()
	return days(t.Add(time.Duration(zone) * time.Second))
}

// timeOf is what the entry of a date or a time stands for.
func timeOf(kind Kind, v float64) time.Time {
	if kind == Date {
		v *= secondsOf
	}
	return time.Unix(int64(v), 0).UTC()
}

// dayOf is a bound, as schemas have it.
func dayOf(kind Kind, v float64) string {
	if kind == Time {
		return timeOf(kind, v).Format(second)
	}
	return timeOf(kind, v).Format(day)
}

// stamp reads a date or a time from a cell.
func (f *field) stamp(text string) (float64, error) {
	if f.Layout == Excel || f.Layout == Excel1904 {
		return f.serial(text)
	}
	t, err := time.Parse(f.Layout, text)
	if err != nil {
		return 0, err
	}
	v := stamp(f.kind, t)
	if f.century { // the layout has two digits of the year, and package time a century of its own
		year := timeOf(f.kind, f.Lo).Year()/100*100 + t.Year()%100
		to := t.AddDate(year-t.Year(), 0, 0)
		if stamp(f.kind, to) < f.Lo {
			to = t.AddDate(year+100-t.Year(), 0, 0)
		}
		if v = stamp(f.kind, to); to.Day() != t.Day() {
			return 0, errors.New("no leap year")
		}
	} else if t.Year() == 0 { // which no calendar has, but the package
		return 0, errors.New("no year")
	}
	return v, nil
}

// serial reads serial days, of which Excel has one too many: its day 60 is a 29 February 1900.
func (f *field) serial(text string) (float64, error) {
	s, err := fault.Decimal(text)
	from, least := day1904, 0.0
	if f.Layout == Excel {
		if from, least = day1900, 1; s < 60 {
			from++
		}
	}
	if err != nil || !(s >= least && from+s < lastDay+1) || f.Layout == Excel && s >= 60 && s < 61 {
		return 0, errors.New("no serial day")
	}
	if f.kind == Time {
		return float64((from+math.Floor(s))*secondsOf) + math.Round((s-math.Floor(s))*secondsOf), nil
	}
	return from + math.Floor(s), nil
}

// stampText is what stamp reads.
func (f *field) stampText(v float64) (string, error) {
	unit := 1.0
	if f.kind == Time {
		unit = secondsOf
	}
	first := firstDay
	switch f.Layout {
	case Excel:
		first = day1900 + 2
	case Excel1904:
		first = day1904
	}
	if v = math.Round(v); !(v >= first*unit && v < (lastDay+1)*unit) {
		return "", fmt.Errorf("no day from %s to %s", dayOf(Date, first), dayOf(Date, lastDay))
	}
	if f.Layout != Excel && f.Layout != Excel1904 {
		return timeOf(f.kind, v).Format(f.Layout), nil
	}
	from := day1904
	if f.Layout == Excel {
		if from = day1900; v < (day1900+61)*unit {
			from++
		}
	}
	return strconv.FormatFloat(v/unit-from, 'f', -1, 64), nil
}

// checkStamps checks that the layout says which day, or a part of a year or of a day from its
// beginning on: dates that grow come back growing, and none later than it was.
func (f *field) checkStamps() error {
	if f.Layout == "" {
		if f.Layout = day; f.kind == Time {
			f.Layout = second
		}
	}
	if strings.Contains(f.Layout, "MST") {
		return fmt.Errorf("layout %q has a zone by its name, which says not which: want Z07:00", f.Layout)
	}
	back, err := time.Parse(f.Layout, time.Date(1950, 6, 15, 12, 0, 0, 0, time.UTC).Format(f.Layout))
	f.century = err == nil && back.Year() == 2050
	unit := 1.0
	if f.kind == Time {
		unit = secondsOf
	}
	if year := timeOf(f.kind, f.Lo).AddDate(100, 0, 0); f.century && f.Hi >= stamp(f.kind, year) {
		return fmt.Errorf("layout %q has two digits of the year: want hi less than a hundred years above lo", f.Layout)
	}
	last := math.Inf(-1)
	for k := 0.0; k <= 800; k++ {
		for clock := 0.0; clock < unit; clock += 4*60*60 + 61 {
			v := min(f.Lo+float64(k*unit)+clock, f.Hi)
			text, err := f.stampText(v)
			if err != nil {
				return err
			}
			got, err := f.stamp(text)
			if err != nil || got > v || got < last {
				return fmt.Errorf("layout %q, want one of package time that says which %s, as 02.01.2006 15:04 is for dd.mm.yyyy hh:mm, or %q", f.Layout, f.kind, Excel)
			}
			last = got
		}
	}
	return nil
}

// numeral is how numbers stand in cells.
type numeral struct {
	before, behind    string // the unit, with the blanks next to the number
	group, point      string // between thousands, and before decimals; "" where there are none
	brackets, trailer bool   // what is negative is (1) or 1-, not -1
}

// example is a layout of numbers: how 1234.5 stands in a cell.
var example = regexp.MustCompile(`^(\(?)([^-+()\d]*?)1([.,'’_\p{Zs}]?)234(?:([.,])56?)?([^-+()\d]*)(-?)(\)?)$`)

const numeralWant = "how the number 1234.5, or 1234 without decimals, stands in a cell, as in 1.234,5 € or $1,234.5, or (1,234.5) and 1234.5- if that is how it stands below zero"

func numeralOf(layout string) (*numeral, error) {
	m := example.FindStringSubmatch(layout)
	if m == nil || m[3] == m[4] && m[3] != "" || (m[1] == "") != (m[7] == "") || m[1] != "" && m[6] != "" {
		return nil, fmt.Errorf("layout %.40q, want %s", layout, numeralWant)
	}
	return &numeral{m[2], m[5], m[3], m[4], m[1] != "", m[6] != ""}, nil
}

// oneBlank has one blank, one minus and one apostrophe of the many that there are.
func oneBlank(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == '−':
			return '-'
		case r == '’':
			return '\''
		}
		return r
	}, text)
}

// plain is the number of a cell as package strconv reads it, "" where the cell is none of the
// layout. The unit may be left out, and so may all marks between thousands.
func (n *numeral) plain(text string) string {
	text = strings.TrimSpace(oneBlank(text))
	sign := ""
	cut := func(minus, end string) {
		inner, begins := strings.CutPrefix(text, minus)
		inner, ends := strings.CutSuffix(inner, end)
		if begins && ends && sign == "" {
			text, sign = strings.TrimSpace(inner), "-"
		}
	}
	if n.brackets {
		cut("(", ")")
	}
	if cut("-", ""); sign == "" {
		text = strings.TrimPrefix(text, "+")
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, strings.TrimSpace(oneBlank(n.before))))
	text = strings.TrimSpace(strings.TrimSuffix(text, strings.TrimSpace(oneBlank(n.behind))))
	cut("-", "")
	if n.trailer {
		cut("", "-")
	}
	whole, decimals, exponent := text, "", ""
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		whole, exponent = text[:at], text[at:]
	}
	if n.point != "" {
		whole, decimals, _ = strings.Cut(whole, oneBlank(n.point))
	}
	if group := oneBlank(n.group); group != "" && strings.Contains(whole, group) {
		parts := strings.Split(whole, group)
		for i, part := range parts {
			if len(part) != 3 && (i > 0 || len(part) > 3 || part == "") {
				return ""
			}
		}
		whole = strings.Join(parts, "")
	}
	if strings.Trim(whole+decimals, "0123456789") != "" {
		return ""
	}
	return sign + whole + "." + decimals + exponent
}

// text is what plain reads, of a number as package strconv writes it.
func (n *numeral) text(plain string) string {
	digits, negative := strings.CutPrefix(plain, "-")
	exponent := ""
	if at := strings.IndexByte(digits, 'e'); at >= 0 {
		digits, exponent = digits[:at], digits[at:]
	}
	whole, decimals, broken := strings.Cut(digits, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + n.group + whole[at:]
	}
	if broken {
		whole += n.point + decimals
	}
	switch whole += exponent; {
	case !negative:
		return n.before + whole + n.behind
	case n.brackets:
		return "(" + n.before + whole + n.behind + ")"
	case n.trailer:
		return n.before + whole + n.behind + "-"
	}
	return "-" + n.before + whole + n.behind
}
