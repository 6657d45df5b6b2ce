// Charts as SVG: lines with gaps where nothing was measured, stacked areas, and small
// lines without axes. Each says in words what it shows, and has its figures as a table.

import { h } from "./dom.js";
import { clock } from "./format.js";

// shared is the moment a person points at, in seconds since 1970, the same in all
// charts; null if at none.
export const shared = { at: null, changed: () => {} };

const widths = new Map(); // of plots by their id
const observer = new ResizeObserver((entries) => {
  let changed = false;
  for (const e of entries) {
    const w = Math.round(e.contentRect.width);
    if (w > 0 && widths.get(e.target.dataset.plot) !== w) {
      widths.set(e.target.dataset.plot, w);
      changed = true;
    }
  }
  if (changed) shared.changed();
});

export function observe(node) {
  observer.observe(node);
}

export const widthOf = (id) => widths.get(id) || 320;

export const PAD = { right: 8, top: 8, bottom: 20 };

// leftOf is the room that the labels of an axis take.
export const leftOf = (labels) => Math.max(...labels.map((s) => s.length), 3) * 6.5 + 10;

// nice is a round number not below v: 1, 2, 2.5 or 5 of some power.
export function nice(v, base = 10) {
  if (!(v > 0)) return 1;
  const p = Math.pow(base, Math.floor(Math.log(v) / Math.log(base) + 1e-9));
  const steps = base === 1024 ? [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] : [1, 2, 2.5, 5, 10];
  for (const s of steps) if (s * p >= v * (1 - 1e-9)) return s * p;
  return v;
}

// points at: the moment under the pointer, or moved by an arrow key.
function listeners(span, left, width) {
  const time = (x) => {
    const i = Math.round(((x - left) / width) * (span.count - 1));
    return span.begin + Math.min(Math.max(i, 0), span.count - 1) * span.step_seconds;
  };
  const to = (t) => {
    if (shared.at !== t) {
      shared.at = t;
      shared.changed();
    }
  };
  return {
    pointermove: (e) => to(time(e.clientX - e.currentTarget.getBoundingClientRect().left)),
    pointerleave: () => to(null),
    blur: () => to(null),
    keydown: (e) => {
      const last = span.begin + (span.count - 1) * span.step_seconds;
      const step = (n) => to(Math.min(Math.max((shared.at ?? last) + n * span.step_seconds, span.begin), last));
      const act = { ArrowLeft: () => step(-1), ArrowRight: () => step(1), PageUp: () => step(-10), PageDown: () => step(10), Home: () => to(span.begin), End: () => to(last), Escape: () => to(null) }[e.key];
      if (!act) return;
      e.preventDefault();
      act();
    },
  };
}

// index is the point a person points at, -1 if at none.
export function index(span) {
  if (shared.at === null) return -1;
  const i = Math.round((shared.at - span.begin) / span.step_seconds);
  return i >= 0 && i < span.count ? i : -1;
}

const newest = (values) => {
  for (let i = values.length - 1; i >= Math.max(0, values.length - 3); i--) if (values[i] !== null) return values[i];
  return null;
};

