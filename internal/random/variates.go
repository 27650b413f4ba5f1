package random

import (
	"math"
	"math/rand/v2"
)

// The variates here read every word to at least 63 bits. The ziggurat of
// math/rand/v2 reads 32 and has tables in float32, so that its distribution is off by
// about 1e-7 and its outputs lie on few points.

// Uniform is uniform on (0, 1]: 1 has probability 2^-54, the least value is 2^-65.
func Uniform(rng *rand.Rand) float64 { return (float64(rng.Uint64()) + 0.5) * 0x1p-64 }

// Symmetric is uniform on [-1, 1].
func Symmetric(rng *rand.Rand) float64 { return (float64(int64(rng.Uint64())) + 0.5) * 0x1p-63 }

// Exponential has density e^-z. A conversion of 63 bits is faster than one of
// 64, and the 64th would be lost.
func Exponential(rng *rand.Rand) float64 {
	return -math.Log((float64(rng.Int64()) + 0.5) * 0x1p-63)
}

// Laplace has density e^-|z|/2: 63 bits of the word give the magnitude, one the sign.
func Laplace(rng *rand.Rand) float64 {
	u := rng.Uint64()
	x := -math.Log((float64(int64(u>>1)) + 0.5) * 0x1p-63)
	return math.Float64frombits(math.Float64bits(x) | u<<63)
}

// Normals returns two independent standard normal variates (Marsaglia's polar method).
func Normals(rng *rand.Rand) (x, y float64) {
	for {
		u, v := Symmetric(rng), Symmetric(rng)
		if s := u*u + v*v; s > 0 && s < 1 {
			f := math.Sqrt(-2 * math.Log(s) / s)
			return u * f, v * f
		}
	}
}

// FillNormal fills dst with independent standard normal variates.
func FillNormal(rng *rand.Rand, dst []float64) {
	for ; len(dst) > 1; dst = dst[2:] {
		dst[0], dst[1] = Normals(rng)
	}
	if len(dst) == 1 {
		dst[0], _ = Normals(rng)
	}
}
