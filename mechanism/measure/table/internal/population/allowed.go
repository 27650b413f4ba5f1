package population

const (
	tries     = 100     // to draw an allowed row from the columns
	exhausted = 1 << 20 // combinations that are looked at one by one
)

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

// repair replaces rows that are not allowed: by ones that were drawn from the columns, which
// may take many tries; or else by an allowed row; or else by any combination that is allowed.
func (p *Population) repair() error {
	if p.allowed == nil {
		return nil
	}
	may := p.asker()
	var bad []int
	good := -1
	for r := range p.z[0] {
		for t := 0; !may(0, r, int(p.z[0][r])); t++ {
			if t == tries {
				bad = append(bad, r)
				break
			}
			for j := range p.z {
				p.z[j][r] = uint8(Spread(p.rng, p.margins[j], 1)[0])
			}
		}
		if len(bad) == 0 || bad[len(bad)-1] != r {
			good = r
		}
	}
	if len(bad) == 0 {
		return nil
	}
	row := make([]int, len(p.bins))
	if good < 0 {
		for t := 0; !p.allowed(row); t++ {
			j := 0
			for ; j < len(row); j++ {
				if row[j]++; row[j] < p.bins[j] {
					break
				}
				row[j] = 0
			}
			if j == len(row) || t == exhausted {
				return ErrImpossible
			}
		}
	} else {
		for j := range row {
			row[j] = int(p.z[j][good])
		}
	}
	for _, r := range bad {
		for j, a := range row {
			p.z[j][r] = uint8(a)
		}
	}
	return nil
}

// rake brings the counts of column j towards what they should be by rows that are left out or
// copied as a whole: where columns determine one another, no row can change in one alone.
func (p *Population) rake(j int) {
	n, z := p.single(j), p.z[j]
	for a, g := range p.margins[j] {
		n[a] = min(max(g/(p.Weight()*max(n[a], 1)), .5), 2)
	}
	weights := make([]float64, len(z))
	for r, a := range z {
		weights[r] = n[a]
	}
	from := Spread(p.rng, weights, len(z))
	for i, old := range p.z {
		p.z[i] = make([]uint8, len(old))
		for r, s := range from {
			p.z[i][r] = old[s]
		}
	}
}
