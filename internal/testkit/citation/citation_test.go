package citation

import (
	"slices"
	"testing"
)

// The forms in which the documentation cites, each with a number that is there and one that is not.
func TestWrong_FindsEachForm(t *testing.T) {
	for _, c := range []struct {
		text  string
		wrong []string
	}{
		{"BSV24 Theorems 3.1 and 3.3, s/8", []string{"BSV24 Theorem 3.3"}},
		{"BSV24 Theorems 6.1 to 6.5", []string{"BSV24 Theorem 6.5"}},
		{"the last step of Corollary 7.3 of BSV22, Corollary 7.2 of BSV22", []string{"BSV22 Corollary 7.2"}},
		{"Source: IRC24, Section 6.3; Hardt, Talwar 2010, Theorem 9.9, KOV15, Theorem 3.3", []string{"IRC24 Section 6.3"}},
		{"(BSV24, Theorem\n4.1)", []string{"BSV24 Theorem 4.1"}},
		{"Fact 5.1 of IRC24, its Fact 5.2", []string{"IRC24 Fact 5.2"}},
		{"Boedihardjo, Strohmer, Vershynin, \"Private measures, random walks, and synthetic data\", 2022, Theorem 7.1", []string{"BSV22 Theorem 7.1"}},
		{"Boedihardjo et al., Metric geometry of the privacy-utility tradeoff, Lemma 4.1, Lemma 4.2", []string{"BSV24 Lemma 4.2"}},
		{"(BSV22, section 8), (BSV22, section 10), and section 11 of ours", []string{"BSV22 Section 10"}},
		{"IRC24, (8) and (29); (after BSV22, 9.5), (after BSV22, 9.8)", []string{"IRC24 Equation 29", "BSV22 Number 9.8"}},
		{"IKWAT22's Appendix D, Table 2, Figure 5", []string{"IKWAT22 Section D", "IKWAT22 Figure 5"}},
		{"Table 2c and Table 2b of IRC24", nil}, // 2c is no number
		{"Definition 2.2 (KL10), Definition 2.7 (KL10)", []string{"KL10 Definition 2.7"}},
		{"Theorem 3.4, and Theorem 3.5, 3 of them", []string{"KL10 or IKWAT22 Theorem 3.5"}},
	} {
		if got := Wrong(c.text, "KL10", "IKWAT22"); !slices.Equal(got, c.wrong) {
			t.Errorf("%s: %q, want %q", c.text, got, c.wrong)
		}
	}
	if got := Wrong("Theorem 99 of ours"); len(got) > 0 {
		t.Errorf("of no paper: %q", got)
	}
}

func TestPlace_IsOneOfThePaper(t *testing.T) {
	for place, ok := range map[string]bool{
		"Theorem 3": true, "Section 5.1, Table 3": true, "after Lemma 1": true,
		"": false, "Theorem 5": false, "the abstract": false, "Theorem 3.1 of BSV24": true, "Theorem 1, Theorem 9": false,
		"(7)": true, "(28)": false,
	} {
		if err := Place("IKWAT22", place); (err == nil) != ok {
			t.Errorf("%q: %v", place, err)
		}
	}
}
