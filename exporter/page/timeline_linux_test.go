package page

import (
	"testing"
	"time"
)

// What the script has joined piece by piece is what it would have fetched at once, but
// for points older than the span.
func TestScriptContinuesHistory(t *testing.T) {
	b := startBrowser(t)
	w := newWorld(2, 3)
	pg := w.page(t, Options{History: 20 * time.Minute}, 5*time.Minute)
	p := b.open(serve(t, pg), look{width: 800, height: 600})
	p.until("the page is drawn", ready)
	eval[any](p, `import("./assets/`+assetVersion+`/data.js").then(m => {
		window.make = () => [new m.Series(10, ["gpu_power_watts", "hip_sessions"]), new m.Latency(10, ""), new m.Latency(10, "hipMalloc")];
		window.grown = make();
		return Promise.all(grown.map(t => t.fetch())).then(() => null);
	})`)
	for i := range 30 {
		w.pass(pg, time.Duration(5+i%4*15)*time.Second)
		if i == 10 { // a card goes
			w.mu.Lock()
			w.base = w.base[:1]
			w.mu.Unlock()
		}
		eval[any](p, `Promise.all(grown.map(t => t.fetch())).then(() => null)`)
	}
	diff := eval[[]string](p, `(async () => {
		const fresh = make(), bad = [];
		await Promise.all(fresh.map(t => t.fetch()));
		const lists = (s) => s.series ? Object.fromEntries(s.series.map(x => [x.metric + JSON.stringify(x.labels), x.values])) : {calls: s.calls_per_second, p99: s.p99_seconds, network: s.network_mean_seconds, heat: s.heat.counts};
		fresh.forEach((f, i) => {
			const a = grown[i].span, b = f.span, skip = Math.round((b.begin - a.begin) / b.step_seconds);
			if (a.step_seconds !== b.step_seconds || skip < 0 || skip > 2 || a.count - skip !== b.count) bad.push(i + ": begins " + (a.begin - b.begin) + " s apart, " + a.count + " and " + b.count + " points");
			const x = lists(a), y = lists(b);
			for (const k of new Set([...Object.keys(x), ...Object.keys(y)])) {
				const u = JSON.stringify((x[k] || []).slice(skip)), v = JSON.stringify(y[k] || []);
				if (u !== v && (x[k] || []).some((n, j) => j >= skip && n !== null)) bad.push(i + " " + k + ": " + u.slice(0, 200) + " and " + v.slice(0, 200));
			}
		});
		return bad;
	})()`)
	for _, d := range diff {
		t.Error(d)
	}
	if n := eval[int](p, `grown[0].span.series.length`); n < 2 {
		t.Errorf("%d series", n)
	}
	p.quiet()
}
