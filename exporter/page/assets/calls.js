// What calls cost: over time, by function, and the slowest.

import { h } from "./dom.js";
import { chart } from "./chart.js";
import { heat } from "./heat.js";
import * as f from "./format.js";
import { grid, name, share } from "./table.js";

const PARTS = [["network", "network_mean_seconds", 0], ["queue", "queue_mean_seconds", 1], ["execution", "execution_mean_seconds", 2]];

// calls draws the section. choose(op) shows another function's charts, "" all.
export function calls(s, state, choose, redraw) {
  const { calls: table, latency, op } = state;
  if (!table) return [h("h2", {}, "Calls"), h("p", { class: "empty" }, "The calls are being fetched.")];
  if (table.functions.length === 0 && !latency?.span?.heat.counts.some((c) => c && c.some((v) => v))) {
    if (!s.worker && !table.error) return [];
    return [h("h2", {}, "Calls"), h("p", { class: "empty" }, table.error ? "Nothing is known of calls." : table.window_seconds ? "No calls in the last minutes. They appear as soon as a program uses this worker." : "No calls have been measured yet: the first figures need a few seconds.")];
  }
  const span = latency && latency.span && latency.span.op === op ? latency.span : null;
  return [h("h2", {}, "Calls"),
    h("p", { class: "chooser" }, op ? ["Charts of ", h("bdi", {}, h("code", {}, op)), ". ", h("button", { type: "button", class: "more", on: { click: () => choose("") } }, "Show all functions")] : "Charts of all functions together; choose one in the table for its own.",
      span ? h("span", { class: "muted" }, span.side === "client" ? " Time as the programs see it." : " Time on the worker, from arrival to reply.") : null),
    span ? charts(span, op ? null : state.functions.span) : h("p", { class: "empty", key: "wait" }, "The charts are being fetched."),
    h("h3", {}, "Functions, last 5 minutes"), functions(table, op, choose, redraw),
    h("h3", {}, "Slowest calls of the last minutes"), slow(table, redraw)];
}

function charts(span, dear) {
  const each = (key) => dear.functions.map((x, i) => ({ name: x.op, values: x[key], colour: i }));
  const one = (title, values, colour) => ({ name: title, values, colour });
  return h("div", { class: "panels", key: "charts" },
    chart(span, { id: "quantiles", title: "Latency", note: "half, 90 % and 99 % of calls took less", format: f.seconds, log: true, height: 170, series: [one("p50", span.p50_seconds, 2), one("p90", span.p90_seconds, 0), one("p99", span.p99_seconds, 1)] }),
    heat(span, "heat"),
    chart(span, { id: "rate", title: "Calls", note: "in a second", format: f.count, height: 170, series: [one("all", span.calls_per_second, 0), one("failed", span.failed_per_second, 1)] }),
    chart(span, { id: "parts", title: "Where the time goes", note: "mean of a call", format: f.seconds, height: 170, stack: true, empty: "This worker does not tell network, queue and execution apart.", series: PARTS.map(([n, k, c]) => one(n, span[k], c)) }),
    dear && dear.functions.length ? [
      chart(dear, { id: "dear", title: "Time by function", note: "seconds that programs spent in it in a second", format: f.seconds, stack: true, height: 170, series: each("time_ratio") }),
      chart(dear, { id: "dear99", title: "p99 by function", note: "of those that take most time", format: f.seconds, log: true, height: 170, series: each("p99_seconds") }),
      chart(dear, { id: "dear-rate", title: "Calls by function", note: "in a second", format: f.count, stack: true, height: 170, series: each("calls_per_second") }),
      failing(dear),
    ] : null);
}

// failing is shown once something failed.
function failing(dear) {
  const series = dear.functions.map((x, i) => ({ name: x.op, values: x.failed_per_second, colour: i })).filter((x) => x.values.some((v) => v > 0));
  return series.length ? chart(dear, { id: "failing", title: "Failing calls", note: "in a second", format: f.count, height: 170, series }) : null;
}

