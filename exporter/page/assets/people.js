// Who uses the GPUs: processes on them, and the sessions of a worker.

import { h } from "./dom.js";
import * as f from "./format.js";
import { chart } from "./chart.js";
import { grid, name, share } from "./table.js";

const client = (c) => (c ? [name(c.user ? c.user + "@" + (c.host || c.address) : c.host || c.address, "unknown"), f.pod(c) ? h("small", {}, name(f.pod(c))) : null] : h("span", { class: "muted" }, "local"));
const program = (x) => {
  const path = x.client ? x.client.executable : x.name;
  const pid = x.client ? x.client.pid : x.pid;
  return [h("bdi", { class: "name", title: path }, f.base(path) || "unknown"), pid ? h("small", {}, "pid " + pid) : null];
};

// useOf are charts of those that use most.
function useOf(most, list) {
  const shown = list.filter((o) => (o.from || most).span)
    .map((o) => ({ ...o, span: (o.from || most).span, series: (o.from || most).of(o.metric).map((x, i) => ({ name: o.name(x.labels), values: x.values, colour: i })) }))
    .filter((o) => o.series.length);
  return shown.length ? h("div", { class: "panels above", key: "charts" }, shown.map((o) => chart(o.span, o))) : null;
}

export function processes(s, most, redraw) {
  const who = (l) => {
    const p = s.processes.find((x) => x.gpu === Number(l.gpu) && x.pid === Number(l.pid));
    return `GPU ${l.gpu} ` + (p ? (p.client ? `${f.base(p.client.executable)} of ${f.who(p.client)}` : `${f.base(p.name)} ${p.pid}`) : `pid ${l.pid}` + (s.error ? "" : ", ended"));
  };
  const charts = useOf(most, [
    { id: "process-vram", metric: "gpu_process_vram_bytes", title: "Memory", note: "the processes that hold most", format: f.bytes, base: 1024, name: who },
    { id: "process-busy", metric: "gpu_process_busy_ratio", title: "Busy", note: "seconds of kernels in a second", format: f.percent, name: who },
  ]);

  const size = new Map(s.cards.map((c) => [c.gpu, c.vram_size_bytes]));
  const columns = [
    { name: "GPU", value: (p) => p.gpu, cell: (p) => [h("span", { class: `swatch c${p.gpu % 8}`, "aria-hidden": "true" }), "GPU " + p.gpu] },
    { name: "Program", value: (p) => f.base(p.client ? p.client.executable : p.name), cell: program },
    { name: "Client", title: "Who the program belongs to, as it says itself", value: (p) => f.who(p.client) + " " + f.pod(p.client), cell: (p) => client(p.client) },
    { name: "Memory", n: true, value: (p) => p.vram_bytes, cell: (p) => [f.bytes(p.vram_bytes), share(p.vram_bytes, size.get(p.gpu), 2)] },
    { name: "Busy", n: true, title: "Seconds its kernels ran in each second", value: (p) => p.busy_ratio, cell: (p) => [f.percent(p.busy_ratio), share(p.busy_ratio, 1, 0)] },
    { name: "CUs", n: true, title: "Compute units it occupies", value: (p) => p.compute_units, cell: (p) => f.whole(p.compute_units) },
    { name: "On the host", title: "The process there that holds the GPU's memory", value: (p) => `${p.pid} ${p.name} ${p.user} ${f.pod(p)}`, cell: (p) => [p.client ? name(p.name) : null, h("small", {}, name([`pid ${p.pid}`, p.user, f.pod(p)].filter(Boolean).join(" · ")))] },
    { name: "Session", value: (p) => p.session, cell: (p) => name(p.session, f.NONE) },
  ];
  const rows = s.processes;
  const used = columns.filter((c) => !(c.name === "CUs" && rows.every((p) => p.compute_units === null)) && !(c.name === "Session" && rows.every((p) => !p.session)));
  return [h("h2", {}, "Processes"), charts, grid({
    id: "processes", caption: "processes", columns: used, rows, redraw, key: (p) => p.gpu + "/" + p.pid,
    leftOut: s.processes_left_out ? `${s.processes_left_out} more, which hold less memory, are not shown.` : "",
    empty: "No process uses a GPU now. They appear here as they begin to, those of other machines with their user, host and program.",
  })];
}

export function sessions(s, series, most, redraw) {
  const who = (l) => {
    const x = s.sessions.find((y) => y.session === l.session);
    return `${l.session} ` + (x ? f.who(x.client) : s.sessions_error ? "" : "ended");
  };
  const charts = useOf(most, [
    { id: "session-in", metric: "hip_session_received_bytes_per_second", title: "Received", note: "from the sessions that send most", format: f.byteRate, base: 1024, name: who },
    { id: "session-calls", metric: "hip_session_calls_per_second", title: "Calls", note: "in a second, of the sessions that make most", format: f.count, name: who },
  ]);
  const now = Date.parse(s.time);
  const since = (x) => (now - Date.parse(x.start)) / 1000;
  const columns = [
    { name: "Session", value: (x) => x.session, cell: (x) => name(x.session) },
    { name: "Client", title: "As the client says itself", value: (x) => f.who(x.client) + " " + f.pod(x.client), cell: (x) => client(x.client) },
    { name: "Program", value: (x) => f.base(x.client.executable), cell: program },
    { name: "Address", title: "The connection's other end, as the worker sees it", value: (x) => x.client.address, cell: (x) => name(x.client.address, f.NONE) },
    { name: "GPUs", value: (x) => x.gpus.join(" "), cell: (x) => x.gpus.join(", ") || f.NONE },
    { name: "Memory", n: true, value: (x) => x.vram_bytes, cell: (x) => f.bytes(x.vram_bytes) },
    { name: "Received", n: true, title: "From the client now", value: (x) => x.received_bytes_per_second, cell: (x) => [f.byteRate(x.received_bytes_per_second), h("small", {}, f.bytes(x.received_bytes_total))] },
    { name: "Sent", n: true, title: "To the client now", value: (x) => x.sent_bytes_per_second, cell: (x) => [f.byteRate(x.sent_bytes_per_second), h("small", {}, f.bytes(x.sent_bytes_total))] },
    { name: "Calls", n: true, value: (x) => x.calls_per_second, cell: (x) => [f.perSecond(x.calls_per_second), h("small", {}, f.count(x.calls_total))] },
    { name: "Since", n: true, value: since, cell: (x) => f.age(Math.max(0, since(x))) },
  ];
  if (!s.worker && s.sessions.length === 0 && !charts) return [];
  return [h("h2", {}, "Sessions"), charts, grid({
    id: "sessions", caption: "sessions", columns, rows: s.sessions, redraw, key: (x) => x.session,
    leftOut: s.sessions_left_out ? `${s.sessions_left_out} more, which are older, are not shown.` : "",
    empty: h("span", {}, "No sessions. Point a program here: ", h("code", {}, "TF_WORKER_HOST=<this machine> LD_LIBRARY_PATH=<rocwire>/lib ./program")),
  })];
}
