package page

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// What a person does with keys and pointer has the effect it should.
func TestInteraction(t *testing.T) {
	b := startBrowser(t)
	w := newWorld(2, 6)
	pg := w.page(t, Options{}, 20*time.Minute)
	p := b.open(serve(t, pg), look{width: 1280, height: 900})
	p.until("the page is drawn", ready)
	if got := eval[string](p, `document.querySelector('#head [aria-pressed="true"]').innerText`); got != "60 min" {
		t.Errorf("20 minutes are shown in a span of %s", got)
	}

	// Sorting by memory, both ways.
	column := `[...document.querySelectorAll("#processes td[data-label='Memory']")].map(e => e.innerText.replace(/\s/g, " "))`
	button := `[...document.querySelectorAll("#processes .sort")].find(e => e.innerText.startsWith("Memory"))`
	unsorted := eval[[]string](p, column)
	eval[any](p, button+`.click()`)
	p.until("the table is sorted", `document.querySelector("#processes th[aria-sort=descending]")`)
	down := eval[[]string](p, column)
	eval[any](p, button+`.click()`)
	p.until("the table is sorted the other way", `document.querySelector("#processes th[aria-sort=ascending]")`)
	up := eval[[]string](p, column)
	slices.Reverse(up)
	if slices.Equal(unsorted, down) || !slices.Equal(down, up) {
		t.Errorf("unsorted %v, down %v, up reversed %v", unsorted, down, up)
	}

	// A filter keeps its focus and what was typed while figures change.
	eval[any](p, `document.querySelector("#processes input").focus()`)
	for _, c := range "local" {
		p.do("Input.dispatchKeyEvent", map[string]any{"type": "char", "text": string(c)})
	}
	local := 0
	for _, c := range w.base {
		for _, x := range c.Processes {
			if x.Client == nil {
				local++
			}
		}
	}
	p.until("the filter is in force", `document.querySelectorAll("#processes tbody tr").length === `+sprint(local))
	w.pass(pg, 20*time.Second)
	p.until("figures have changed", `performance.getEntriesByType("resource").filter(e => e.name.includes("/status")).length > 2`)
	if v := eval[string](p, `document.activeElement.value`); v != "local" {
		t.Errorf("the filter says %q", v)
	}

	// Arrow keys move through a chart, and all charts follow.
	newest := `[...document.querySelectorAll("#history .legend")].map(e => e.innerText).join()`
	eval[any](p, `document.querySelector('[data-plot="busy"] svg').focus()`)
	before := eval[string](p, newest)
	for range 30 {
		p.do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": "ArrowLeft", "code": "ArrowLeft", "windowsVirtualKeyCode": 37})
	}
	p.until("a line marks the moment in all charts", `document.querySelectorAll("#history line.at").length === document.querySelectorAll("#history svg").length`)
	if after := eval[string](p, newest); after == before {
		t.Errorf("the legends still say %s", after)
	}
	p.do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27})
	p.until("the line is gone", `!document.querySelector("line.at")`)

	// A chart's figures are there as a table, and say what was measured.
	eval[any](p, `document.querySelector("#history details.figures summary").click()`)
	p.until("the figures are shown", `document.querySelectorAll("#history details.figures tbody tr").length > 20`)
	if s := eval[string](p, `document.querySelector("#history svg").getAttribute("aria-label")`); !strings.Contains(s, "Utilisation") || !strings.Contains(s, "highest") {
		t.Errorf("the chart describes itself as %q", s)
	}

	// A page that is paused, or that nobody sees, asks for nothing.
	asked := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.requests)
	}
	for what, script := range map[string][2]string{
		"paused": {`[...document.querySelectorAll("#head button")].find(e => e.innerText === "Pause").click()`, `[...document.querySelectorAll("#head button")].find(e => e.innerText === "Go on").click()`},
		"hidden": {`Object.defineProperty(document, "hidden", {value: true, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`,
			`delete document.hidden; document.dispatchEvent(new Event("visibilitychange"))`},
	} {
		eval[any](p, script[0])
		n := asked()
		for end := time.Now().Add(time.Minute); ; n = asked() { // what was under way may still come
			if time.Sleep(5 * time.Second); asked() == n {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("a page that is %s asks on", what)
			}
		}
		eval[any](p, script[1])
		for end := time.Now().Add(browserTime); asked() == n; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("a page that was %s asks for nothing any more", what)
			}
		}
	}
	// Everything that does something can be reached by keys, and has a name.
	if bad := eval[[]string](p, `[...document.querySelectorAll("button, a, input, summary")].filter(e => !(e.innerText.trim() || e.getAttribute("aria-label"))).map(e => e.outerHTML.slice(0, 80))`); len(bad) > 0 {
		t.Errorf("without a name: %v", bad)
	}
	p.quiet()
}

