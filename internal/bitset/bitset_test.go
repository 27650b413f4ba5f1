package bitset

import (
	"maps"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// A set does what a map does.
func TestSet_AgainstMaps(t *testing.T) {
	r := random.Seeded(1)
	for _, n := range []int{1, 63, 64, 65, 200} {
		rows := Rows(3, n)
		want := make([]map[int]bool, 3)
		for k := range want {
			want[k] = map[int]bool{}
		}
		for range 5 * n {
			k, i := r.IntN(3), r.IntN(n)
			switch r.IntN(8) {
			case 0:
				rows[k].Union(rows[(k+1)%3])
				maps.Copy(want[k], want[(k+1)%3])
			case 1, 2, 3:
				rows[k].Remove(i)
				delete(want[k], i)
			default:
				rows[k].Add(i)
				want[k][i] = true
			}
		}
		for k, s := range rows {
			if got := slices.Collect(s.All()); !slices.Equal(got, slices.Sorted(maps.Keys(want[k]))) || s.Len() != len(want[k]) {
				t.Errorf("n=%d: %v, want %v", n, got, want[k])
			}
			for i := range n {
				if s.Has(i) != want[k][i] {
					t.Errorf("n=%d: Has(%d) = %v", n, i, s.Has(i))
				}
			}
		}
	}
	if s := make(Set, Words(64)); len(s) != 1 || s.Len() != 0 {
		t.Errorf("%v", s)
	}
}
