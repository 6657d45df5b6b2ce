// The charts of the cards' history and of the worker's traffic.

import { h } from "./dom.js";
import { chart } from "./chart.js";
import * as f from "./format.js";

const many = (o) => o.length > 0;

// panels draws all charts that have something to show.
export function panels(s, series) {
  const span = series.span;
  if (!span) return [h("h2", {}, "History"), h("p", { class: "empty" }, "The history is being fetched.")];
  const gpu = (metric, labels) => series.of(metric, labels).map((x) => ({ name: "GPU " + x.labels.gpu, values: x.values, colour: Number(x.labels.gpu) }));
  const size = Math.max(0, ...s.cards.map((c) => c.vram_size_bytes || 0));
  const sensor = ["hotspot", "edge", "mem"].find((n) => many(series.of("gpu_temperature_celsius", { sensor: n }))) || "hotspot";
  const limit = Math.max(0, ...s.cards.flatMap((c) => c.temperatures.filter((t) => t.sensor === sensor).map((t) => t.limit_celsius || 0)));
  const list = [
    { id: "busy", title: "Utilisation", note: "compute and graphics", format: f.percent, max: 1, full: true, series: gpu("gpu_activity_ratio", { engine: "gfx" }) },
    { id: "vram", title: "Memory in use", note: size ? "of " + f.bytes(size) : "", format: f.bytes, base: 1024, series: gpu("gpu_vram_used_bytes") },
    { id: "power", title: "Power", note: "drawn by the socket", format: f.watts, max: 100, series: gpu("gpu_power_watts") },
    { id: "temperature", title: "Temperature", note: sensor + (limit ? ", limit " + f.celsius(limit) : ""), format: f.celsius, max: 60, series: gpu("gpu_temperature_celsius", { sensor }) },
    { id: "clock", title: "Clock", note: "compute and graphics", format: f.hertz, series: gpu("gpu_clock_hertz", { domain: "gfx" }) },
    { id: "bus", title: "Memory bus", note: "share of time in which it was busy", format: f.percent, max: 1, full: true, series: gpu("gpu_activity_ratio", { engine: "umc" }) },
    traffic("pcie", "PCIe traffic", "both ways", series, "gpu"),
    errors(series, span.step_seconds),
    throttle(series),
  ];
  const of = (metric, name, colour) => series.of(metric).map((x) => ({ name, values: x.values, colour }));
  list.push({ id: "net", title: "Network traffic", note: "of all sessions", format: f.byteRate, base: 1024, series: [...of("hip_worker_received_bytes_per_second", "received", 0), ...of("hip_worker_sent_bytes_per_second", "sent", 1)] });
  const shown = list.filter((o) => many(o.series));
  return shown.length ? [h("h2", {}, "History"), h("div", { class: "panels" }, shown.map((o) => chart(span, o)))] : [];
}

function traffic(id, title, note, series) {
  const received = series.of("gpu_pcie_received_bytes_per_second");
  const list = series.of("gpu_pcie_sent_bytes_per_second").map((x) => {
    const r = received.find((y) => y.labels.gpu === x.labels.gpu);
    return { name: "GPU " + x.labels.gpu, colour: Number(x.labels.gpu), values: x.values.map((v, i) => (v === null || !r || r.values[i] === null ? v : v + r.values[i])) };
  });
  return { id, title, note, format: f.byteRate, base: 1024, series: list };
}

// errors are shown once there are any: how many came in each step, for one error is not a rate.
function errors(series, step) {
  const list = [];
  for (const [severity, colour] of [["correctable", 0], ["uncorrectable", 1]]) {
    for (const x of series.of("gpu_ecc_errors_per_second", { severity })) {
      if (x.values.some((v) => v > 0)) list.push({ name: `GPU ${x.labels.gpu} ${severity}`, colour: colour + 8 * (Number(x.labels.gpu) % 3), values: x.values.map((v) => (v === null ? null : Math.round(v * step * 100) / 100)) });
    }
  }
  return { id: "ecc", title: "ECC errors", note: "in each " + f.age(step), format: f.count, series: list };
}

// throttle is shown once clocks were lowered.
function throttle(series) {
  const list = series.of("gpu_throttle_violation_ratio").filter((x) => x.values.some((v) => v > 0));
  return { id: "throttle", title: "Clocks lowered", note: "share of time, by the worst limit", format: f.percent, max: 1, full: true, series: list.map((x) => ({ name: "GPU " + x.labels.gpu, values: x.values, colour: Number(x.labels.gpu) })) };
}
