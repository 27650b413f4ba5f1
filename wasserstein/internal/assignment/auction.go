package assignment

import (
	"context"
	"slices"
)

const (
	// hardShare is the part of the rows, 1 in so many, that are left free where an auction pays:
	// some 1 in 100 on uniform costs, 1 in 6 on Euclidean ones.
	hardShare = 16
	// The auctions have increments of firstStep, /5, /25, /125 times what
	// separates the ends of a list.
	firstStep = 0.5
	stepRatio = 5
	auctions  = 4
	// maxBids*n is the largest number of bids of all auctions together; 15 to 45 are usual.
	maxBids = 256
)

// auction finds better potentials than reduceRows can, by rounds in which a row may keep a
// column that costs eps too much or less, eps falling: every bid lowers a potential by eps
// at least. Then it frees the rows whose column is not that of least cost, on which
// augmentation rests, and reduces once more. It returns the rows left free. Columns may
// lose their row here, so it is not for n < m (see reduceColumns).
func (s *solver) auction(ctx context.Context, free []int32) ([]int32, error) {
	eps := firstStep * s.spread()
	if eps == 0 {
		return free, nil
	}
	bids := maxBids * s.n
	for round := 0; round < auctions; round++ {
		free = s.unmatch(eps, free)
		for ; len(free) > 0 && bids > 0; bids-- {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			i := free[len(free)-1]
			j, c, r1, _, _, r2 := s.twoLeast(i)
			s.v[j] -= (r2 - r1) + eps
			free = free[:len(free)-1]
			if old := s.match(i, j, c); old >= 0 {
				free = append(free, old)
			}
		}
		eps /= stepRatio
	}
	return s.reduceRows(s.unmatch(0, free)), nil
}

// spread is what separates the ends of a list, of the median row, and 0 where a row has
// none: then costs are so few that an auction does not matter.
func (s *solver) spread() float64 {
	spread := make([]float64, s.n)
	for i := range s.lists {
		l := &s.lists[i]
		if l.whole(s.m) {
			return 0
		}
		spread[i] = l.bound - l.pairs[0].r
	}
	slices.Sort(spread)
	return spread[s.n/2]
}

// unmatch frees the rows whose column costs more than eps above the least.
func (s *solver) unmatch(eps float64, free []int32) []int32 {
	free = free[:0]
	for i := range s.col {
		if j := s.col[i]; j >= 0 {
			if _, _, r, _, _, _ := s.twoLeast(int32(i)); s.paid[i]-s.v[j] > r+eps {
				s.row[j], s.col[i] = -1, -1
			}
		}
		if s.col[i] < 0 {
			free = append(free, int32(i))
		}
	}
	return free
}
