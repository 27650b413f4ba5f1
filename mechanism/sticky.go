package mechanism

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// Sticky answers the same question in the same way: it draws from a mechanism once
// for each distinct input, and repeats the draw whenever that input comes back. Asked
// about a place every minute, it says the same all day, and nothing averages away.
//
// Let x_1, ..., x_k be the distinct inputs of a sequence, and x'_1, ..., x'_k those of
// another sequence with the same pattern: equal inputs at the same positions. All
// answers together are alpha-private between the two under the sum of
// rho(x_j, x'_j), each counted once, however often it was asked; where no x_j is
// farther than d from its x'_j that is k*alpha*d ([Guarantee.Times]). A delta counts k
// times. The proof: the answers are a function of k independent draws and of the
// pattern. The pattern is public. Nothing is promised between sequences of other
// patterns, and who sees the answers mostly sees when the secret changed, and when it
// changed back. One Sticky serves one person: with two, it shows when both are at the
// same place.
//
// Draws are kept in memory or in a [Store], and are as good as those of the mechanism.
// Or they are derived from [StickyOptions.Secret] and not kept. The guarantee is then
// computational: it holds against whoever cannot tell HMAC-SHA256 and ChaCha8 from
// chance, and ends, for all answers ever given, when the secret is known.
//
// A Sticky is safe for concurrent use, and so are several of one name. A release takes
// some microseconds and a load from the store, and for a new input a draw, another load
// and a save, and those of the budget; kept releases of one name wait for one another. A
// Sticky of a mechanism that has a Sticky in it takes another name. Memory keeps some 300 bytes
// for each distinct input.
type Sticky[X, Y any] struct {
	m      Mechanism[X, Y]
	g      Guarantee
	claim  []byte // g, as stored beside every draw
	name   string
	value  func(x X) []byte
	store  Store
	budget *Budget
	derive func(value []byte) *rand.Rand // nil but under a secret
	draws  turn                          // to draw: of the mechanism
	saves  turn                          // to look and save: of the name
}

// StickyOptions are for [NewSticky]. nil and the zero value are the defaults: draws are
// kept in memory.
type StickyOptions[X any] struct {
	// Key tells which inputs are one: those of one key get the draw of the first of
	// them. The x_j of the guarantee are these first ones, and the pattern is that of
	// the keys, as of the cells of a public grid. nil: inputs are one if they are equal
	// as by ==, two float64 that differ in the last bit are not, and X must be made of
	// numbers, strings, booleans, arrays, slices and structs.
	Key func(x X) string
	// Store keeps the draws. nil: memory does, and a new Sticky draws anew.
	Store Store
	// Name says whose answers and which: with equal names in one store, or under one
	// secret, two Stickies are one. A Store or a Secret needs a name, and another
	// mechanism another name.
	Name string
	// Secret derives the draws from 32 or more bytes of crypto/rand, the Name, the
	// type, the String (if it has one) and the guarantee of the mechanism and the input.
	// Two mechanisms under one name for which these agree share their randomness, and
	// nothing is promised for their answers together. The rng of Release is not used.
	// The mechanism must draw from its rng alone, and its String must say the same in
	// every process, or each has its own draws; another version of it, or of this
	// library, may draw otherwise. There is no Store, Key or Budget then: nothing
	// remembers what was asked.
	Secret []byte
	// Budget is asked for the mechanism's guarantee at every new input. nil: there is
	// no limit.
	Budget *Budget
}

// minSecret is the least size of a secret, in bytes.
const minSecret = 32

