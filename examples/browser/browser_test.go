package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/testkit"
)

// TestPage_InABrowser builds the page and uses it as people do, in Chromium. It runs
// where METRICDP_BROWSER is set, and saves pictures in METRICDP_SCREENSHOTS.
func TestPage_InABrowser(t *testing.T) {
	if os.Getenv("METRICDP_BROWSER") == "" {
		t.Skip("needs a browser: METRICDP_BROWSER=1")
	}
	towns := testkit.Must(readCities(&demo.Program{}))
	s := testkit.Must(assemble(context.Background(), towns, compile))
	server := httptest.NewServer(s)
	defer server.Close()
	w := open(t)
	w.url = server.URL
	w.visit(w.url, 1280, 1000)
	for _, use := range []struct {
		name string
		test func(*testing.T, *window)
	}{
		{"sticky stays", stickyStays},
		{"fresh changes", freshChanges},
		{"levels in words", levelsInWords},
		{"bad input", badInput},
		{"city by name", cityByName},
		{"near a pole", nearAPole},
		{"on the way", onTheWay},
		{"mechanisms compared", mechanismsCompared},
		{"keyboard", keyboard},
		{"position", position},
		{"named and readable", namedAndReadable},
		{"snippet", snippetOverrides},
		{"hidden", hiddenMap},
	} {
		t.Run(use.name, func(t *testing.T) {
			w.t = t
			use.test(t, w)
		})
	}
	w.t = t
	w.click("many")
	w.click("compare")
	w.click("fit")
	w.save("page.png", 1265, 1000) // without the scroll bar

	w.visit(w.url, 375, 812)
	w.click("sticky")
	w.click("many")
	w.click("compare")
	var wide [2]int
	w.eval("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]", &wide)
	if wide[0] > wide[1] || wide[1] != 375 {
		t.Errorf("%d pixels wide on a phone of %d", wide[0], wide[1])
	}
	w.save("phone.png", 375, 812)
	if lines := w.console(); len(lines) > 0 {
		t.Errorf("the console has\n%s", strings.Join(lines, "\n"))
	}
	var elsewhere []string
	w.eval("return performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith(location.origin))", &elsewhere)
	if len(elsewhere) > 0 {
		t.Errorf("the page loads %v", elsewhere)
	}
}

var coordinates = regexp.MustCompile(`-?[0-9]+\.[0-9]+, -?[0-9]+\.[0-9]+`)

// answer is the place that the words of an answer name.
func (w *window) answer(id string) string {
	w.t.Helper()
	words := w.words(id)
	place := coordinates.FindString(words)
	if place == "" {
		w.t.Fatalf("no answer in %q", words)
	}
	return place
}

// release presses a button and returns the place that it released.
func (w *window) release(button string) string {
	w.t.Helper()
	w.click(button)
	return w.answer(button + "Words")
}

// place is the latitude and longitude in the page's fields.
func (w *window) place() (at [2]float64) {
	w.t.Helper()
	w.eval("return ['lat', 'lon'].map((id) => Number(document.getElementById(id).value))", &at)
	return at
}

// put puts a place into the page's fields.
func (w *window) put(at [2]float64) {
	w.t.Helper()
	w.set("lat", strconv.FormatFloat(at[0], 'g', -1, 64))
	w.set("lon", strconv.FormatFloat(at[1], 'g', -1, 64))
}

