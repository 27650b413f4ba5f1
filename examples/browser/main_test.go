package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/internal/demotest"
	"github.com/metricdp/metricdp/internal/testkit"
)

// uncompiled is compile without the work: the browser's test does it.
func uncompiled(ctx context.Context) (site, error) {
	return site{"metricdp.wasm": []byte("\x00asm"), "wasm_exec.js": []byte("//")}, ctx.Err()
}

var browser = demotest.Program{Name: "browser", Ext: ".csv", Main: func(ctx context.Context, p *demo.Program) error { return run(ctx, p, uncompiled) }}

func TestBrowser_WritesTheSite(t *testing.T) {
	browser.Agrees(t)
	dir := t.TempDir()
	if out := browser.Must(t, "-quiet", "-out", dir, "-in", browser.File(t, "name,lat,lon\nHere,1,2\n")); out != "" {
		t.Error(out)
	}
	page := file(t, dir, "index.html")
	for _, name := range []string{"metricdp.wasm", "land.json", "cities.json", "map.js"} { // the page's script fetches these
		file(t, dir, name)
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^":]+)"`).FindAllStringSubmatch(page, -1) {
		file(t, dir, m[1])
	}
	if got := file(t, dir, "cities.json"); got != `[{"Name":"Here","Country":"","Lat":1,"Lon":2}]` {
		t.Error(got)
	}
}

func TestBrowser_BadInput(t *testing.T) {
	in := func(content string) string { return browser.File(t, content) }
	browser.Rejects(t, map[string][]string{
		"no column \"name\"": {"-quiet", "-in", in("lat,lon\n1,2\n")},
		"no rows below":      {"-quiet", "-in", in("name,lat,lon\n")},
		"lat":                {"-quiet", "-in", in("name,lat,lon\nNowhere,91,0\n")},
		"-addr: listen":      {"-quiet", "-addr", "127.0.0.1:no"},
	})
}

// TestBrowser_Serves opens the page, and ends the program as Ctrl-C does.
func TestBrowser_Serves(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	status := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		status <- demo.Run(ctx, "browser", []string{"-quiet", "-addr", "127.0.0.1:0"}, w, &stderr, browser.Main)
		w.Close()
	}()
	line := make([]byte, 200)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err, stderr.String())
	}
	url := regexp.MustCompile(`http://\S+/`).FindString(string(line[:n]))
	for path, want := range map[string]string{
		"":              "200 OK text/html; charset=utf-8",
		"page.js":       "200 OK text/javascript; charset=utf-8",
		"metricdp.wasm": "200 OK application/wasm",
		"../go.mod":     "404 Not Found text/plain; charset=utf-8",
	} {
		resp := testkit.Must(http.Get(url + path))
		resp.Body.Close()
		if got := resp.Status + " " + resp.Header.Get("Content-Type"); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	cancel()
	if s := <-status; s != 0 || stderr.Len() > 0 {
		t.Errorf("status %d, %s", s, &stderr)
	}
}

func TestCities_LargestFirst(t *testing.T) {
	all, err := readCities(&demo.Program{})
	if err != nil || len(all) < 4000 || all[0].Name != "Shanghai" {
		t.Fatal(len(all), err)
	}
}

// file reads a file of the site, which must not be empty.
func file(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || len(strings.TrimSpace(string(b))) == 0 {
		t.Errorf("%s: %d bytes, %v", name, len(b), err)
	}
	return string(b)
}
