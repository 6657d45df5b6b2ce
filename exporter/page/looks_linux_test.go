package page

import (
	"errors"
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/smi"
)

var pictures = flag.String("pictures", "", "folder to write pictures of the page to")

var looks = map[string]look{
	"light": {width: 1440, height: 900},
	"dark":  {width: 1440, height: 900, dark: true},
	"phone": {width: 360, height: 740, phone: true},
	"night": {width: 360, height: 740, phone: true, dark: true},
	"print": {width: 1000, height: 1400, print: true},
}

// ready is when all that can be drawn is.
const ready = `document.documentElement.dataset.ready === "1" && document.getElementById("age")`

// The page fits every screen in every state, and the browser has nothing to complain of.
func TestLooks(t *testing.T) {
	b := startBrowser(t)
	down := errors.New("dial tcp 10.0.3.7:18515: connect: connection refused")
	for state, f := range map[string]func(w *world) *Page{
		"busy": func(w *world) *Page {
			w.sinks = someSinks(w.now().Add(70 * time.Minute))
			return w.page(t, Options{}, 70*time.Minute)
		},
		"empty": func(w *world) *Page {
			w.edit = func(r *exporter.Reading) {
				r.Sessions, r.Calls, r.Slow, r.Local = nil, nil, nil, local.Reading{Libraries: 2}
				for i := range r.Cards {
					r.Cards[i].Processes = nil
				}
			}
			return w.page(t, Options{}, 20*time.Second)
		},
		"down": func(w *world) *Page {
			p := w.page(t, Options{}, 20*time.Minute)
			w.change(func(r *exporter.Reading) {
				r.Err, r.SessionsErr, r.CallsErr, r.Local = down, down, down, local.Reading{}
				r.Sessions, r.Calls, r.Totals, r.Slow = nil, nil, smi.SessionTotals{}, nil
				for i := range r.Cards {
					r.Cards[i] = exporter.Card{DeviceSnapshot: smi.DeviceSnapshot{Device: r.Cards[i].Device}, Age: 3 * time.Minute}
				}
			})
			w.pass(p, 3*time.Minute)
			return p
		},
		"gone": func(w *world) *Page {
			p := w.page(t, Options{}, 20*time.Minute)
			w.change(func(r *exporter.Reading) {
				c, why := &r.Cards[len(r.Cards)-1], &smi.Failure{Code: smi.ErrIO, Detail: "the card has fallen off the bus"}
				c.Metrics, c.ECC, c.Processes, c.MetricsErr, c.ECCErr, c.ProcessesErr, c.InfoErr = nil, nil, nil, why, why, why, why
			})
			w.pass(p, 3*time.Minute)
			return p
		},
		"none": func(w *world) *Page {
			w.edit = func(r *exporter.Reading) { *r = exporter.Reading{Time: r.Time} }
			return w.page(t, Options{}, 10*time.Second)
		},
	} {
		t.Run(state, func(t *testing.T) {
			url := serve(t, f(newWorld(4, 5)))
			for name, l := range looks {
				p := b.open(url, l)
				p.until("the page is drawn", ready)
				if w := eval[int](p, `document.documentElement.scrollWidth`); w > l.width {
					t.Errorf("%s: the page is %d px wide on a screen of %d", name, w, l.width)
					t.Log(eval[[]string](p, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll")).slice(0,8).map(e => e.tagName + "." + e.getAttribute("class") + " " + e.textContent.slice(0,40))`))
				}
				if *pictures != "" {
					p.picture(filepath.Join(*pictures, state+"-"+name+".png"), true)
				}
				p.quiet()
				p.do("Page.close", map[string]any{})
			}
		})
	}
}
