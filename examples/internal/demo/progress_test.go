package demo

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/testkit"
)

func TestBar_RateLimitedAndWiped(t *testing.T) {
	var out strings.Builder
	clock := time.Unix(1000, 0)
	b := &bar{w: &out, label: "audit", now: func() time.Time { return clock }, start: clock}
	b.report(0, 0) // nothing to show
	for i := range 101 {
		b.report(i, 100)
		clock = clock.Add(30 * time.Millisecond)
	}
	lines := strings.Split(out.String(), "\r")[1:]
	if len(lines) != 26 { // every fourth call, the first of them included
		t.Errorf("%d drawings of 101 reports 30 ms apart", len(lines))
	}
	if want := "audit [" + strings.Repeat(" ", 30) + "]   0%"; lines[0] != want {
		t.Errorf("%q, want %q", lines[0], want)
	}
	if want := "audit [===============               ]  52% 1s left"; lines[13] != want {
		t.Errorf("%q, want %q", lines[13], want)
	}
	out.Reset()
	b.clear()
	if got := strings.Trim(out.String(), "\r"); strings.TrimSpace(got) != "" || len(got) < len("audit [] 100%")+30 {
		t.Errorf("clear wrote %q", out.String())
	}
	out.Reset()
	b.clear()
	if out.Len() > 0 {
		t.Errorf("a second clear wrote %q", out.String())
	}
}

func TestProgress_SilentOffTerminal(t *testing.T) {
	var out strings.Builder
	p := &Program{Stderr: &out}
	report, clear := p.Progress("x")
	report(1, 2)
	clear()
	if out.Len() > 0 {
		t.Errorf("wrote %q to what is no terminal", out.String())
	}
	f := testkit.Must(os.CreateTemp(t.TempDir(), ""))
	defer f.Close()
	if isTerminal(f) {
		t.Error("a plain file passes for a terminal")
	}
}

func TestRemark_WipesTheBar(t *testing.T) {
	var screen strings.Builder
	p := &Program{Stdout: &screen, Stderr: &screen}
	p.bar = &bar{w: &screen, label: "x", now: time.Now}
	p.bar.report(1, 2)
	screen.Reset()
	p.Remark("wrote %s", "a.csv")
	if got := strings.TrimLeft(screen.String(), "\r "); got != "wrote a.csv\n" || got == screen.String() {
		t.Errorf("%q", screen.String())
	}
}