func stickyStays(t *testing.T, w *window) {
	first := w.release("sticky")
	for range 3 {
		if again := w.release("sticky"); again != first {
			t.Errorf("%s, then %s", first, again)
		}
	}
	if words := w.words("stickyWords"); !strings.Contains(words, "Asked 4 times, the same every time") {
		t.Error(words)
	}
	before := w.place()
	w.tap("map", 120, -60)
	if at := w.place(); !(at[0] > before[0] && at[1] > before[1]) {
		t.Errorf("a click to the upper right moved the place from %v to %v", before, at)
	}
	if other := w.release("sticky"); other == first {
		t.Errorf("%s at another place too", first)
	}
	w.put(before)
	if again := w.release("sticky"); again != first {
		t.Errorf("%s, and back again %s", first, again)
	}
	w.visit(w.url, 1280, 1000)
	if again := w.release("sticky"); again != first {
		t.Errorf("%s, and after a reload %s", first, again)
	}
	if words := w.words("stickyWords"); !strings.Contains(words, "this way, other places and levels too: 0.13863-private per km") {
		t.Error(words)
	}
	w.click("forget")
	if other := w.release("sticky"); other == first { // one in some 10^8 by chance
		t.Errorf("%s was not forgotten", first)
	}
}

func freshChanges(t *testing.T, w *window) {
	seen := map[string]bool{}
	for range 4 {
		seen[w.release("fresh")] = true
	}
	if len(seen) != 4 {
		t.Errorf("4 fresh answers are %v", seen)
	}
	w.click("many")
	if words := w.words("freshWords"); !strings.Contains(words, "54 fresh answers") || !strings.Contains(words, "factor 10¹⁷") {
		t.Error(words)
	}
}

func levelsInWords(t *testing.T, w *window) {
	w.set("km", "5")
	w.set("odds", "3")
	for id, wants := range map[string][]string{
		"noise":   {"alpha = ln 3 / 5 km = 0.22 per km", "95 % within 22 km"}, // 4.7439/alpha in the plane
		"promise": {"0.219723-private per km", "1 to 9 times as likely", "59,000"},
	} {
		for _, want := range wants {
			if words := w.words(id); !strings.Contains(words, want) {
				t.Errorf("no %q in %q", want, words)
			}
		}
	}
	w.set("km", "10")
	w.set("odds", "2")
}

func badInput(t *testing.T, w *window) {
	noise, at := w.words("noise"), w.place()
	for id, value := range map[string]string{"km": "-1", "odds": "1", "lat": "91", "lon": ""} {
		old := w.text("return document.getElementById('" + id + "').value")
		w.set(id, value)
		if w.text("return document.getElementById('"+id+"').ariaInvalid") != "true" || w.words("noise") != noise {
			t.Errorf("%s = %q is taken: %s", id, value, w.words("noise"))
		}
		words := map[string]string{
			"km": "Distance in km: want a number from 0.1 to 5000.", "odds": "Factor of the odds: want a number from 1.01 to 1000.",
			"lat": "Latitude: want a number from -90 to 90.", "lon": "Longitude: want a number from -180 to 180.",
		}
		if got := w.words("wishError") + w.words("placeError"); got != words[id] {
			t.Errorf("%s = %q: %q, want %q", id, value, got, words[id])
		}
		w.set(id, old)
	}
	if said := w.words("error") + w.words("wishError") + w.words("placeError"); w.place() != at || said != "" {
		t.Errorf("the place went from %v to %v: %s", at, w.place(), said)
	}
}

// cityByName types names that are no suggestions: what can be meant is found, and of
// others the page says so.
func cityByName(t *testing.T, w *window) {
	before := w.place()
	w.set("city", "Nowhere at all")
	if words := w.words("placeError"); !strings.Contains(words, "No city of this name is known") || w.place() != before {
		t.Errorf("%q, and the place went from %v to %v", words, before, w.place())
	}
	w.set("city", " sao paulo ")
	if at, words := w.place(), w.words("placeError"); words != "" || !(at[0] < -23 && at[0] > -24) || w.text("return document.getElementById('city').ariaInvalid") == "true" {
		t.Errorf("%q, at %v", words, at)
	}
	w.set("city", "")
	w.put(before)
	if words := w.words("placeError"); words != "" {
		t.Error(words)
	}
}

