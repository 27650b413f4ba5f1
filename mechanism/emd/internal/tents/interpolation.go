package tents

// interpolation is the matrix of the tents, in whole weights, at the points of a grid fine times finer
// than the vertices, the last axis fastest: a product of one matrix for each axis.
type interpolation struct {
	cells    []int
	fine     int
	from, to []float64 // work space: it is for one goroutine
}

func newInterpolation(cells []int, fine int) *interpolation {
	m := &interpolation{cells: cells, fine: fine}
	_, n := m.Dims()
	m.from, m.to = make([]float64, n), make([]float64, n)
	return m
}

// Dims implements leastsquares.Matrix.
func (m *interpolation) Dims() (rows, cols int) {
	rows, cols = 1, 1
	for _, c := range m.cells {
		rows *= c + 1
		cols *= c*m.fine + 1
	}
	return rows, cols
}

// Apply implements leastsquares.Matrix.
func (m *interpolation) Apply(dst, p []float64) { m.each(dst, p, true) }

// Adjoint implements leastsquares.Matrix.
func (m *interpolation) Adjoint(dst, r []float64) { m.each(dst, r, false) }

// each multiplies by the matrix of one axis after another: axis j of src, seen
// as outer x length x inner, changes its length from points to vertices (down)
// or back.
func (m *interpolation) each(dst, src []float64, down bool) {
	from, to := m.from[:copy(m.from, src)], m.to
	inner, outer := 1, len(src)
	for j := len(m.cells) - 1; j >= 0; j-- {
		in, out := m.cells[j]+1, m.cells[j]*m.fine+1
		if down {
			in, out = out, in
		}
		outer /= in
		to = to[:outer*out*inner]
		clear(to)
		for o := range outer {
			for i := range m.cells[j]*m.fine + 1 {
				cell := min(i/m.fine, m.cells[j]-1)
				up := float64(i-cell*m.fine) / float64(m.fine)
				if down {
					x := from[(o*in+i)*inner:][:inner]
					axpy(to[(o*out+cell)*inner:][:inner], 1-up, x)
					axpy(to[(o*out+cell+1)*inner:][:inner], up, x)
				} else {
					x := to[(o*out+i)*inner:][:inner]
					axpy(x, 1-up, from[(o*in+cell)*inner:][:inner])
					axpy(x, up, from[(o*in+cell+1)*inner:][:inner])
				}
			}
		}
		inner *= out
		from, to = to, from[:cap(from)]
	}
	copy(dst, from)
}

// axpy adds a*x to dst.
func axpy(dst []float64, a float64, x []float64) {
	if a == 0 {
		return
	}
	for i, v := range x {
		dst[i] += float64(a * v)
	}
}
