package spanning

// Dendrogram walks the binary tree of a row of heights, such as an ultrametric's, and calls
// join for every height, those of a part before that of the whole. Gap k lies between positions
// k and k+1, and its join unites what lies left and right of it as far as heights are lower:
// the parts joined at the gaps left and right, or where that is -1 the single point at position
// k or k+1. Of equal heights the leftmost is above. O(n).
func Dendrogram(heights []float64, join func(gap, left, right int)) {
	type open struct{ gap, left int } // a join whose right side is not complete
	var stack []open                  // from above to below: heights do not increase
	complete := func(below int) int {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		join(top.gap, top.left, below)
		return top.gap
	}
	for gap, h := range heights {
		below := -1
		for len(stack) > 0 && heights[stack[len(stack)-1].gap] < h {
			below = complete(below)
		}
		stack = append(stack, open{gap, below})
	}
	for below := -1; len(stack) > 0; {
		below = complete(below)
	}
}
