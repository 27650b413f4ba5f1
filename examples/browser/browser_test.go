package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

func TestPage_InABrowser(t *testing.T) {
	if os.Getenv("METRICDP_BROWSER") == "" {
		t.Skip("needs a browser: METRICDP_BROWSER=1")
	}
	towns, err := readCities(&demo.Program{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := assemble(context.Background(), towns, compile)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	w := open(t)
	w.visit(server.URL, 1280, 1000)
	w.click("sticky")
	w.click("many")
	w.click("compare")
	t.Log(w.words("stickyWords"), w.words("freshWords"), w.words("table"))
	os.WriteFile(filepath.Join(os.Getenv("METRICDP_SCREENSHOTS"), "wide.png"), w.shot(true), 0o644)
	w.visit(server.URL, 375, 812)
	w.click("sticky")
	os.WriteFile(filepath.Join(os.Getenv("METRICDP_SCREENSHOTS"), "phone.png"), w.shot(true), 0o644)
	t.Log(w.console())
}
