package mechanism

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/metricdp/metricdp/internal/fault"
)

// Sticky answers the same question in the same way: it draws from a mechanism once for each distinct
// input, and repeats the draw whenever that input comes back, so that nothing averages away.
//
// Two sequences of inputs have one pattern where they have equal inputs at the same positions. All answers
// together are a function of the pattern, which is public, and of one draw for each of the k distinct inputs
// x_j. So they are alpha-private between two sequences of one pattern under the sum of rho(x_j, x'_j), each
// counted once; a delta counts k times. Where no x_j is farther than d from its x'_j that is k*alpha*d
// ([Guarantee.Times]), and less at a delta > 0 ([Composition.AuditAt]). Nothing is promised between other
// patterns: the answers mostly show when the secret changed, and when it changed back. One Sticky serves one
// person: with two, it shows when both are at the same place.
//
// An input has one draw at most, ever, whatever asks for it at once. The first to ask puts a claim into the
// store, takes the price from the [Budget], draws, and puts the answer in place of the claim. The others
// wait for it, and after 5 seconds put [ErrRefused] there, as whoever draws may be dead; if not, its answer
// takes that place later. So a crash loses the answer to this input, or a part of the budget, and never
// privacy. A draw that cannot be given, because of an error of the mechanism or because encoding/json makes
// another value of it, is spent and refused for good. One that the store does not take is kept by the
// process, and stored when the input is asked for again.
//
// Draws are kept in memory, some 300 bytes each, or in a [Store]. Or they are derived from
// [StickyOptions.Secret] and not kept: then the guarantee holds against whoever cannot tell HMAC-SHA256
// and ChaCha8 from chance, and ends, for all answers ever given, when the secret is known.
//
// A Sticky repeats draws ([ErrMemoized]), and is safe for concurrent use, as are several of one name. A
// release takes some microseconds and two loads from the store, and for a new input a draw, another load
// and two swaps, and with a budget four loads and a swap more.
type Sticky[X, Y any] struct {
	m        Mechanism[X, Y]
	g        Guarantee
	promised []byte // g, as stored beside every draw
	name     string
	inDomain func(x X) error // before the draw
	value    func(x X) ([]byte, error)
	store    Store
	budget   *Budget
	derive   func(value []byte) *rand.Rand // nil but under a secret
	patience time.Duration                 // of the wait for another's draw, before it is taken for dead
}

// ErrRefused is the answer of a [Sticky] to an input whose draw could not be given. It stays,
// but where the draw was only slow, and its text is the same for all inputs and draws.
var ErrRefused = errors.New("the draw for this input could not be given, for an error of the mechanism or of encoding/json or a process that ended or is slow, and there is no other")

// StickyOptions are for [NewSticky]. nil and the zero value are the defaults: draws are kept in memory.
type StickyOptions[X any] struct {
	// Key tells which inputs are one, as the cells of a public grid: those of one key get the
	// draw of the first of them, which are the x_j of the guarantee; the pattern is that of the
	// keys. Keys are valid UTF-8. nil: inputs are one if they are equal as by ==, and X must be
	// made of numbers, strings, booleans, arrays, slices and structs.
	Key func(x X) string
	// Check refuses inputs outside the mechanism's domain, with its error, before anything is
	// drawn or spent. It must depend on x alone. nil: what [On], [Labels], [Then] and [Compose]
	// make of a [Channel] refuses all that are outside, other mechanisms what is no
	// [metric.LatLon] (a [*metric.ValueError]), and nothing else.
	Check func(x X) error
	// Store keeps the draws, for all processes that have it. nil: memory does, and a new Sticky draws anew.
	Store Store
	// Name says whose answers and which: with equal names in one store, or under one secret, two Stickies
	// are one. A Store or a Secret needs a name, of valid UTF-8, and another mechanism another name.
	Name string
	// Secret derives the draws from 32 or more bytes of crypto/rand, the Name, the type, the
	// String (if it has one) and the guarantee of the mechanism and the input. For two
	// mechanisms for which these agree together nothing is promised. The rng of Release is not
	// used. The mechanism must draw from the rng that it is given alone, and its String must say
	// the same in every process; another version of it, or of this library, may draw otherwise.
	// There is no Store, Key or Budget then: nothing remembers what was asked.
	Secret []byte
	// Budget is asked for the mechanism's guarantee at every new input. nil: there is no limit.
	// For a limit a day make the Budget and the Sticky anew every day: the Budget's Name has the
	// day in it, the Sticky's has not, so that old answers stay. What a spent Budget refused may
	// be asked again on the next.
	Budget *Budget
}

