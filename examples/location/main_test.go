package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/demo"
)

func do(args ...string) (status int, stdout, stderr string) {
	var o, e bytes.Buffer
	status = demo.Run(context.Background(), "location", args, &o, &e, run)
	return status, o.String(), e.String()
}

// The table at the default seed, without the build times. The exponential rows
// are exact; the last is a simulation with a fixed seed.
const golden = `
mechanism                     level (per km)  worst loss (km)  mean loss (km)  95 % loss (km)
constant                                   0            642.3           384.2           605.0
exponential, standard                0.09210            49.75           17.45           32.60
exponential, tuned                    0.1000            45.04           15.51           28.80
  the same, remapped                  0.1000            45.93           14.99           29.22
noise on the sphere, snapped          0.1000            20.50           12.88           18.59
`

func TestLocation_Golden(t *testing.T) {
	dir := t.TempDir()
	status, out, stderr := do("-quiet", "-out", dir)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	got := regexp.MustCompile(`(?m) +(build time|[0-9.]+(ns|µs|ms|s))$`).ReplaceAllString(out, "")
	if strings.TrimSpace(got) != strings.TrimSpace(golden) {
		t.Errorf("got\n%s\nwant\n%s", got, golden)
	}
	for file, rows := range map[string]int{"table.csv": 6, "released.csv": 5*300 + 1} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b, []byte("\n")); n != rows {
			t.Errorf("%s has %d lines, want %d", file, n, rows)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "loss.png")); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("loss.png: %v", err)
	}
}

func TestLocation_Flags(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(in, []byte("lat,lon\n0,179.9\n0,-179.9\n90,0\n0,179.9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, stderr := do("-in", in, "-alpha", "0.01", "-out", t.TempDir())
	// Across the date line the first two are 22 km apart.
	if status != 0 || !strings.Contains(out, "4 places, up to 10008 km apart") || !strings.Contains(out, "tight weights") {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
	status, out, stderr = do("-prior", "population", "-n", "40", "-out", t.TempDir(), "-seed", "7")
	if status != 0 || !strings.Contains(out, "40 places") {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
}

func TestLocation_BadInput(t *testing.T) {
	file := func(content string) string {
		in := filepath.Join(t.TempDir(), "in.csv")
		if err := os.WriteFile(in, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return in
	}
	for want, args := range map[string][]string{
		"-alpha 0":                           {"-alpha", "0"},
		"-alpha NaN":                         {"-alpha", "NaN"},
		"-n 0":                               {"-n", "0"},
		"-prior \"poulation\"":               {"-prior", "poulation"},
		"no such file":                       {"-in", "/no/such/file"},
		"line 3: lat = \"9x\": not a number": {"-in", file("lat,lon\n1,2\n9x,3\n")},
		"line 2: lat = \"91\"":               {"-in", file("lat,lon\n91,2\n")},
		"no column \"lon\"":                  {"-in", file("lat,long\n1,2\n")},
		"no rows":                            {"-in", file("lat,lon\n")},
		"no column \"population\"":           {"-prior", "population", "-in", file("lat,lon\n1,2\n")},
		"nobody lives":                       {"-prior", "population", "-in", file("lat,lon,population\n1,2,0\n")},
		"unexpected argument":                {"cities"},
	} {
		status, _, stderr := do(args...)
		if status != 2 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q in one line", args, status, stderr, want)
		}
	}
}
