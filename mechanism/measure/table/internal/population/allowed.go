package population

const tries = 100 // to draw an allowed row

// asker returns a function that reports whether row r may have bin a in column j. It must
// not be shared by goroutines.
func (p *Population) asker() func(j, r, a int) bool {
	if p.allowed == nil {
		return func(int, int, int) bool { return true }
	}
	row := make([]int, len(p.bins))
	return func(j, r, a int) bool {
		for i := range row {
			row[i] = int(p.z[i][r])
		}
		row[j] = a
		return p.allowed(row)
	}
}

// start replaces rows that are not allowed: by ones that are drawn until they are, from the
// columns at first and then from all bins, or else by copies of such rows.
func (p *Population) start() error {
	if p.allowed == nil {
		return nil
	}
	may := p.asker()
	var good, bad []int
	for r := range p.z[0] {
		t := 0
		for ; t < tries && !may(0, r, int(p.z[0][r])); t++ {
			for j, g := range p.margins {
				if t > tries/2 {
					p.z[j][r] = uint8(p.rng.IntN(p.bins[j]))
				} else {
					p.z[j][r] = uint8(spread(p.rng, g, 1)[0])
				}
			}
		}
		if t < tries {
			good = append(good, r)
		} else {
			bad = append(bad, r)
		}
	}
	if len(good) == 0 {
		return errImpossible
	}
	for _, r := range bad {
		s := good[p.rng.IntN(len(good))]
		for _, z := range p.z {
			z[r] = z[s]
		}
	}
	return nil
}

// rake brings the counts of column j towards what they should be by rows that are left out or
// copied as a whole: where columns determine one another, no row can change in one alone.
func (p *Population) rake(j int) {
	n, z := p.single(j), p.z[j]
	for a, g := range p.margins[j] {
		n[a] = min(max(g/(p.weight()*max(n[a], 1)), .5), 2)
	}
	weights := make([]float64, len(z))
	for r, a := range z {
		weights[r] = n[a]
	}
	from := spread(p.rng, weights, len(z))
	for i, old := range p.z {
		p.z[i] = make([]uint8, len(old))
		for r, s := range from {
			p.z[i][r] = old[s]
		}
	}
}