// patience is that of every Sticky but in tests.
const patience = 5 * time.Second

// minSecret is the least size of a secret, in bytes.
const minSecret = 32

// NewSticky returns m with one draw for each distinct input. Outputs are stored by
// encoding/json: one that does not come back from it as it was is [ErrRefused]. An m that
// repeats draws itself is [ErrMemoized], options that lack what they need or do not go
// together are an error that says which, and a Budget in another unit is [ErrUnit].
func NewSticky[X, Y any](m Mechanism[X, Y], o *StickyOptions[X]) (*Sticky[X, Y], error) {
	const op = "mechanism: NewSticky"
	if m == nil {
		return nil, fault.Empty(op, "m", 0)
	}
	if err := fault.Independent(m); err != nil {
		return nil, fmt.Errorf("%s: m: %w", op, err)
	}
	if o == nil {
		o = &StickyOptions[X]{}
	}
	if !utf8.ValidString(o.Name) {
		return nil, errText(op, "Name", o.Name)
	}
	s := &Sticky[X, Y]{m: m, g: m.Guarantee(), inDomain: o.Check, name: o.Name, store: o.Store, budget: o.Budget, patience: patience}
	if s.inDomain == nil {
		s.inDomain = func(x X) error { return inDomain(m, x) }
	}
	var err error
	if s.promised, err = json.Marshal(s.g); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if (o.Store != nil || o.Secret != nil) && o.Name == "" {
		return nil, fmt.Errorf("%s: a Store or a Secret, and no Name", op)
	}
	switch t := reflect.TypeFor[X](); {
	case o.Key != nil:
		key := o.Key
		s.value = func(x X) ([]byte, error) {
			k := key(x)
			if !utf8.ValidString(k) {
				return nil, errors.New("the Key is not valid UTF-8")
			}
			return []byte(k), nil
		}
	case plain(t, nil):
		s.value = func(x X) ([]byte, error) { return appendValue(nil, reflect.ValueOf(&x).Elem()), nil }
	default:
		return nil, fmt.Errorf("%s: no Key, and %v is not made of numbers, strings, booleans, arrays, slices and structs", op, t)
	}
	switch {
	case o.Secret == nil && o.Store == nil:
		s.store = newMemory()
	case o.Secret == nil:
	case o.Store != nil || o.Key != nil || o.Budget != nil:
		return nil, fmt.Errorf("%s: a Secret, and a Store, Key or Budget, which do not go with it", op)
	case len(o.Secret) < minSecret:
		return nil, &fault.SizeError{Op: op, Arg: "Secret", Got: len(o.Secret), Want: fmt.Sprintf("at least %d", minSecret)}
	default:
		s.derive = derivation(o.Secret, []byte(o.Name), fmt.Appendf(nil, "%T", m), []byte(fault.Describe(m)), s.promised)
	}
	if s.budget != nil {
		if err := s.budget.check(op); err != nil {
			return nil, err
		}
		if limit := s.budget.limit; limit.unit != s.g.unit {
			return nil, fmt.Errorf("%s: Budget: %w: %q and %q", op, ErrUnit, limit.unit, s.g.unit)
		}
	}
	return s, nil
}

// derivation returns ChaCha8 under the keys HMAC-SHA256(secret; release, value). It is
// a function because a field may be printed, and a function does not show the secret.
func derivation(secret []byte, release ...[]byte) func(value []byte) *rand.Rand {
	secret = slices.Clone(secret)
	head := frame(nil, "github.com/metricdp/metricdp/mechanism.Sticky") // and nobody else's
	for _, part := range release {
		head = frame(head, part)
	}
	return func(value []byte) *rand.Rand {
		mac := hmac.New(sha256.New, secret)
		mac.Write(head)
		mac.Write(frame(nil, value))
		return rand.New(rand.NewChaCha8([sha256.Size]byte(mac.Sum(nil))))
	}
}

func (s *Sticky[X, Y]) check(op string) error {
	return fault.Made(s != nil && s.m != nil, op, "Sticky", "NewSticky")
}

// Guarantee is that of the mechanism, for one input; for a sequence of them see [Sticky].
func (s *Sticky[X, Y]) Guarantee() Guarantee {
	if s == nil {
		return Guarantee{}
	}
	return s.g
}

