// The heat map of latencies: time to the right, duration upwards (each row twice the
// one below), the darker (in the dark: the brighter) the more calls.

import { h } from "./dom.js";
import { PAD, index, leftOf, nice, observe, shared, timeLabels, widthOf } from "./chart.js";
import { clock, seconds, whole } from "./format.js";

// heat draws a LatencySpan's heat.
export function heat(span, id) {
  const { bounds_seconds: bounds, counts } = span.heat;
  const rows = used(counts);
  if (!rows) {
    return h("figure", { class: "chart", key: id }, h("figcaption", {}, h("b", {}, "Durations")), h("p", { class: "empty plot" }, "No calls in this span."));
  }
  const [low, high, most] = rows;
  const width = widthOf(id);
  const height = 190;
  const hh = height - PAD.top - PAD.bottom;
  const n = high - low + 1;
  const name = (row) => (row === 0 ? "up to " + seconds(bounds[0]) : row === bounds.length ? "over " + seconds(bounds[row - 1]) : seconds(bounds[row - 1]) + " to " + seconds(bounds[row]));
  const at = index(span);
  const every = Math.max(1, Math.ceil(n / 8));
  const ticks = [];
  for (let r = low; r <= high && r < bounds.length; r += every) ticks.push(r);
  const left = leftOf(ticks.map((r) => seconds(bounds[r])));
  const w = Math.max(width - left - PAD.right, 40);
  const draw = (canvas) => paint(canvas, { counts, low, n, most, w, hh });
  const move = (e) => {
    const i = Math.floor(((e.clientX - e.currentTarget.getBoundingClientRect().left) / w) * span.count);
    shared.at = span.begin + Math.min(Math.max(i, 0), span.count - 1) * span.step_seconds;
    shared.changed();
  };
  const leave = () => {
    shared.at = null;
    shared.changed();
  };
  const total = counts.reduce((s, c) => s + (c ? c.reduce((a, b) => a + b, 0) : 0), 0);
  const label = `Durations of ${whole(total)} calls, ${clock(span.begin, false)} to ${clock(span.begin + span.count * span.step_seconds, false)}, from ${name(low)} to ${name(high)}.`;
  return h("figure", { class: "chart", key: id },
    h("figcaption", {}, h("b", {}, "Durations"), h("span", { class: "muted" }, at >= 0 ? said(counts[at], name, clock(span.begin + at * span.step_seconds)) : `darkest: ${whole(most)} calls in ${span.step_seconds} s`)),
    h("div", { class: "plot heat", key: "plot", "data-plot": id, ref: observe, style: { height: height + "px" } },
      h("canvas", { role: "img", "aria-label": label, ref: draw, style: { left: left + "px", top: PAD.top + "px", width: w + "px", height: hh + "px" }, on: { pointermove: move, pointerleave: leave } }),
      h("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
        ticks.map((r) => h("text", { key: r, class: "tick", x: left - 6, y: PAD.top + hh * (1 - (r - low + 1) / n) + 4, "text-anchor": "end" }, seconds(bounds[r]))),
        timeLabels(span, left, w, height),
        at >= 0 ? h("line", { class: "at", x1: left + ((at + 0.5) / span.count) * w, x2: left + ((at + 0.5) / span.count) * w, y1: PAD.top, y2: PAD.top + hh }) : null)));
}

// said is one moment's durations in words.
function said(counts, name, time) {
  if (!counts) return `${time}: not measured`;
  const total = counts.reduce((a, b) => a + b, 0);
  if (total === 0) return `${time}: no calls`;
  const row = counts.indexOf(Math.max(...counts));
  return `${time}: ${whole(total)} calls, most ${name(row)}`;
}

// used are the lowest and highest row that have calls, and the most that one cell has.
function used(counts) {
  let low = Infinity, high = -1, most = 0;
  for (const c of counts) {
    if (!c) continue;
    c.forEach((v, r) => {
      if (!v) return;
      low = Math.min(low, r);
      high = Math.max(high, r);
      most = Math.max(most, v);
    });
  }
  return high < 0 ? null : [low, high, most];
}

function paint(canvas, o) {
  const scale = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.round(o.w * scale), height = Math.round(o.hh * scale);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const g = canvas.getContext("2d");
  if (!g) return;
  const css = getComputedStyle(canvas);
  const ramp = [0, 1, 2, 3, 4, 5].map((i) => css.getPropertyValue("--heat" + i).trim());
  g.clearRect(0, 0, width, height);
  const cw = width / o.counts.length, ch = height / o.n;
  const full = Math.log1p(nice(o.most));
  o.counts.forEach((c, i) => {
    if (!c) return;
    const x = Math.floor(i * cw), right = Math.floor((i + 1) * cw);
    for (let r = 0; r < o.n; r++) {
      const v = c[o.low + r];
      if (!v) continue;
      g.fillStyle = ramp[Math.min(5, Math.floor((Math.log1p(v) / full) * 6))];
      const top = Math.floor(height - (r + 1) * ch);
      g.fillRect(x, top, Math.max(right - x, 1), Math.max(Math.floor(height - r * ch) - top, 1));
    }
  });
}
