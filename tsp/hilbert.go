package tsp

// hilbertBits is the number of bits of a coordinate on the curve: cells of
// 2^-32 of the longest side of the points' box.
const hilbertBits = 32

// hilbertKey writes the place on the Hilbert curve of the cell x to the d*bits
// highest bits of key, the most significant first. It overwrites x.
//
// From the highest bit down, the cell is turned into the frame of the part of
// the curve that it lies on; then the Gray code of the interleaved bits is
// undone (J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707,
// 2004).
func hilbertKey(key []uint64, x []uint32, bits int) {
	for b := bits - 1; b > 0; b-- {
		low := uint32(1)<<b - 1
		for a := range x {
			if x[a]>>b&1 != 0 {
				x[0] ^= low
			} else {
				t := (x[0] ^ x[a]) & low
				x[0] ^= t
				x[a] ^= t
			}
		}
	}
	for a := 1; a < len(x); a++ {
		x[a] ^= x[a-1]
	}
	turn, last := uint32(0), x[len(x)-1]
	for b := bits - 1; b > 0; b-- {
		if last>>b&1 != 0 {
			turn ^= uint32(1)<<b - 1
		}
	}
	clear(key)
	at := 0
	for b := bits - 1; b >= 0; b-- {
		for _, v := range x {
			key[at>>6] |= uint64((v^turn)>>b&1) << (63 - at&63)
			at++
		}
	}
}
