package additive

import (
	"math"
	"math/rand/v2"
	"sync"
)

// The variates here read all 64 bits of every word. The ziggurat of
// math/rand/v2 reads 32 and has tables in float32, so that its law is off by
// about 1e-7 and its outputs lie on few points.

// uniform is uniform on (0, 1]: 1 has probability 2^-54, the least value is 2^-65.
func uniform(r *rand.Rand) float64 { return (float64(r.Uint64()) + 0.5) * 0x1p-64 }

// symmetric is uniform on [-1, 1].
func symmetric(r *rand.Rand) float64 { return (float64(int64(r.Uint64())) + 0.5) * 0x1p-63 }

// laplace has density e^-|z|/2: 63 bits of the word give the magnitude, one the
// sign.
func laplace(r *rand.Rand) float64 {
	u := r.Uint64()
	return withSign(-math.Log((float64(u>>1)+0.5)*0x1p-63), u)
}

// withSign gives x >= 0 the sign of the lowest bit of u.
func withSign(x float64, u uint64) float64 {
	return math.Float64frombits(math.Float64bits(x) | u<<63)
}

// normals returns two independent standard normal variates (Marsaglia's polar
// method).
func normals(r *rand.Rand) (x, y float64) {
	for {
		u, v := symmetric(r), symmetric(r)
		if s := u*u + v*v; s > 0 && s < 1 {
			f := math.Sqrt(-2 * math.Log(s) / s)
			return u * f, v * f
		}
	}
}

// fillNormal fills dst with independent standard normal variates.
func fillNormal(r *rand.Rand, dst []float64) {
	for len(dst) > 1 {
		dst[0], dst[1] = normals(r)
		dst = dst[2:]
	}
	if len(dst) == 1 {
		dst[0], _ = normals(r)
	}
}

// productShape is the largest integer shape for which gamma multiplies
// uniforms: the product stays above 2^-65*productShape, far from underflow.
const productShape = 8

// gamma has density prop. to x^(a-1) e^-x, for a shape a >= 1: for small
// integers the sum of a exponentials, else Marsaglia and Tsang, "A simple
// method for generating gamma variables", 2000.
func gamma(r *rand.Rand, a float64) float64 {
	if a <= productShape && a == math.Floor(a) {
		p := 1.0
		for range int(a) {
			p *= uniform(r)
		}
		return -math.Log(p)
	}
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x, _ := normals(r)
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := uniform(r)
		x2 := x * x
		// The squeeze saves the logarithms in most rounds.
		if u < 1-0.0331*x2*x2 || math.Log(u) < 0.5*x2+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}

var buffers = sync.Pool{New: func() any { return new([]float64) }}

// borrow returns a pooled slice of length n, to be handed to giveBack.
func borrow(n int) *[]float64 {
	b := buffers.Get().(*[]float64)
	if cap(*b) < n {
		*b = make([]float64, n)
	}
	*b = (*b)[:n]
	return b
}

func giveBack(b *[]float64) { buffers.Put(b) }