// Text has enough contrast, in the light and in the dark.
func TestContrast(t *testing.T) {
	b := startBrowser(t)
	url := serve(t, newWorld(2, 2).page(t, Options{}, time.Minute))
	for _, dark := range []bool{false, true} {
		p := b.open(url, look{width: 1280, height: 900, dark: dark})
		p.until("the page is drawn", ready)
		low := eval[[]string](p, `(() => {
			const rgb = (s) => s.match(/[\d.]+/g).map(Number);
			const lum = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
			const back = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
			const list = [];
			for (const e of document.querySelectorAll("body *")) {
				if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
				const svg = e.namespaceURI.endsWith("svg"), s = getComputedStyle(e);
				const a = lum(rgb(svg ? s.fill : s.color).slice(0, 3)), b = lum(back(e));
				const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
				if (ratio < 4.5 && !["title", "desc"].includes(e.localName)) list.push(e.textContent.slice(0, 30) + " " + ratio.toFixed(2));
			}
			return list;
		})()`)
		if len(low) > 0 {
			t.Errorf("dark %v: too little contrast: %.10q", dark, low)
		}
		p.do("Page.close", map[string]any{})
	}
}

// Figures are written with the unit that leaves three digits to read, and what is not available is never 0.
func TestFormats(t *testing.T) {
	b := startBrowser(t)
	p := b.open(serve(t, newWorld(1, 1).page(t, Options{}, 10*time.Second)), look{width: 800, height: 600})
	p.until("the page is drawn", ready)
	for expression, want := range map[string]string{
		`[0, 1, 999.6, 1023, 1023.9, 1024, 4096, 123456789, 192e9, 3.3e12].map(f.bytes)`:                "0 B|1 B|1000 B|1023 B|1.00 KiB|1 KiB|4 KiB|118 MiB|179 GiB|3.00 TiB",
		`[0, 12.34, 1536].map(f.byteRate)`:                                                              "0 B/s|12.3 B/s|1.50 KiB/s",
		`[0, 0.4, 9.26, 99.96, 412.4].map(f.watts)`:                                                     "0 W|0.40 W|9.26 W|100 W|412 W",
		`[0, 64.5, 99.4].map(f.celsius)`:                                                                "0 °C|65 °C|99 °C",
		`[0, 999.4, 2.1e9].map(f.hertz)`:                                                                "0 Hz|999 Hz|2.10 GHz",
		`[0, 0.0021, 0.5, 0.994, 1, 12].map(f.percent)`:                                                 "0 %|0.2 %|50 %|99 %|100 %|1200 %",
		`[0, 1e-9, 1.5e-7, 9.996e-7, 3.2e-5, 0.00099999, 0.0213, 0.994, 1, 12.34, 7200].map(f.seconds)`: "0 s|1 ns|150 ns|1.00 µs|32 µs|1.00 ms|21.3 ms|994 ms|1 s|12.3 s|2 h",
		`[0, 9.96, 119.4, 150, 7199, 7200, 172800].map(f.age)`:                                          "0.0 s|10.0 s|119 s|2 min|119 min|2 h|2 d",
		`[0, 950, 12345, 4.56e6].map(f.count)`:                                                          "0|950|12.3 k|4.56 M",
		`[0, 1234, 1234567].map(f.whole)`:                                                               "0|1 234|1 234 567",
		`[null, undefined, NaN, Infinity].flatMap(v => [f.bytes(v), f.watts(v), f.percent(v), f.seconds(v), f.count(v), f.whole(v), f.age(v)])`: strings.Repeat("–|", 27) + "–",
	} {
		got := eval[string](p, `import("./assets/`+assetVersion+`/format.js").then(f => `+expression+`.map(s => s.replace(/\u202f/g, " ")).join("|"))`)
		if got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}
