// Tables that sort, filter, and on a narrow screen become a list of cards.

import { h } from "./dom.js";

const narrow = matchMedia("(max-width: 640px)");
const states = new Map(); // of tables by their id

// grid draws rows. o: id, columns, rows, empty, caption, key(row), chosen(row),
// choose(row), redraw. A column: name, n (numbers, to the right), value(row) to sort
// by, cell(row), title.
export function grid(o) {
  const state = states.get(o.id) || { sort: o.sort ?? -1, down: o.down ?? true, filter: "", all: false };
  states.set(o.id, state);
  if (o.rows.length === 0) return h("p", { class: "empty", key: o.id + "-empty" }, o.empty);
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  let rows = o.rows.map((row) => ({ row, text: null }));
  if (words.length) rows = rows.filter((r) => words.every((w) => o.columns.some((c) => String(c.value(r.row) ?? "").toLowerCase().includes(w))));
  const by = o.columns[state.sort];
  if (by) rows = order(rows, by, state.down);
  const limit = narrow.matches ? 6 : o.limit || 25;
  const shown = state.all ? rows : rows.slice(0, limit);
  const sortBy = (i) => () => {
    if (state.sort === i) state.down = !state.down;
    else [state.sort, state.down] = [i, !!o.columns[i].n];
    o.redraw();
  };
  return h("div", { class: "grid", key: o.id },
    o.rows.length > 8 ? h("label", { class: "filter", key: "filter" }, h("span", {}, "Filter"),
      h("input", { type: "search", "aria-label": "Filter " + o.caption, value: state.filter, maxlength: 100, autocomplete: "off", spellcheck: "false", on: { input: (e) => { state.filter = e.target.value; o.redraw(); } } }),
      words.length ? h("span", { class: "muted", key: "n" }, `${rows.length} of ${o.rows.length}`) : null) : null,
    h("div", { class: "scroll", key: "scroll" }, h("table", {},
      h("caption", { class: "hidden" }, o.caption),
      h("thead", {}, h("tr", {}, o.columns.map((c, i) => h("th", { key: c.name, scope: "col", class: c.n ? "n" : "", title: c.title, "aria-sort": state.sort === i ? (state.down ? "descending" : "ascending") : undefined },
        h("button", { type: "button", class: "sort", on: { click: sortBy(i) } }, c.name, h("span", { class: "arrow", "aria-hidden": "true" }, state.sort === i ? (state.down ? "▾" : "▴") : "")))))),
      h("tbody", {}, shown.map(({ row }) => h("tr", { key: o.key(row), class: o.chosen && o.chosen(row) ? "chosen" : "" },
        o.columns.map((c, i) => h("td", { key: c.name, class: (c.n ? "n " : "") + (i === 0 ? "first" : ""), "data-label": c.name }, c.cell(row)))))))),
    rows.length === 0 ? h("p", { class: "empty", key: "nothing" }, "Nothing matches the filter.") : null,
    rows.length > limit ? h("button", { type: "button", key: "all", class: "more", on: { click: () => { state.all = !state.all; o.redraw(); } } },
      state.all ? `Show the first ${limit}` : `Show all ${rows.length}`) : null,
    o.leftOut ? h("p", { class: "muted", key: "left" }, o.leftOut) : null);
}

function order(rows, column, down) {
  const sign = down ? -1 : 1;
  return rows.map((r, i) => ({ ...r, v: column.value(r.row), i })).sort((a, b) => {
    const none = (a.v === null || a.v === undefined) - (b.v === null || b.v === undefined);
    if (none) return none; // what is not available comes last either way
    if (typeof a.v === "number" && typeof b.v === "number") return sign * (a.v - b.v) || a.i - b.i;
    return sign * String(a.v ?? "").localeCompare(String(b.v ?? ""), "en", { numeric: true }) || a.i - b.i;
  });
}

// name writes a name that somebody else chose: its direction of text stays its own,
// and what is too long is cut, with all of it as the title.
export const name = (s, none = "") => (s ? h("bdi", { class: "name", title: s.length > 24 ? s : undefined }, s) : h("span", { class: "muted" }, none));

// share draws a bar of a part.
export const share = (v, max, colour = 0) => h("span", { class: `bar c${colour % 8}`, "aria-hidden": "true" },
  h("i", { style: { width: (100 * Math.min(Math.max((v || 0) / (max || 1), 0), 1)).toFixed(1) + "%" } }));