function functions(table, op, choose, redraw) {
  const total = table.functions.reduce((s, x) => s + x.latency.total_seconds, 0);
  const latency = (label, key, title) => ({ name: label, n: true, title, value: (x) => x.latency[key], cell: (x) => f.seconds(x.latency[key]) });
  const part = (label, key) => ({ name: label, n: true, title: "Mean", value: (x) => x[key], cell: (x) => f.seconds(x[key]) });
  const measured = (key) => table.functions.some((x) => x[key] !== null);
  const columns = [
    { name: "Function", value: (x) => x.op, cell: (x) => h("button", { type: "button", class: "link", "aria-pressed": String(x.op === op), on: { click: () => choose(x.op === op ? "" : x.op) } }, name(x.op)) },
    { name: "Calls", n: true, value: (x) => x.calls, cell: (x) => [f.perSecond(x.calls_per_second), h("small", {}, f.whole(x.calls))] },
    { name: "Time", n: true, title: "Share of the time of all calls", value: (x) => x.latency.total_seconds, cell: (x) => [f.percent(total ? x.latency.total_seconds / total : null), share(x.latency.total_seconds, total, 0)] },
    latency("p50", "p50_seconds", "Half of the calls took less"), latency("p90", "p90_seconds"), latency("p99", "p99_seconds"), latency("Mean", "mean_seconds"),
    part("Network", "network_mean_seconds"), part("Queue", "queue_mean_seconds"), part("Execution", "execution_mean_seconds"),
    { name: "Failed", n: true, value: (x) => x.failed, cell: (x) => h("span", { class: x.failed ? "badtext" : "", title: x.codes.map((c) => `${c.code}: ${c.count}`).join(", ") || undefined }, f.whole(x.failed), x.codes.length && x.failed ? h("small", {}, name(x.codes[0].code)) : null) },
  ].filter((c) => !["Network", "Queue", "Execution"].includes(c.name) || measured(c.name.toLowerCase() + "_mean_seconds"));
  return grid({
    id: "functions", caption: "functions", columns, rows: table.functions, redraw, key: (x) => x.op, chosen: (x) => x.op === op, limit: 15,
    empty: "No calls in the last 5 minutes.", leftOut: table.functions_left_out ? `${table.functions_left_out} more, which took less time, are not shown.` : "",
  });
}

function slow(table, redraw) {
  const max = Math.max(...table.slow.map((x) => x.total_seconds || 0), 0);
  const columns = [
    { name: "Began", value: (x) => x.start, cell: (x) => f.clock(Date.parse(x.start) / 1000) },
    { name: "Function", value: (x) => x.op, cell: (x) => [name(x.op), x.kernel ? h("small", {}, name(x.kernel)) : null] },
    { name: "Client", value: (x) => (x.client ? f.who(x.client) : x.session), cell: (x) => [x.client ? name(f.who(x.client)) : h("span", { class: "muted" }, "unknown"), h("small", {}, name([x.client && f.base(x.client.executable), x.client && x.client.pid && "pid " + x.client.pid, "session " + x.session + (x.ended ? ", ended" : "")].filter(Boolean).join(" · ")))] },
    { name: "Took", n: true, value: (x) => x.total_seconds, cell: (x) => f.seconds(x.total_seconds) },
    { name: "Of it", title: "Network, queue and execution", value: (x) => x.execution_seconds, cell: (x) => parts(x, max) },
    { name: "Result", value: (x) => x.code, cell: (x) => name(x.code) },
  ];
  return grid({ id: "slow", caption: "slowest calls", columns, rows: table.slow, redraw, key: (x) => x.session + x.start + x.op + x.total_seconds, limit: 10, empty: "None is kept: no call took long, or this worker does not keep them." });
}

// parts is a bar of network, queue and execution; the whole is the slowest call.
function parts(x, max) {
  const list = PARTS.map(([n, , c]) => [n, x[n + "_seconds"], c]).filter(([, v]) => v !== null);
  if (list.length === 0) return h("span", { class: "muted" }, "not measured");
  const text = list.map(([n, v]) => `${n} ${f.seconds(v)}`).join(", ");
  return [h("span", { class: "parts", role: "img", "aria-label": text, title: text }, list.map(([n, v, c]) => h("i", { key: n, class: "c" + c, style: { width: ((100 * v) / (max || 1)).toFixed(2) + "%" } }))), h("small", {}, text)];
}