// painted counts the pixels of the map that have a color.
func (w *window) painted(color [3]int) (n int) {
	w.t.Helper()
	w.frames()
	w.eval(fmt.Sprintf(`
		const c = document.getElementById("map"), copy = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true });
		copy.drawImage(c, 0, 0);
		const d = copy.getImageData(0, 0, c.width, c.height).data;
		let n = 0;
		for (let k = 0; k < d.length; k += 4) if (d[k] === %d && d[k + 1] === %d && d[k + 2] === %d) n++;
		return n`, color[0], color[1], color[2]), &n)
	return n
}

// nearAPole has its answers on the map: there they have all longitudes.
func nearAPole(t *testing.T, w *window) {
	before := w.place()
	for _, lat := range []string{"89.9", "-89.99", "84"} {
		w.set("lat", lat)
		w.click("sticky")
		if lat == "84" {
			w.click("fit") // from a view of the whole world
		}
		// Answers are drawn at random, and one may hide another: ask again.
		for try := 1; ; try++ {
			w.click("fresh")
			sticky, fresh := w.painted([3]int{0xb3, 0x40, 0x0e}), w.painted([3]int{0x1f, 0x5f, 0xbf})
			if sticky >= 10 && fresh >= 10 {
				break
			}
			if try == 5 {
				t.Errorf("at %s degrees %d pixels show the sticky answer, %d the fresh one", lat, sticky, fresh)
				break
			}
		}
		if words := w.words("hereWords"); strings.Contains(words, "The map ends at 85 degrees") != (lat != "84") {
			t.Errorf("at %s: %q", lat, words)
		}
	}
	w.put(before)
	w.click("forget")
	w.click("fit")
}

// onTheWay reports places one by one and by a walk: the whole costs what one place does, and the
// map shows the way.
func onTheWay(t *testing.T, w *window) {
	before := w.place()
	first := w.release("report")
	w.keys("map", "\uE013")
	if second := w.release("report"); second == first || !strings.HasPrefix(w.words("reportWords"), "2 reports, ") {
		t.Errorf("%s, then %s: %s", first, second, w.words("reportWords"))
	}
	w.click("walk")
	w.until("the walk does not end", func() bool { return strings.HasPrefix(w.words("reportWords"), "62 reports, ") })
	words := w.words("reportWords")
	for _, want := range []string{"The way as a whole: 0.0693148-private per km, and odds change by a factor 2 within 10 km", "of 62 fresh answers: 4.3."} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in %q", want, words)
		}
	}
	if n := w.painted([3]int{0x8a, 0x5a, 0x00}); n < 100 {
		t.Errorf("%d pixels show the way", n)
	}
	w.save("way.png", 1265, 1000)
	w.click("arrive")
	if words := w.words("reportWords") + w.words("error"); !strings.HasPrefix(words, "Report, move") {
		t.Error(words)
	}
	w.put(before)
	w.click("fit")
}

func mechanismsCompared(t *testing.T, w *window) {
	w.click("compare")
	words := w.words("table")
	for _, want := range []string{"your place counts as the nearest of them, Brussels", "best: tight weights", "noise, snapped", "exponential, standard"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in %q", want, words)
		}
	}
	w.eval("document.querySelectorAll('#table input')[1].click()", nil)
	var chosen []bool
	w.eval("return [...document.querySelectorAll('#table input')].map((e) => e.checked)", &chosen)
	if !slices.Equal(chosen, []bool{false, true, false, false}) {
		t.Errorf("chosen: %v", chosen)
	}
}

