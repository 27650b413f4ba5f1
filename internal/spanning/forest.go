package spanning

// Forest is a union of trees over points from [0, n): union-find, by size.
type Forest struct {
	up    []int32 // the point above, or minus the size at a root
	trees int
}

// NewForest returns the forest in which each of n points is a tree.
func NewForest(n int) *Forest {
	f := &Forest{make([]int32, n), n}
	for i := range f.up {
		f.up[i] = -1
	}
	return f
}

// Trees returns the number of trees.
func (f *Forest) Trees() int { return f.trees }

// Root returns the point that stands for the tree of i.
func (f *Forest) Root(i int) int {
	for f.up[i] >= 0 {
		if above := f.up[i]; f.up[above] >= 0 {
			f.up[i] = f.up[above]
		}
		i = int(f.up[i])
	}
	return i
}

// Join reports whether i and j were in different trees, which are one now. Its
// root is that of the larger of the two.
func (f *Forest) Join(i, j int) bool {
	i, j = f.Root(i), f.Root(j)
	if i == j {
		return false
	}
	if f.up[i] > f.up[j] {
		i, j = j, i
	}
	f.up[i] += f.up[j]
	f.up[j] = int32(i)
	f.trees--
	return true
}