// Memoized is true.
func (s *Sticky[X, Y]) Memoized() bool { return true }

// String gives the mechanism and where the draws are.
func (s *Sticky[X, Y]) String() string {
	if err := s.check("mechanism: Sticky"); err != nil {
		return err.Error()
	}
	how := "kept in a store"
	if _, ok := s.store.(*memory); ok {
		how = "kept in memory"
	} else if s.derive != nil {
		how = "derived from a secret (computational)"
	}
	return fmt.Sprintf("one draw for each input, %s: %s", how, fault.Describe(s.m))
}

// Release returns the answer for x, a new one only where x is. Inputs that [StickyOptions.Check] refuses
// cost nothing. Any other error of the mechanism is [ErrRefused], as it may depend on the draw, and its
// reason is not told (under a Secret it is the mechanism's, and comes again). Other errors are [ErrBudget],
// those of the store, [ErrRecord], a Key that is not valid UTF-8, a stored answer drawn under another
// guarantee, and a store that refuses a thousand swaps; then nothing new was released, and a part of the
// budget may be spent.
func (s *Sticky[X, Y]) Release(rng *rand.Rand, x X) (y Y, err error) {
	const op = "mechanism: Sticky.Release"
	if err := s.check(op); err != nil {
		return y, err
	}
	value, err := s.value(x)
	if err != nil {
		return y, fmt.Errorf("%s: %w", op, err)
	}
	if err := s.inDomain(x); err != nil {
		return y, err
	}
	if s.derive != nil {
		return s.m.Release(s.derive(value), x)
	}
	mine := unique()
	var other string // who draws, and since when that is known
	var since time.Time
	for attempt, lost := 0, 0; lost < tries; attempt++ {
		r, d, err := s.find(op, value)
		if err != nil {
			return y, err
		}
		if bytes.Equal(d.Guarantee, s.promised) {
			if o, ok := unsettled.LoadAndDelete(d.Drawing); ok {
				if err := s.settle(op, r.key, d.Drawing, o.(draw)); err != nil {
					unsettled.Store(d.Drawing, o)
					return y, err
				}
				lost++
				continue
			}
		}
		switch {
		case r.value == nil || d.Open:
			if s.budget != nil { // without a record of what is not affordable
				if err := s.budget.affords(s.g); err != nil {
					if now, bad := load(op, s.store, r.key); bad == nil && !bytes.Equal(now.value, r.value) {
						lost++ // another one paid for it meanwhile
						continue
					}
					return y, fault.Within(op, err)
				}
			}
			ok, err := r.swap(op, s.encode(draw{Drawing: mine}))
			if err != nil {
				s.settle(op, r.key, mine, draw{Open: true}) // it may be there all the same
				return y, err
			}
			if ok {
				return s.first(op, rng, x, r.key, mine)
			}
			lost++
		case d.Drawing == "" || d.Refused || !bytes.Equal(d.Guarantee, s.promised):
			return s.read(op, r.key, d)
		case d.Drawing != other:
			other, since = d.Drawing, time.Now()
			lost++
		case time.Since(since) > s.patience:
			if _, err := r.swap(op, s.encode(draw{Drawing: other, Refused: true})); err != nil {
				return y, err
			}
			lost++
		}
		pause(attempt)
	}
	return y, fmt.Errorf("%s: %w", op, errBusy)
}

// unsettled are the outcomes of this process that a store did not take, by who drew.
var unsettled sync.Map

// first answers an input for which nobody else draws.
func (s *Sticky[X, Y]) first(op string, rng *rand.Rand, x X, key, mine string) (y Y, err error) {
	outcome := draw{Refused: true} // also where the mechanism panics
	defer func() {
		if bad := s.settle(op, key, mine, outcome); bad != nil {
			unsettled.Store(mine, outcome)
			if err == nil {
				var none Y
				y, err = none, bad
			}
		}
	}()
	if s.budget != nil {
		if err := s.budget.Spend(s.g); err != nil {
			outcome = draw{Open: true} // nothing was drawn
			return y, fault.Within(op, err)
		}
	}
	y, output, ok := s.draw(rng, x)
	if !ok {
		return y, fmt.Errorf("%s: %w", op, ErrRefused)
	}
	outcome = draw{Output: output}
	return y, nil
}

