package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/testkit"
)

// window is a browser under test, driven by the W3C's WebDriver protocol.
type window struct {
	t       *testing.T
	session string // URL
	url     string // of the page
}

var started = regexp.MustCompile(`started successfully on port ([0-9]+)`)

// open starts chromedriver and with it a browser without a screen, whose profile is
// new.
func open(t *testing.T) *window {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "chromedriver", "--port=0")
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		t.Fatalf("no browser to test with: %v (Debian's packages are chromium and chromium-driver)", err)
	}
	w := &window{t: t}
	t.Cleanup(func() {
		if w.t = t; strings.Count(w.session, "/") > 3 {
			w.do("DELETE", "", nil, nil)
		}
		cancel()
		cmd.Wait()
	})
	lines := bufio.NewScanner(stdout)
	for w.session == "" && lines.Scan() {
		if m := started.FindStringSubmatch(lines.Text()); m != nil {
			w.session = "http://127.0.0.1:" + m[1] + "/session"
		}
	}
	go io.Copy(io.Discard, stdout)
	var made struct{ SessionID string }
	w.do("POST", "", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"goog:loggingPrefs": map[string]string{"browser": "ALL"},
		"goog:chromeOptions": map[string]any{"args": []string{
			"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync",
		}},
	}}}, &made)
	w.session += "/" + made.SessionID
	return w
}

// do sends one command and reads its value.
func (w *window) do(method, path string, body, value any) {
	w.t.Helper()
	b := testkit.Must(json.Marshal(body))
	if body == nil {
		b = nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	req := testkit.Must(http.NewRequestWithContext(ctx, method, w.session+path, bytes.NewReader(b)))
	resp := testkit.Must(http.DefaultClient.Do(req))
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("%s %s: %s %s %v", method, path, resp.Status, reply, err)
	}
	if value != nil {
		if err := json.Unmarshal(reply, &struct{ Value any }{value}); err != nil {
			w.t.Fatalf("%s %s: %v in %s", method, path, err, reply)
		}
	}
}

// visit opens a page of a size in CSS pixels, and waits until it is ready.
func (w *window) visit(url string, width, height int) {
	w.t.Helper()
	w.cdp("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	w.do("POST", "/url", map[string]any{"url": url}, nil)
	w.until("the page is not ready", func() bool { return w.text("return document.body.dataset.ready ?? ''") == "yes" })
}

// until waits for a minute at most.
func (w *window) until(what string, happens func() bool) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); !happens(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s after a minute: %s; %v", what, w.text("return document.getElementById('error').textContent"), w.console())
		}
	}
}

// cdp sends a command of Chromium's own protocol.
func (w *window) cdp(command string, params map[string]any, value any) {
	w.t.Helper()
	w.do("POST", "/goog/cdp/execute", map[string]any{"cmd": command, "params": params}, value)
}

// eval runs a function body in the page.
func (w *window) eval(script string, value any) {
	w.t.Helper()
	w.do("POST", "/execute/sync", map[string]any{"script": script, "args": []any{}}, value)
}

// text is eval for a string.
func (w *window) text(script string) (s string) {
	w.t.Helper()
	w.eval(script, &s)
	return s
}

// frames waits until what happened before is laid out and drawn.
func (w *window) frames() {
	w.t.Helper()
	w.eval("return new Promise((done) => { let left = 4; const next = () => --left < 0 ? done() : requestAnimationFrame(next); next(); })", nil)
}

// find returns the path of the element with this id.
func (w *window) find(id string) string {
	w.t.Helper()
	var e map[string]string
	w.do("POST", "/element", map[string]any{"using": "css selector", "value": "#" + id}, &e)
	for _, v := range e {
		return "/element/" + v
	}
	w.t.Fatalf("no element #%s", id)
	return ""
}

// click clicks the element as a person would: it must be in view and not covered.
func (w *window) click(id string) {
	w.t.Helper()
	w.do("POST", w.find(id)+"/click", map[string]any{}, nil)
}

// tap clicks the element some pixels off its middle.
func (w *window) tap(id string, dx, dy int) {
	w.t.Helper()
	var e map[string]string
	w.do("POST", "/element", map[string]any{"using": "css selector", "value": "#" + id}, &e)
	w.do("POST", "/actions", map[string]any{"actions": []any{map[string]any{
		"type": "pointer", "id": "mouse", "actions": []any{
			map[string]any{"type": "pointerMove", "origin": e, "x": dx, "y": dy},
			map[string]any{"type": "pointerDown", "button": 0},
			map[string]any{"type": "pointerUp", "button": 0},
		}}}}, nil)
}

// keys types into the element.
func (w *window) keys(id, keys string) {
	w.t.Helper()
	w.do("POST", w.find(id)+"/value", map[string]any{"text": keys}, nil)
}

// set gives a field another value, as typing does.
func (w *window) set(id, value string) {
	w.t.Helper()
	w.eval(fmt.Sprintf("const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event('change'))", id, value), nil)
}

// words is what the element says.
func (w *window) words(id string) string {
	w.t.Helper()
	return w.text(fmt.Sprintf("return document.getElementById(%q).innerText", id))
}

// console returns what the page complained about since the last call.
func (w *window) console() (lines []string) {
	w.t.Helper()
	var all []struct{ Level, Message string }
	w.do("POST", "/se/log", map[string]any{"type": "browser"}, &all)
	for _, l := range all {
		if l.Level == "SEVERE" || l.Level == "WARNING" {
			lines = append(lines, strings.ToLower(l.Level)+": "+l.Message)
		}
	}
	return lines
}

// save takes a picture of the page from its top, that many pixels high, and writes it
// to a file of the folder METRICDP_SCREENSHOTS where that is set.
func (w *window) save(name string, width, height int) {
	w.t.Helper()
	var reply struct{ Data string }
	w.cdp("Page.captureScreenshot", map[string]any{
		"format": "png", "captureBeyondViewport": true, "clip": map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}, &reply)
	b, err := base64.StdEncoding.DecodeString(reply.Data)
	if err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		w.t.Fatalf("no picture: %v", err)
	}
	if dir := os.Getenv("METRICDP_SCREENSHOTS"); dir != "" {
		testkit.Check(w.t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
	}
}
