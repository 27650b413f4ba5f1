package scale

import "testing"

func TestInterval_Methods(t *testing.T) {
	i := Interval{1, 2.5}
	if i.Exact() || i.Width() != 1.5 || !i.Contains(1) || !i.Contains(2.5) || i.Contains(3) || i.String() != "[1, 2.5]" {
		t.Error(i)
	}
	if i = (Interval{2, 2}); !i.Exact() || i.Width() != 0 || i.String() != "2" {
		t.Error(i)
	}
}
