package page

import (
	"strings"
	"testing"
)

// A browser shows such names as what they are, and runs none of them.
func TestHostileNamesInABrowser(t *testing.T) {
	b := startBrowser(t)
	url := serve(t, hostile(t))
	for name, l := range map[string]look{
		"wide": {width: 1440, height: 900}, "phone": {width: 360, height: 740, phone: true},
		"snapshot": {width: 360, height: 740, phone: true, noScript: true},
	} {
		p := b.open(url, l)
		if l.noScript {
			p.until("the page is there", `document.readyState === "complete" && document.querySelector("footer")`)
		} else {
			p.until("the page is drawn", ready)
			p.until("all parts are drawn", `document.querySelectorAll("#calls tbody tr").length > 5 && document.querySelectorAll("#health tbody tr").length > 5`)
			// Whatever can be opened, sorted and pointed at.
			eval[any](p, `document.querySelectorAll("summary, .sort, .more").forEach(e => e.click())`)
			eval[any](p, `document.querySelectorAll(".link").forEach((e, i) => i < 3 && e.click())`)
			eval[any](p, `document.querySelectorAll("*").forEach(e => e.dispatchEvent(new MouseEvent("mouseover", {bubbles: true})))`)
			p.until("a function's charts are drawn", `document.querySelector(".chooser code")`)
		}
		if v := eval[any](p, `window.hacked ?? null`); v != nil {
			t.Errorf("%s: a name was run: %v", name, v)
		}
		if n := eval[int](p, `document.querySelectorAll("img, iframe, object, embed, form, script:not([src]), [onerror], [onload], [onmouseover], a[href^='javascript']").length`); n != 0 {
			t.Errorf("%s: %d elements come from names", name, n)
		}
		text := eval[string](p, `document.body.textContent`)
		for _, want := range []string{`<img src=x onerror="window.hacked=1">`, "العربية"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page does not show %s", name, want)
			}
		}
		if strings.ContainsAny(text, "\u202e\u2066\x00\x1b") {
			t.Errorf("%s: the page shows characters that change others", name)
		}
		if w := eval[int](p, `document.documentElement.scrollWidth`); w > l.width {
			t.Errorf("%s: the page is %d px wide on a screen of %d", name, w, l.width)
			t.Log(eval[[]string](p, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll")).slice(0,8).map(e => e.tagName + "." + e.getAttribute("class") + " " + e.textContent.slice(0,40))`))
		}
		p.mu.Lock()
		for _, u := range p.requests {
			if !strings.HasPrefix(u, url) {
				t.Errorf("%s: the page asks for %s", name, u)
			}
		}
		p.mu.Unlock()
		p.quiet()
		if *pictures != "" {
			p.picture(*pictures+"/hostile-"+name+".png", true)
		}
		p.do("Page.close", map[string]any{})
	}
}
