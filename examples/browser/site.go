package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

//go:embed site
var static embed.FS

// program is the part of the page that is compiled.
const program = "github.com/metricdp/metricdp/examples/browser/wasm"

// site is the files of the page, by name.
type site map[string][]byte

// assemble returns the whole page.
func assemble(ctx context.Context, towns []city, compile func(context.Context) (site, error)) (site, error) {
	s, err := compile(ctx)
	if err != nil {
		return nil, err
	}
	if s["cities.json"], err = json.Marshal(towns); err != nil {
		return nil, err
	}
	return s, fs.WalkDir(static, "site", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			s[path.Base(name)], err = static.ReadFile(name)
		}
		return err
	})
}

// compile builds the WebAssembly by the go command, and fetches the script that
// starts it, which belongs to the version of Go.
func compile(ctx context.Context) (site, error) {
	dir, err := os.MkdirTemp("", "browser-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	wasm := filepath.Join(dir, "metricdp.wasm")
	if _, err := goCommand(ctx, "build", "-ldflags=-s -w", "-o", wasm, program); err != nil {
		return nil, err
	}
	root, err := goCommand(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	s := site{}
	for name, file := range map[string]string{
		"metricdp.wasm": wasm,
		"wasm_exec.js":  filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"),
	} {
		if s[name], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// goCommand runs the go command for a browser and returns its output.
func goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("go %s, which has to run inside a clone of the repository: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

// kinds are the types of the site's files. Those that a machine knows by itself can be
// others, for which browsers run no script.
var kinds = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".wasm": "application/wasm",
}

// ServeHTTP serves the page, and nothing else.
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	content, ok := s[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kinds[path.Ext(name)])
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

// serve serves the page until the context is done, which is no error.
func (s site) serve(ctx context.Context, p *demo.Program, addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	fmt.Fprintf(p.Stdout, "open http://%s/ in a browser; Ctrl-C ends\n", l.Addr()) // no remark: nothing else tells where
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	ended := context.AfterFunc(ctx, func() { server.Close() })
	defer ended()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