// settle puts d where it is known that mine draws, also where another took that for dead.
func (s *Sticky[X, Y]) settle(op, key, mine string, d draw) error {
	if d.Output == nil {
		d.Drawing = mine
	}
	for _, refused := range []bool{false, true} {
		r := sealed(s.store, key, s.encode(draw{Drawing: mine, Refused: refused}))
		if ok, err := r.swap(op, s.encode(d)); ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w: %s: it changed during the draw", op, ErrRecord, key)
}

// draw returns an output and how it is stored; ok is false where it cannot be. The output
// was stored and read again, so that the first answer is the same as all later ones.
func (s *Sticky[X, Y]) draw(rng *rand.Rand, x X) (y Y, output []byte, ok bool) {
	fresh, err := s.m.Release(rng, x)
	if err == nil {
		output, err = json.Marshal(fresh)
	}
	if err == nil {
		err = json.Unmarshal(output, &y)
	}
	if err != nil || !reflect.DeepEqual(fresh, y) {
		var none Y
		return none, nil, false
	}
	return y, output, true
}

// draw is the record of an input. It is an answer, or a refusal; or somebody draws; or nobody
// did, nor will. Of the first two the one who draws may make the answer out of a refusal by
// those who lost patience, and nothing else changes.
type draw struct {
	Guarantee json.RawMessage `json:"guarantee"`
	Output    json.RawMessage `json:"output,omitempty"`
	Refused   bool            `json:"refused,omitempty"`
	Open      bool            `json:"open,omitempty"`
	Drawing   string          `json:"drawing,omitempty"` // who, or did
}

// encode is the body of a record.
func (s *Sticky[X, Y]) encode(d draw) []byte {
	d.Guarantee = s.promised
	body, _ := json.Marshal(d) // no error: both parts are JSON
	return body
}

// find returns the record of an input.
func (s *Sticky[X, Y]) find(op string, value []byte) (r record, d draw, err error) {
	r, err = loadHashed(op, s.store, "sticky", s.name, string(value))
	if err == nil && r.value != nil {
		if bad := json.Unmarshal(r.body, &d); bad != nil {
			err = fmt.Errorf("%s: %w: %s: %w", op, ErrRecord, r.key, bad)
		}
	}
	return r, d, err
}

// read returns the answer that a record holds.
func (s *Sticky[X, Y]) read(op, key string, d draw) (y Y, err error) {
	if !bytes.Equal(d.Guarantee, s.promised) {
		return y, fmt.Errorf("%s: the stored answer has the guarantee %.200s and the mechanism %s: a second answer needs another Name", op, d.Guarantee, s.promised)
	}
	if d.Refused {
		return y, fmt.Errorf("%s: %w", op, ErrRefused)
	}
	if err := json.Unmarshal(d.Output, &y); err != nil {
		var none Y
		return none, fmt.Errorf("%s: %w: %s: %w", op, ErrRecord, key, err)
	}
	return y, nil
}

// plain tells whether the values of a type are all that there is to compare: no
// pointers, maps, functions, channels or interfaces. above are the types that t lies in.
func plain(t reflect.Type, above []reflect.Type) bool {
	if slices.Contains(above, t) {
		return false // type T []T
	}
	above = append(above, t)
	switch k := t.Kind(); k {
	case reflect.Array, reflect.Slice:
		return plain(t.Elem(), above)
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type, above) {
				return false
			}
		}
		return true
	default:
		return k == reflect.String || k >= reflect.Bool && k <= reflect.Complex128
	}
}

// appendValue appends bytes that are the same for two values of a [plain] type if and
// only if they are equal; NaN is equal to itself.
func appendValue(dst []byte, v reflect.Value) []byte {
	number := func(bits uint64) { dst = binary.LittleEndian.AppendUint64(dst, bits) }
	float := func(f float64) {
		if f == 0 {
			f = 0 // and not -0
		}
		number(math.Float64bits(f))
	}
	switch k := v.Kind(); {
	case k == reflect.Bool:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case v.CanInt():
		number(uint64(v.Int()))
	case v.CanUint():
		number(v.Uint())
	case v.CanFloat():
		float(v.Float())
	case v.CanComplex():
		float(real(v.Complex()))
		float(imag(v.Complex()))
	case k == reflect.String:
		return frame(dst, v.String())
	case k == reflect.Struct:
		for i := range v.NumField() {
			dst = appendValue(dst, v.Field(i))
		}
	default: // an array or a slice
		number(uint64(v.Len()))
		for i := range v.Len() {
			dst = appendValue(dst, v.Index(i))
		}
	}
	return dst
}