// NewSticky returns m with one draw for each distinct input. Outputs are stored by
// encoding/json: the Release of one that does not come back from it as it was is an error.
// Options that lack what they need or do not go together are an error that says which, and
// a Budget in another unit is [ErrUnit].
func NewSticky[X, Y any](m Mechanism[X, Y], o *StickyOptions[X]) (*Sticky[X, Y], error) {
	const op = "mechanism: NewSticky"
	if m == nil {
		return nil, fault.Empty(op, "m", 0)
	}
	if o == nil {
		o = &StickyOptions[X]{}
	}
	s := &Sticky[X, Y]{m: m, g: m.Guarantee(), name: o.Name, store: o.Store, budget: o.Budget}
	var err error
	if s.claim, err = json.Marshal(s.g); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if (o.Store != nil || o.Secret != nil) && o.Name == "" {
		return nil, fmt.Errorf("%s: a Store or a Secret, and no Name", op)
	}
	switch t := reflect.TypeFor[X](); {
	case o.Key != nil:
		s.value = func(x X) []byte { return []byte(o.Key(x)) }
	case plain(t, nil):
		s.value = func(x X) []byte { return appendValue(nil, reflect.ValueOf(&x).Elem()) }
	default:
		return nil, fmt.Errorf("%s: no Key, and %v is not made of numbers, strings, booleans, arrays, slices and structs", op, t)
	}
	s.draws = turn{o.Name, fmt.Sprintf("draw of %T, %s, %s", m, fault.Describe(m), s.claim)}
	s.saves = turn{o.Name, "sticky"}
	switch {
	case o.Secret == nil && o.Store == nil:
		s.store, s.draws.of, s.saves.of = memory{}, s, s
	case o.Secret == nil:
	case o.Store != nil || o.Key != nil || o.Budget != nil:
		return nil, fmt.Errorf("%s: a Secret, and a Store, Key or Budget, which do not go with it", op)
	case len(o.Secret) < minSecret:
		return nil, &fault.SizeError{Op: op, Arg: "Secret", Got: len(o.Secret), Want: fmt.Sprintf("at least %d", minSecret)}
	default:
		s.derive = derivation(o.Secret, []byte(o.Name), fmt.Appendf(nil, "%T", m), []byte(fault.Describe(m)), s.claim)
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

// Guarantee is that of the mechanism, for one input; for a sequence of them see
// [Sticky].
func (s *Sticky[X, Y]) Guarantee() Guarantee {
	if s == nil {
		return Guarantee{}
	}
	return s.g
}

// String gives the mechanism and where the draws are.
func (s *Sticky[X, Y]) String() string {
	if err := s.check("mechanism: Sticky"); err != nil {
		return err.Error()
	}
	how := "kept in a store"
	if _, ok := s.store.(memory); ok {
		how = "kept in memory"
	} else if s.derive != nil {
		how = "derived from a secret (computational)"
	}
	return fmt.Sprintf("one draw for each input, %s: %s", how, fault.Describe(s.m))
}

// Release returns the answer for x, a new one only where x is. Other errors than the
// mechanism's own: a [*BudgetError], those of the store, [ErrRecord], and that the
// stored answer was drawn under another guarantee. After an error nothing new was
// released; a part of the budget may be spent if the store failed.
func (s *Sticky[X, Y]) Release(rng *rand.Rand, x X) (y Y, err error) {
	const op = "mechanism: Sticky.Release"
	if err := s.check(op); err != nil {
		return y, err
	}
	value := s.value(x)
	if s.derive != nil {
		return s.m.Release(s.derive(value), x)
	}
	key := storeKey("sticky", s.name, string(value))
	// Of several Stickies of one name no two answer differently, or spend twice: the
	// second look, the spending and the save are one turn of the name, and what is
	// returned was saved in such a turn or found. The answer is one draw, and not the
	// fastest of several, whose distribution is another: the first look to the save is
	// one turn of the mechanism under the name. And no two wait for each other: within a
	// turn to save there is the turn of the budget, and within that none. Within a turn
	// to draw there are those of the Stickies that the mechanism is made of, which have
	// other names or, being less, other strings; only without strings they could meet.
	defer s.draws.take()()
	y, ok, err := s.load(op, key)
	if ok || err != nil {
		return y, err
	}
	fresh, err := s.m.Release(rng, x)
	if err != nil {
		return y, err
	}
	// What is released is what was stored and read again, so that the first answer is
	// the same as all later ones.
	body, err := json.Marshal(fresh)
	if err == nil {
		err = json.Unmarshal(body, &y)
	}
	var none Y
	if err != nil {
		return none, fmt.Errorf("%s: an output that cannot be stored: %w", op, err)
	}
	if !reflect.DeepEqual(fresh, y) {
		return none, fmt.Errorf("%s: an output that cannot be stored: encoding/json makes another one of a %T", op, fresh)
	}
	if body, err = json.Marshal(draw{s.claim, body}); err != nil {
		return none, fmt.Errorf("%s: %w", op, err)
	}
	defer s.saves.take()()
	if old, ok, err := s.load(op, key); ok || err != nil {
		return old, err // by another mechanism of the name, or by a Sticky in this one
	}
	// Stored before anything is released, the price first: a crash wastes it at worst.
	if s.budget != nil {
		if err := s.budget.Spend(s.g); err != nil {
			return none, fault.Within(op, err)
		}
	}
	if err := save(op, s.store, key, body); err != nil {
		return none, err
	}
	return y, nil
}

// draw is the record of an answer.
type draw struct {
	Guarantee json.RawMessage `json:"guarantee"`
	Output    json.RawMessage `json:"output"`
}

// load returns the answer that is stored under a key, if there is one.
func (s *Sticky[X, Y]) load(op, key string) (y Y, ok bool, err error) {
	body, ok, err := load(op, s.store, key)
	if !ok || err != nil {
		return y, false, err
	}
	var d draw
	if err := json.Unmarshal(body, &d); err != nil {
		return y, false, fmt.Errorf("%s: %w: %s: %w", op, ErrRecord, key, err)
	}
	if !bytes.Equal(d.Guarantee, s.claim) {
		return y, false, fmt.Errorf("%s: the stored answer has the guarantee %.200s and the mechanism %s: a second answer needs another Name", op, d.Guarantee, s.claim)
	}
	if err := json.Unmarshal(d.Output, &y); err != nil {
		var none Y
		return none, false, fmt.Errorf("%s: %w: %s: %w", op, ErrRecord, key, err)
	}
	return y, true, nil
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
