// Package healpix maps the sphere to 12 squares of equal area and back: the
// projection of Górski et al., "HEALPix: a framework for high-resolution
// discretization and fast analysis of data distributed on the sphere", 2005.
package healpix

import "math"

// latLon is metric.LatLon, in degrees.
type latLon = struct{ Lat, Lon float64 }

// Face maps the sphere to the 12 unit squares: Górski et al. 2005, section 4, and the reference
// implementation's ang2pix. Near a pole 1-|sin lat| is computed without cancellation.
func Face(p latLon) (face int, x, y float64) {
	sin := math.Sin(p.Lat * (math.Pi / 180))
	turn := math.Mod(p.Lon, 360) / 90
	if turn < 0 {
		turn += 4
	}
	if turn >= 4 {
		turn = 0 // -1e-20 degrees
	}
	if math.Abs(sin) <= 2.0/3 {
		down, up := 0.5+turn-float64(0.75*sin), 0.5+turn+float64(0.75*sin)
		i, j := int(down), int(up)
		switch {
		case i == j:
			face = 4 + i&3
		case i < j:
			face = i & 3
		default:
			face = 8 + j&3
		}
		return face, up - float64(j), 1 - (down - float64(i))
	}
	half := math.Sin((90 - math.Abs(p.Lat)) * (math.Pi / 360))
	width := math.Sqrt(6 * half * half) // sqrt(3(1-|sin|))
	face = min(3, int(turn))
	f := turn - float64(face)
	x, y = min(1, f*width), min(1, (1-f)*width)
	if sin > 0 {
		return face, 1 - y, 1 - x
	}
	return face + 8, x, y
}

// Point is the inverse of [Face].
func Point(face int, x, y float64) latLon {
	row := float64(2+face/4) - x - y // 0 at the north pole, 4 at the south pole
	ring, sin := 1.0, 0.0
	switch {
	case row < 1:
		ring, sin = row, 1-row*row/3
	case row > 3:
		ring = 4 - row
		sin = ring*ring/3 - 1
	default:
		sin = (2 - row) * (2.0 / 3)
	}
	eighths := 2*float64(face&3) + 1
	if face>>2 == 1 {
		eighths--
	}
	p := latLon{Lat: math.Asin(sin) * (180 / math.Pi)}
	if ring < 1 { // the cap: cos lat = sqrt(ring^2/3 (2 - ring^2/3))
		t := ring * ring / 3
		p.Lat = math.Copysign(math.Acos(math.Sqrt(t*(2-t)))*(180/math.Pi), sin)
	}
	if ring > 1e-15 {
		p.Lon = 45 * (eighths + (x-y)/ring)
	}
	p.Lon = math.Remainder(p.Lon, 360)
	return p
}

// Radius is the largest angle between the center of a cell and its corners, with n x n cells a
// face, as the reference implementation's max_pixrad: it is attained where the caps meet the
// equatorial belt. A percent is added for the cells of odd n, which it was not made for. The
// mean over a cell of the angle to its center is at most 2/3 of it, as in a square under the
// largest coordinate. The test searches for exceptions to both.
func Radius(n int) float64 {
	z, phi := 2.0/3, math.Pi/(4*float64(n))
	t := 1 - 1/float64(n)
	top := 1 - t*t/3
	r, q := math.Sqrt(1-float64(z*z)), math.Sqrt(1-float64(top*top))
	dx, dy, dz := float64(r*math.Cos(phi))-q, r*math.Sin(phi), z-top
	return 1.01 * 2 * math.Asin(min(1, math.Sqrt(float64(dx*dx)+float64(dy*dy)+float64(dz*dz))/2))
}
