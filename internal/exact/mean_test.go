package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// TestMean_OfWholeNumbersDrawsNothing where they are multiples of 2^-digits.
func TestMean_OfWholeNumbersDrawsNothing(t *testing.T) {
	never := func(uint) Enclosure { panic("enclosed") }
	var s Sum
	s.Add(-6, 0)
	if k, part := s.Mean(nil, 3, 0, 0, never); k != -2 || part != 0 {
		t.Errorf("-6/3 = %d + %d", k, part)
	}
	s.Add(0, 1<<63)
	if k, part := s.Mean(nil, 2, 52, 0, never); k != -3 || part != 1<<50 {
		t.Errorf("-5.5/2 = %d + %d/2^52", k, part)
	}
}

// TestMean_DecidesAtTheBorder: where the word lies next to where the mean is rounded up, it
// is the floor of v + U for all U that begin with what was drawn, v being an exact fraction
// as far from what was added as it may be.
func TestMean_DecidesAtTheBorder(t *testing.T) {
	rng := random.Seeded(123)
	power := func(bits uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), bits) }
	floor := func(x *big.Rat) *big.Int { // Div rounds down where the divisor is positive
		return new(big.Int).Div(x.Num(), x.Denom())
	}
	drawn := map[int]int{}
	for range 3000 {
		n, digits, err := int64(1+rng.IntN(7)), uint(rng.IntN(60)), math.Ldexp(1, -63+rng.IntN(3)*20)
		var s Sum
		sum := new(big.Rat)
		for range n {
			whole, part := int64(rng.IntN(7)-3), rng.Uint64()>>rng.IntN(64)
			sum.Add(sum, new(big.Rat).SetFrac(new(big.Int).SetUint64(part), power(64)))
			sum.Add(sum, big.NewRat(whole, 1))
			if rng.IntN(3) > 0 {
				s.Add(whole, part)
				continue
			}
			s.AddNear(whole, part)
			off := new(big.Rat).SetFloat64(err * []float64{-1, 1, rng.Float64(), 0}[rng.IntN(4)])
			sum.Add(sum, off)
		}
		v := new(big.Rat).Quo(sum, big.NewRat(n, 1)) // in units of 2^-digits
		v.Mul(v, new(big.Rat).SetInt(power(digits)))
		gap := new(big.Rat).Sub(new(big.Rat).SetInt(new(big.Int).Add(floor(v), big.NewInt(1))), v)
		w := floor(gap.Mul(gap, new(big.Rat).SetInt(power(64-digits)))).Uint64() + uint64(rng.IntN(5)) - 2
		source := &replay{words: []uint64{w << digits}, rest: random.Seeded(rng.Uint64())}
		words := &listed{source, nil}
		whole, part := s.Mean(rand.New(words), n, digits, err, func(prec uint) Enclosure {
			return Enclosure{down(prec).SetRat(sum), up(prec).SetRat(sum)}
		})
		got := new(big.Int).Add(new(big.Int).Mul(big.NewInt(whole), power(digits)), new(big.Int).SetUint64(part))
		drawn[len(words.seen)]++
		if len(words.seen) == 0 {
			if v.Cmp(new(big.Rat).SetInt(got)) != 0 {
				t.Fatalf("%v is rounded to %v and not at random", v, got)
			}
			continue
		}
		u, bits := new(big.Int).SetUint64(words.seen[0]>>digits), 64-digits
		for _, w := range words.seen[1:] {
			u.Or(u.Lsh(u, 64), new(big.Int).SetUint64(w))
			bits += 64
		}
		first := floor(new(big.Rat).Add(v, new(big.Rat).SetFrac(u, power(bits))))
		end := new(big.Rat).Add(v, new(big.Rat).SetFrac(u.Add(u, big.NewInt(1)), power(bits))) // not reached
		last := floor(end)
		if end.IsInt() {
			last.Sub(last, big.NewInt(1))
		}
		if got.Cmp(first) != 0 || got.Cmp(last) != 0 {
			t.Fatalf("%v of %d, %d digits within %v, after %d words: %v, exactly %v to %v", sum, n, digits, err, len(words.seen), got, first, last)
		}
	}
	if drawn[0] == 0 || drawn[1] < 300 || drawn[2]+drawn[3] < 300 {
		t.Errorf("numbers of words drawn: %v", drawn)
	}
}

// listed keeps the words of a source.
type listed struct {
	*replay
	seen []uint64
}

func (l *listed) Uint64() uint64 {
	l.seen = append(l.seen, l.replay.Uint64())
	return l.seen[len(l.seen)-1]
}
