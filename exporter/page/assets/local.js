// What programs of this machine do with HIP, as the kernel sees it.

import { h } from "./dom.js";
import { chart } from "./chart.js";
import * as f from "./format.js";
import { grid, name } from "./table.js";

export function local(s, most, redraw) {
  const l = s.local;
  if (!l) return [];
  const label = (pid) => {
    const p = l.programs.find((x) => x.pid === Number(pid));
    return p ? `${p.name || f.base(p.executable)} ${pid}` : `pid ${pid}, ended`;
  };
  const lines = (metric) => most.of(metric).map((x, i) => ({ name: label(x.labels.pid), values: x.values, colour: i }));
  const charts = [
    { id: "local-held", title: "Allocated", note: "GPU memory asked for and not freed", format: f.bytes, base: 1024, series: lines("hip_local_allocated_bytes") },
    { id: "local-calls", title: "Calls", note: "in a second", format: f.count, series: lines("hip_local_calls_per_second") },
  ].filter((o) => o.series.length);
  const columns = [
    { name: "Program", value: (p) => p.name, cell: (p) => [h("bdi", { class: "name", title: p.executable }, p.name || f.base(p.executable)), h("small", {}, `pid ${p.pid}` + (p.ended ? ", ended" : ""))] },
    { name: "User", value: (p) => p.user + " " + f.pod(p), cell: (p) => [name(p.user, f.NONE), f.pod(p) ? h("small", {}, name(f.pod(p))) : null] },
    { name: "Allocated", n: true, title: "GPU memory asked for and not freed since the program is watched", value: (p) => p.allocated_bytes, cell: (p) => f.bytes(p.allocated_bytes) },
    { name: "Calls", n: true, value: (p) => p.calls_per_second ?? p.calls_total, cell: (p) => [f.perSecond(p.calls_per_second), h("small", {}, f.count(p.calls_total))] },
    { name: "Kernels", n: true, value: (p) => p.kernel_launches_per_second ?? p.kernel_launches_total, cell: (p) => [f.perSecond(p.kernel_launches_per_second), h("small", {}, f.count(p.kernel_launches_total))] },
    { name: "Copied", n: true, value: (p) => p.copied_bytes_per_second ?? p.copied_bytes_total, cell: (p) => [f.byteRate(p.copied_bytes_per_second), h("small", {}, f.bytes(p.copied_bytes_total))] },
    { name: "Failed", n: true, value: (p) => p.failed_total, cell: (p) => h("span", { class: p.failed_total ? "badtext" : "" }, f.whole(p.failed_total)) },
    { name: "Most time in", value: (p) => p.functions[0]?.op, cell: (p) => dear(p.functions) },
    { name: "HIP library", value: (p) => p.library, cell: (p) => h("bdi", { class: "name", title: p.library }, f.base(p.library) || f.NONE) },
  ];
  return [h("h2", {}, "Local programs"),
    charts.length ? h("div", { class: "panels above", key: "charts" }, charts.map((o) => chart(most.span, o))) : null,
    grid({
      id: "local", caption: "local programs", columns, rows: l.programs, redraw, key: (p) => p.pid + p.since,
      leftOut: [l.programs_left_out ? `${l.programs_left_out} more, which hold less memory, are not shown.` : "", l.dropped_total ? `${f.count(l.dropped_total)} things were not counted, because they were too many.` : ""].filter(Boolean).join(" "),
      empty: `No program of this machine has called HIP since it is watched (${l.libraries} HIP libraries are).`,
    })];
}

// dear names the functions with most time, and the p99 of the first.
function dear(functions) {
  if (!functions.length) return f.NONE;
  const total = functions.reduce((s, x) => s + x.latency.total_seconds, 0) || 1;
  const text = functions.slice(0, 3).map((x) => `${x.op} ${f.percent(x.latency.total_seconds / total)}`).join(", ");
  return [name(text), h("small", {}, `p99 ${f.seconds(functions[0].latency.p99_seconds)}`)];
}