// chart draws series over a span. o: id, title, note, format, max (of the scale at
// least), base (1024 for bytes), stack, series: name, values, colour.
export function chart(span, o) {
  const width = widthOf(o.id);
  const height = o.height || 150;
  const hh = height - PAD.top - PAD.bottom;
  const series = o.series.filter((s) => s.values.some((v) => v !== null));
  const sums = o.stack ? stacked(series, span.count) : null;
  const scale = scaleOf(o, (sums || series.map((s) => s.values)).flat());
  const left = leftOf(scale.ticks.map(o.format));
  const w = Math.max(width - left - PAD.right, 40);
  const x = (i) => left + (span.count > 1 ? (i / (span.count - 1)) * w : w / 2);
  const y = (v) => PAD.top + hh * (1 - scale.at(v));
  const at = index(span);
  const label = describe(span, o, series);
  return h("figure", { class: "chart", key: o.id },
    h("figcaption", {}, h("b", {}, o.title), o.note ? h("span", { class: "muted" }, o.note) : null),
    series.length === 0
      ? h("p", { class: "empty plot", key: "none" }, o.empty || "No figures in this span.")
      : h("div", { class: "plot", key: "plot", "data-plot": o.id, ref: observe },
          h("svg", { role: "img", "aria-label": label, tabindex: 0, width, height, viewBox: `0 0 ${width} ${height}`, on: listeners(span, left, w) },
            h("title", {}, o.title), h("desc", {}, label),
            scale.ticks.map((v, i) => h("g", { key: "y" + i },
              h("line", { class: "grid", x1: left, x2: left + w, y1: y(v), y2: y(v) }),
              h("text", { class: "tick", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, o.format(v)))),
            timeLabels(span, left, w, height),
            series.map((s, n) => (sums
              ? h("path", { key: "s" + s.name, class: `area c${s.colour}`, d: band(sums[n], n ? sums[n - 1] : null, x, y) })
              : h("path", { key: "s" + s.name, class: `line c${s.colour % 8} d${Math.floor(s.colour / 8) % 3}`, d: line(s.values, x, y) }))),
            at >= 0 ? h("line", { key: "at", class: "at", x1: x(at), x2: x(at), y1: PAD.top, y2: PAD.top + hh }) : null)),
    series.length ? legend(series, o, at) : null,
    series.length ? table(span, o, series) : null);
}

// scaleOf finds a scale for figures: its ticks, and where between 0 and 1 a figure is.
// A logarithmic one has a tick at each power of ten.
function scaleOf(o, values) {
  const top = Math.max(values.reduce((m, v) => (v !== null && v > m ? v : m), 0), o.max || 0);
  if (o.log) {
    const low = values.reduce((m, v) => (v > 0 && v < m ? v : m), Infinity);
    if (top > 0 && low < Infinity) {
      const from = Math.floor(Math.log10(low) + 1e-9), to = Math.max(Math.ceil(Math.log10(top) - 1e-9), from + 1);
      const ticks = [];
      for (let e = from; e <= to; e++) ticks.push(Number("1e" + e));
      return { ticks, at: (v) => Math.max((Math.log10(Math.max(v, 1e-12)) - from) / (to - from), 0) };
    }
  }
  const step = o.full ? o.max / 4 : nice(top / 3, o.base);
  const end = o.full ? o.max : Math.max(Math.ceil(top / step - 1e-9), 1) * step;
  const ticks = [];
  for (let v = 0; v <= end * (1 + 1e-9); v += step) ticks.push(v);
  return { ticks, at: (v) => Math.min(v / end, 1) };
}

// timeLabels are the texts below a chart.
export const timeLabels = (span, left, w, height) => times(span, w).map(([i, t]) =>
  h("text", { key: "x" + t, class: "tick", x: left + (i / Math.max(span.count - 1, 1)) * w, y: height - 5, "text-anchor": "middle" }, t));

function legend(series, o, at) {
  return h("ul", { class: "legend", key: "legend" }, series.map((s) => h("li", { key: s.name },
    h("span", { class: `swatch ${o.stack ? "" : "d" + (Math.floor(s.colour / 8) % 3)} c${s.colour % 8}` }),
    h("bdi", {}, s.name), h("span", { class: "v" }, o.format(at >= 0 ? s.values[at] : newest(s.values))))));
}

// table is drawn once somebody opens it.
const open = new Set();

function table(span, o, series) {
  const toggle = (e) => {
    if (e.currentTarget.open) open.add(o.id);
    else open.delete(o.id);
    shared.changed();
  };
  const every = Math.max(1, Math.ceil(span.count / 60));
  const rows = [];
  if (open.has(o.id)) for (let i = span.count - 1; i >= 0; i -= every) rows.push(i);
  return h("details", { key: "table", class: "figures", on: { toggle } }, h("summary", {}, "Figures"),
    open.has(o.id) ? h("div", { class: "scroll" }, h("table", { class: "plain" },
      h("thead", {}, h("tr", {}, h("th", {}, "Time"), series.map((s) => h("th", { class: "n", key: s.name }, h("bdi", {}, s.name))))),
      h("tbody", {}, rows.map((i) => h("tr", { key: span.begin + i * span.step_seconds }, h("td", {}, clock(span.begin + i * span.step_seconds)),
        series.map((s) => h("td", { class: "n", key: s.name }, o.format(s.values[i])))))))) : null);
}

function describe(span, o, series) {
  const parts = series.slice(0, 8).map((s) => {
    const v = s.values.filter((n) => n !== null);
    return `${s.name}: now ${o.format(newest(s.values))}, lowest ${o.format(Math.min(...v))}, highest ${o.format(Math.max(...v))}`;
  });
  return `${o.title}, ${clock(span.begin, false)} to ${clock(span.begin + span.count * span.step_seconds, false)}. ${parts.join("; ")}`;
}

// times are the labels of the axis: round moments, not too close together.
function times(span, w) {
  const length = span.count * span.step_seconds;
  const every = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14400].find((s) => (s / length) * w >= 64) || 28800;
  const list = [];
  const shift = new Date(span.begin * 1000).getTimezoneOffset() * 60;
  for (let t = Math.ceil((span.begin - shift) / every) * every + shift; t < span.begin + length; t += every) {
    const i = (t - span.begin) / span.step_seconds;
    const px = (i / Math.max(span.count - 1, 1)) * w;
    if (px < 14 || px > w - 14) continue;
    list.push([i, clock(t, false)]);
  }
  return list;
}