func keyboard(t *testing.T, w *window) {
	const up, enter = "\uE013", "\uE007"
	before := w.place()
	w.keys("map", up+up)
	if at := w.place(); !(at[0] > before[0] && at[1] == before[1]) {
		t.Errorf("two presses of the up arrow moved %v to %v", before, at)
	}
	w.keys("map", enter)
	first := w.answer("stickyWords")
	w.keys("map", "+-"+enter)
	if again := w.answer("stickyWords"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	w.put(before)
}

// position lets the browser be somewhere, and the page ask where.
func position(t *testing.T, w *window) {
	w.cdp("Browser.grantPermissions", map[string]any{"permissions": []string{"geolocation"}, "origin": w.url}, nil)
	w.cdp("Emulation.setGeolocationOverride", map[string]any{"latitude": 48.20849, "longitude": 16.37208, "accuracy": 10}, nil)
	before := w.place()
	w.click("here")
	w.until("the position is not there", func() bool { return w.words("hereWords") != "" })
	if at := w.place(); at != [2]float64{48.21, 16.37} { // 10 km: rounded to 0.01 degrees
		t.Errorf("the place is %v", at)
	}
	w.put(before)
}

// namedAndReadable checks that everything that can be operated has a name, and that
// text has the contrast of 4.5 that WCAG 2 asks for.
func namedAndReadable(t *testing.T, w *window) {
	var ids []string
	w.eval("return [...document.querySelectorAll('button, input, textarea, canvas')].map((e, k) => e.id ||= `unnamed${k}`)", &ids)
	if len(ids) < 15 {
		t.Errorf("only %v", ids)
	}
	for _, id := range ids {
		var name string
		w.do("GET", w.find(id)+"/computedlabel", nil, &name)
		if len(name) < 2 && id != "fit" {
			t.Errorf("#%s is called %q", id, name)
		}
	}
	var dim []string
	w.eval(`
		const parse = (s) => s.match(/[\d.]+/g).map(Number);
		const light = (s) => parse(s).slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
			.reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
		const ground = (e) => { // the first opaque color behind
			for (; e; e = e.parentElement) {
				const c = getComputedStyle(e).backgroundColor;
				if ((parse(c)[3] ?? 1) === 1) return c;
			}
			return "rgb(255, 255, 255)";
		};
		return [...document.querySelectorAll("body *")].filter((e) => !e.disabled && e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
			.map((e) => {
				const a = light(getComputedStyle(e).color), b = light(ground(e));
				return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.textContent.trim().slice(0, 40)];
			}).filter(([ratio]) => ratio < 4.5).map(([ratio, words]) => ratio.toFixed(2) + " " + words)`, &dim)
	if len(dim) > 0 {
		t.Errorf("hard to read: %q", dim)
	}
}

func snippetOverrides(t *testing.T, w *window) {
	first := w.release("sticky")
	var fix struct{ Latitude, Longitude, Accuracy float64 }
	w.do("POST", "/execute/async", map[string]any{"args": []any{}, "script": w.text("return document.getElementById('snippet').value") + `
		const done = arguments[0];
		navigator.geolocation.watchPosition(() => navigator.geolocation.getCurrentPosition((p) => done(p.coords)));`}, &fix)
	if got := strconv.FormatFloat(fix.Latitude, 'f', 3, 64) + ", " + strconv.FormatFloat(fix.Longitude, 'f', 3, 64); got != first {
		t.Errorf("pages get %s, the page shows %s", got, first)
	}
	if fix.Accuracy < 68000 || fix.Accuracy > 69000 { // 4.7439 times 10 km / ln 2
		t.Errorf("accuracy %v m", fix.Accuracy)
	}
}

// hiddenMap fits the map while the canvas has no size, as a page does that is shown
// before its layout; the console is looked at later.
func hiddenMap(t *testing.T, w *window) {
	const canvas = "const m = document.getElementById('map'); "
	w.click("fit")
	w.frames()
	before := w.text("return document.getElementById('map').toDataURL()")
	w.eval(canvas+"m.style.display = 'none'", nil)
	w.click("fit")
	w.frames()
	w.eval(canvas+"m.style.display = ''", nil)
	w.frames()
	if after := w.text("return document.getElementById('map').toDataURL()"); after != before {
		t.Error("another picture after the map was hidden")
	}
}
