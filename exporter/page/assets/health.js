// How the program itself does: the worker's totals, delivery to sinks, and what the
// page remembers.

import { h } from "./dom.js";
import * as f from "./format.js";
import { grid, name } from "./table.js";

export function health(s, redraw) {
  const w = s.worker;
  const m = s.history;
  const list = (o) => h("dl", { class: "line" }, o.filter(([, v]) => v !== f.NONE).map(([k, v, tone]) => h("div", { key: k, class: tone || "" }, h("dt", {}, k), h("dd", {}, v))));
  const left = m.series_left_out_total + m.calls_left_out_total;
  return [h("h2", {}, "Health"),
    w ? h("h3", {}, "Worker, since it started") : null,
    w ? list([["Sessions begun", f.whole(w.sessions_started)], ["Connections refused", f.whole(w.connections_refused), w.connections_refused ? "warn" : ""], ["Calls", f.count(w.calls)], ["Received", f.bytes(w.received_bytes)], ["Sent", f.bytes(w.sent_bytes)]]) : null,
    h("h3", {}, "Delivery to sinks"), sinks(s, redraw),
    h("h3", {}, "What this page remembers"),
    list([["Reaches back to", f.clock(Date.parse(m.begin) / 1000, false)], ["Calls back to", f.clock(Date.parse(m.calls_begin) / 1000, false)], ["Step", f.age(m.step_seconds)], ["Series", f.whole(m.series)],
      ["Memory", `${f.bytes(m.bytes)} of ${f.bytes(m.max_bytes)}`], ["Left out", left ? `${f.count(left)} figures: give it more memory (--page-memory)` : "nothing", left ? "warn" : ""]])];
}

function sinks(s, redraw) {
  const lost = (x) => x.dropped_refused_total + x.dropped_expired_total + x.dropped_crowded_total + x.dropped_corrupt_total;
  const reasons = (x) => [["refused", x.dropped_refused_total], ["too old", x.dropped_expired_total], ["too many", x.dropped_crowded_total], ["damaged", x.dropped_corrupt_total]].filter(([, n]) => n).map(([k, n]) => `${k}: ${n}`).join(", ");
  const columns = [
    { name: "Sink", value: (x) => x.name, cell: (x) => name(x.name) },
    { name: "State", value: (x) => String(x.up), cell: (x) => h("span", { class: "badge " + (x.up ? "ok" : "silent") }, x.up ? "delivers" : "down") },
    { name: "Waiting", n: true, value: (x) => x.queue_records, cell: (x) => [f.whole(x.queue_records), h("small", {}, f.bytes(x.queue_bytes))] },
    { name: "Oldest", n: true, value: (x) => x.queue_oldest_seconds, cell: (x) => f.age(x.queue_oldest_seconds) },
    { name: "Sent", n: true, value: (x) => x.sent_records_total, cell: (x) => [f.whole(x.sent_records_total), h("small", {}, f.bytes(x.sent_bytes_total))] },
    { name: "Failures", n: true, title: "Attempts that failed and are repeated", value: (x) => x.failures_total, cell: (x) => f.whole(x.failures_total) },
    { name: "Lost", n: true, value: lost, cell: (x) => h("span", { class: lost(x) ? "badtext" : "" }, f.whole(lost(x)), reasons(x) ? h("small", {}, reasons(x)) : null) },
    { name: "Last error", value: (x) => x.last_error, cell: (x) => (x.last_error ? h("bdi", { class: "text" }, x.last_error) : h("span", { class: "muted" }, "none")) },
  ];
  return grid({ id: "sinks", caption: "sinks", columns, rows: s.sinks, redraw, key: (x) => x.name, empty: "Nothing is pushed anywhere: this program is only asked. See --help for OpenTelemetry and GreptimeDB." });
}
