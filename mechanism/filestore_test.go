package mechanism

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/testkit"
)

// child runs a test of this binary in a process of its own, as work on the store in dir.
func child(t *testing.T, test, dir string) *exec.Cmd {
	cmd := exec.Command(testkit.Must(os.Executable()), "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), "METRICDP_CHILD="+test, "METRICDP_STORE="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// isChild tells whether this process was started to do the work of that test.
func isChild(t *testing.T) (dir string, ok bool) {
	return os.Getenv("METRICDP_STORE"), os.Getenv("METRICDP_CHILD") == t.Name()
}

// unlocked skips where there is no FileStore.
func unlocked(t *testing.T) {
	if _, err := OpenFileStore(filepath.Join(t.TempDir(), "s")); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
}

// processes skips where there is no FileStore, or no other process can run this binary, as
// under an emulator.
func processes(t *testing.T) {
	unlocked(t)
	if err := exec.Command(testkit.Must(os.Executable()), "-test.run=^$").Run(); err != nil && strings.Contains(err.Error(), "exec format error") {
		t.Skip(err)
	}
}

// What is kept is found again, under its key alone, by who has it open already and by others,
// and only where the old value is the one that is there; nobody else may read it.
func TestFileStore_Swaps(t *testing.T) {
	unlocked(t)
	dir := filepath.Join(t.TempDir(), "s")
	one, two := folder(dir), folder(dir)
	for i, c := range []struct {
		s        *fileStore
		key      string
		old, new string
		want     bool
	}{
		{one, "a", "x", "y", false}, {one, "a", "", "1", true}, {two, "a", "", "2", false}, {two, "a", "1", "2", true},
		{one, "a", "1", "3", false}, {one, "b", "2", "3", false}, {two, "con", "", "4", true}, {one, "a", "2", "2", true},
	} {
		var old []byte
		if c.old != "" {
			old = []byte(c.old)
		}
		if ok := testkit.Must(c.s.Swap(c.key, old, []byte(c.new))); ok != c.want {
			t.Errorf("%d: %v", i, ok)
		}
	}
	for key, want := range map[string]string{"a": "2", "b": "", "con": "4"} {
		if value, ok, err := one.Load(key); string(value) != want || ok != (want != "") || err != nil {
			t.Errorf("%s: %q, %v, %v", key, value, ok, err)
		}
	}
	testkit.Check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if info := testkit.Must(d.Info()); runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return err
	}))
	for key, want := range map[string]string{"": "size 0", "../a": `key = "../a"`, "A": `key = "A"`, strings.Repeat("a", 81): "size 81"} {
		_, err := one.Swap(key, nil, []byte("x"))
		if _, _, other := one.Load(key); err == nil || other == nil || !strings.Contains(err.Error(), want) || !strings.Contains(other.Error(), want) {
			t.Errorf("%q: %v, %v", key, err, other)
		}
	}
	if _, err := OpenFileStore(""); err == nil || !strings.Contains(err.Error(), "path") {
		t.Error(err)
	}
	if _, err := OpenFileStore(filepath.Join(dir, "none", "s")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	// Of a name that is not on the disk, for who put it there is dead, the next one takes care.
	part, _, err := one.find("", "a")
	testkit.Check(t, err)
	testkit.Check(t, os.Truncate(lockFile(part), 1))
	testkit.Must(first(one.Load("a")))
	if info := testkit.Must(os.Stat(lockFile(part))); renamesOpen && info.Size() != 0 {
		t.Error("it is loaded from memory")
	}
}

