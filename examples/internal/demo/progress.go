package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	barWidth    = 30                     // characters between the brackets
	barInterval = 100 * time.Millisecond // between two drawings: the eye needs no more
)

// Progress returns the callback that long work reports to, and a function that
// wipes the bar. There is none with -quiet or without a terminal. Both are safe
// for concurrent use.
func (p *Program) Progress(label string) (report func(done, total int), clear func()) {
	if p.Quiet || !isTerminal(p.Stderr) {
		return func(int, int) {}, func() {}
	}
	b := &bar{w: p.Stderr, label: label, now: time.Now}
	b.start = b.now()
	p.bar = b
	return b.report, b.clear
}

// isTerminal says whether w is a character device: a terminal, or something
// as patient as one.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

type bar struct {
	w     io.Writer
	label string
	now   func() time.Time
	start time.Time

	mu   sync.Mutex
	last time.Time // of the last drawing
	len  int       // of the line on the screen
}

func (b *bar) report(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if total <= 0 || now.Sub(b.last) < barInterval {
		return
	}
	b.last = now
	part := min(1, max(0, float64(done)/float64(total)))
	full := int(part * barWidth)
	line := fmt.Sprintf("%s [%s%s] %3.0f%%", b.label,
		strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*part)
	// Time left, by proportion, once there is something to go by.
	if spent := now.Sub(b.start); spent > time.Second && part > 0 && part < 1 {
		left := time.Duration(float64(spent) * (1 - part) / part)
		line += fmt.Sprintf(" %s left", left.Round(time.Second))
	}
	b.draw(line)
}

func (b *bar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.len > 0 {
		b.draw("")
		fmt.Fprint(b.w, "\r")
	}
}

// draw puts line over the one on the screen.
func (b *bar) draw(line string) {
	n := len([]rune(line))
	fmt.Fprint(b.w, "\r"+line+strings.Repeat(" ", max(0, b.len-n)))
	b.len = n
}
