package exponential

import (
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
)

func BenchmarkStandard(b *testing.B) {
	f := space.Halton(1000)
	b.Run("build/n=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fam := testkit.Must(newFamily("", MethodStandard, f, 5, nil))
			if _, err := fam.channel(b.Context(), 2.5); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("build+audit/n=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Standard(b.Context(), f, 5, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkTuned(b *testing.B) {
	f := space.Halton(1000)
	for b.Loop() {
		if _, err := Tuned(b.Context(), f, 5, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTight(b *testing.B) {
	f := space.Halton(1000)
	for b.Loop() {
		if _, err := Tight(b.Context(), f, 60, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// A first release without any matrix.
func BenchmarkFirstRelease(b *testing.B) {
	f := space.Halton(100_000)
	r := random.Seeded(4)
	b.Run("n=100000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := testkit.Must(Lazy(b.Context(), f, 5, nil))
			if _, err := m.Release(r, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}
