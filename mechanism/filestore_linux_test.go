package mechanism

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// On a file system of 96 kB, of its own, a full disk is an error and no more: what was
// answered stays, and with room again every input is answered, by one draw that is paid once.
func TestFileStore_FullDisk(t *testing.T) {
	dir, ok := isChild(t)
	if !ok {
		cmd := child(t, t.Name(), t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.Output()
		if bytes.Contains(out, []byte("no mount")) || len(out) == 0 && err != nil {
			t.Skipf("this user may mount nothing: %v %s", err, out)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=96k"); err != nil {
		fmt.Println("no mount:", err)
		return
	}
	fmt.Println("mounted")
	store := testkit.Must(OpenFileStore(filepath.Join(dir, "s")))
	m := newCounting()
	b := testkit.Must(NewBudget(m.g.Times(1000), &BudgetOptions{Store: store, Name: "ann"}))
	s := testkit.Must(NewSticky(m, &StickyOptions[int]{Store: store, Name: "ann", Budget: b}))
	s.patience = 0
	filler := filepath.Join(dir, "filler")
	answers := map[int][2]float64{}
	full := 0
	for size := 92; size >= 0; size -= 2 { // room for one page more at every other step
		os.WriteFile(filler, make([]byte, size<<10), 0o600) // as much of it as there is room for
		for x := range 16 {
			y, err := s.Release(nil, x)
			if was, ok := answers[x]; ok && (err != nil || was != y) {
				t.Fatalf("%d was answered by %v, then by %v, %v", x, was, y, err)
			}
			switch {
			case err == nil:
				answers[x] = y
			case errors.Is(err, syscall.ENOSPC):
				full++
			default:
				t.Fatal(err)
			}
		}
	}
	spent := testkit.Must(b.Spent()).Alpha()
	if draws := m.draws.Load(); full == 0 || len(answers) != 16 || draws != 16 || spent != 16 || len(m.of) != 16 {
		t.Errorf("%d errors, %d answers, %d draws, spent %v", full, len(answers), draws, spent)
	}
	fmt.Println(full, "errors,", len(answers), "answers,", m.draws.Load(), "draws, spent", spent)
}