// A process that counts in one record is killed at random moments: the record is whole, and is
// what was said last to have been swapped, or the next.
func TestFileStore_SurvivesKills(t *testing.T) {
	value := func(n int) []byte { return fmt.Appendf(nil, "%d %s", n, strings.Repeat("x", 5000+n%3000)) }
	number := func(value []byte) (n int) { fmt.Sscan(string(value), &n); return n }
	if dir, ok := isChild(t); ok {
		s := testkit.Must(OpenFileStore(dir))
		for {
			old, _, err := s.Load("k")
			testkit.Check(t, err)
			n := number(old) + 1
			if ok, err := s.Swap("k", old, value(n)); !ok || err != nil {
				t.Fatal(ok, err)
			}
			fmt.Println(n)
		}
	}
	processes(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Must(OpenFileStore(dir))
	r := rand.New(rand.NewPCG(1, 2))
	last := 0
	for round := range testkit.Sweep(12, 100) {
		cmd := child(t, t.Name(), dir)
		out := testkit.Must(cmd.StdoutPipe())
		testkit.Check(t, cmd.Start())
		lines := bufio.NewScanner(out)
		if lines.Scan() { // it is at work
			last = number(lines.Bytes())
			time.AfterFunc(time.Duration(r.IntN(10_000))*time.Microsecond, func() { cmd.Process.Kill() })
		}
		for lines.Scan() {
			last = number(lines.Bytes())
		}
		cmd.Wait()
		got := testkit.Must(first(s.Load("k")))
		if n := number(got); n != last && n != last+1 || !bytes.Equal(got, value(n)) {
			t.Fatalf("round %d: %d was said to be there, and %.20q of %d bytes is", round, last, got, len(got))
		}
	}
	if last < 12 {
		t.Errorf("only %d swaps", last)
	}
}

// Goroutines that wait for a record take no thread each: the runtime ends a program of 10,000.
func TestFileStore_WaitersTakeNoThreads(t *testing.T) {
	if dir, ok := isChild(t); ok {
		debug.SetMaxThreads(60)
		var wg sync.WaitGroup
		for range 500 {
			s := testkit.Must(OpenFileStore(dir))
			wg.Go(func() { testkit.Must(s.Swap("k", nil, []byte("x"))) })
		}
		wg.Wait()
		return
	}
	processes(t)
	dir := filepath.Join(t.TempDir(), "s")
	s := folder(dir)
	part, _, err := s.find("", "k")
	testkit.Check(t, err)
	l := testkit.Must(s.lock(part)) // as a process that stopped
	cmd := child(t, t.Name(), dir)
	testkit.Check(t, cmd.Start())
	time.Sleep(500 * time.Millisecond)
	testkit.Check(t, l.Close())
	testkit.Check(t, cmd.Wait())
}

func folder(dir string) *fileStore { return testkit.Must(OpenFileStore(dir)).(*fileStore) }

func first(value []byte, _ bool, err error) ([]byte, error) { return value, err }

// Two processes of 50 goroutines ask for more inputs than the budget affords, and one may be killed again and
// again: no input has two answers, no more are heard than were paid for, and the last process finds them again.
func TestFileStore_Processes(t *testing.T) {
	const askers, values = 50, 60
	affordable := testkit.Sweep(40, 400)
	work := func(dir string) (*Sticky[int, [2]float64], *Budget) {
		store := testkit.Must(OpenFileStore(dir))
		m := newCounting()
		b := testkit.Must(NewBudget(m.g.Times(affordable), &BudgetOptions{Store: store, Name: "ann"}))
		return testkit.Must(NewSticky(m, &StickyOptions[int]{Store: store, Name: "ann", Budget: b})), b
	}
	inputs := affordable * 3 / 2
	if dir, ok := isChild(t); ok {
		s, _ := work(dir)
		s.patience = 50 * time.Millisecond
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range askers {
			wg.Go(func() {
				for _, x := range rand.Perm(inputs)[:values*affordable/400+1] {
					y, err := s.Release(nil, x)
					mu.Lock()
					if err == nil {
						fmt.Println("heard", x, y[0], y[1], ".")
					} else if !errors.Is(err, ErrBudget) && !errors.Is(err, ErrRefused) {
						t.Error(err)
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		return
	}
	processes(t)
	for _, kills := range []int{0, 6} {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(kills))
		heard := map[int][2]float64{}
		var mu sync.Mutex
		run := func(kill time.Duration) {
			cmd := child(t, t.Name(), dir)
			out := testkit.Must(cmd.StdoutPipe())
			testkit.Check(t, cmd.Start())
			if kill > 0 {
				defer time.AfterFunc(kill, func() { cmd.Process.Kill() }).Stop()
			}
			for lines := bufio.NewScanner(out); lines.Scan(); {
				var x int
				var y [2]float64
				var end string
				if n, _ := fmt.Sscanf(lines.Text(), "heard %d %g %g %s", &x, &y[0], &y[1], &end); n != 4 || end != "." {
					continue
				}
				mu.Lock()
				if was, ok := heard[x]; ok && was != y {
					t.Errorf("%d was answered by %v and %v", x, was, y)
				}
				heard[x] = y
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil && kill == 0 {
				t.Error(err)
			}
		}
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { run(0) })
		r := rand.New(rand.NewPCG(uint64(kills), 2))
		for range kills {
			run(time.Duration(20+r.IntN(150)) * time.Millisecond)
		}
		run(0)
		wg.Wait()
		took := time.Since(start)
		s, b := work(dir)
		s.patience = 0
		spent := testkit.Must(b.Spent()).Alpha()
		if len(heard) > int(spent) || spent > float64(affordable) || kills == 0 && (len(heard) != affordable || spent != float64(affordable)) {
			t.Errorf("%d answers, spent %v", len(heard), spent)
		}
		for x, y := range heard {
			if again := testkit.Must(s.Release(nil, x)); again != y {
				t.Errorf("%d was answered by %v and is by %v", x, y, again)
			}
		}
		t.Logf("%d kills: %d answers of %d paid, in %v", kills, len(heard), int(spent), took)
	}
}

// What a second of 50 askers is: answers that are kept, new ones of one budget, and of as many
// budgets as there are askers.
func BenchmarkFileStore(b *testing.B) {
	store := testkit.Must(OpenFileStore(filepath.Join(b.TempDir(), "s")))
	m := newCounting()
	run := func(name string, ask func(asker, i int) error) {
		b.Run(name, func(b *testing.B) {
			const askers = 50
			var wg sync.WaitGroup
			for a := range askers {
				wg.Go(func() {
					for i := a; i < b.N; i += askers {
						if err := ask(a, i); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
		})
	}
	by := func(name string) *Sticky[int, [2]float64] {
		budget := testkit.Must(NewBudget(m.g.Times(1<<30), &BudgetOptions{Store: store, Name: name}))
		return testkit.Must(NewSticky(m, &StickyOptions[int]{Store: store, Name: name, Budget: budget}))
	}
	one := by("one")
	run("kept", func(int, int) error { return testkit.Err(one.Release(nil, 0)) })
	n := 0
	var mu sync.Mutex
	next := func() int { mu.Lock(); defer mu.Unlock(); n++; return n }
	run("new", func(int, int) error { return testkit.Err(one.Release(nil, next())) })
	run("budgets", func(a, _ int) error { return testkit.Err(by(fmt.Sprint(a)).Release(nil, next())) })
}