// line is a path that leaves out what was not measured. A point alone is a dot.
export function line(values, x, y) {
  let d = "";
  for (let i = 0; i < values.length; i++) {
    if (values[i] === null) continue;
    const first = i === 0 || values[i - 1] === null;
    const alone = first && (i === values.length - 1 || values[i + 1] === null);
    d += `${first ? "M" : "L"}${x(i).toFixed(1)} ${y(values[i]).toFixed(1)}`;
    if (alone) d += "h.1";
  }
  return d;
}

// stacked are the series' sums up to each; a point that none has is a gap.
function stacked(series, n) {
  const sums = [];
  let below = new Array(n).fill(null);
  for (const s of series) {
    below = below.map((b, i) => (s.values[i] === null ? b : (b || 0) + s.values[i]));
    sums.push(below);
  }
  return sums;
}

function band(upper, lower, x, y) {
  let d = "";
  for (let i = 0; i < upper.length; ) {
    if (upper[i] === null) {
      i++;
      continue;
    }
    let j = i;
    let back = "";
    for (; j < upper.length && upper[j] !== null; j++) {
      d += `${j === i ? "M" : "L"}${x(j).toFixed(1)} ${y(upper[j]).toFixed(1)}`;
      back = `L${x(j).toFixed(1)} ${y((lower && lower[j]) || 0).toFixed(1)}` + back;
    }
    d += back + "Z";
    i = j;
  }
  return d;
}

// spark is a small line without axes; the figure beside it says what it shows.
export function spark(values, max, colour) {
  if (!values || !values.some((v) => v !== null)) return h("svg", { class: "spark", viewBox: "0 0 100 24", "aria-hidden": "true" });
  const n = values.length;
  const top = Math.max(max || 0, values.reduce((m, v) => (v !== null && v > m ? v : m), 0)) || 1;
  const x = (i) => (n > 1 ? (i / (n - 1)) * 100 : 50);
  const y = (v) => 23 - 22 * Math.min(v / top, 1);
  return h("svg", { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" },
    h("path", { class: `area c${colour}`, d: band(values, null, x, y) }),
    h("path", { class: `line c${colour}`, d: line(values, x, y) }));
}
