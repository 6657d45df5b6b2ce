// The strip of sums, and a card for each GPU.

import { h } from "./dom.js";
import { spark } from "./chart.js";
import * as f from "./format.js";
import { name, share } from "./table.js";

const sum = (list) => {
  const v = list.filter((x) => x !== null && x !== undefined);
  return v.length ? v.reduce((a, b) => a + b, 0) : null;
};

const remote = (n) => `${n} remote session${n === 1 ? "" : "s"}`;

// summary is what an operator looks at first.
export function summary(s, calls) {
  const ok = s.cards.filter((c) => c.state === "ok").length;
  const busy = s.cards.map((c) => c.busy_ratio).filter((v) => v !== null);
  const used = sum(s.cards.map((c) => c.vram_used_bytes)), size = sum(s.cards.map((c) => c.vram_size_bytes));
  const cap = sum(s.cards.map((c) => c.power_cap_watts));
  const errors = sum(s.cards.map((c) => c.ecc_uncorrectable_total));
  const known = calls && !calls.error;
  const rate = known ? sum(calls.functions.map((x) => x.calls_per_second)) : null;
  const failed = known ? sum(calls.functions.map((x) => x.failed)) : null;
  const tile = (label, value, note, tone = "") => h("div", { key: label, class: "tile " + tone }, h("dt", {}, label), h("dd", {}, h("b", {}, value), h("span", {}, note)));
  return [h("dl", { class: "tiles" },
    tile("GPUs", String(s.cards.length), s.cards.length === 0 ? "none found" : ok === s.cards.length ? "all answer" : `${s.cards.length - ok} tell not all`, ok < s.cards.length ? "bad" : ""),
    tile("Utilisation", f.percent(busy.length ? sum(busy) / busy.length : null), busy.length > 1 ? "mean of all GPUs" : ""),
    tile("Memory", f.bytes(used), size === null ? "" : "of " + f.bytes(size)),
    tile("Power", f.kilowatts(sum(s.cards.map((c) => c.power_watts))), cap === null ? "" : "of " + f.kilowatts(cap)),
    tile("Processes", f.whole(s.processes.length + s.processes_left_out), s.worker ? remote(s.sessions.length + s.sessions_left_out) : "on these GPUs"),
    s.worker || rate ? tile("Calls", f.perSecond(rate), failed ? `${f.count(failed)} failed in 5 min` : rate ? "none failed in 5 min" : rate === null && !known ? "" : "none in 5 min", failed ? "warn" : "") : null,
    errors ? tile("ECC errors", f.whole(errors), "not corrected", "bad") : null)];
}

// cards are all GPUs.
export function cards(s, series) {
  if (s.cards.length === 0) {
    return [h("p", { class: "empty" }, s.error ? "No GPU has been seen, because the GPUs cannot be read." : "No GPU has been found. A worker shows them with --backend rocm, or simulated ones with --backend sim.")];
  }
  return [h("div", { class: "cards" }, s.cards.map((c) => card(c, series)))];
}

const TONE = { ok: "ok", partial: "in part", stale: "old figures", silent: "silent", gone: "gone" };

function card(c, series) {
  const past = (metric, labels) => series.of(metric, { gpu: c.gpu, ...labels })[0]?.values;
  const t = c.temperatures.find((x) => x.sensor === "hotspot" && x.celsius !== null) || c.temperatures.find((x) => x.celsius !== null);
  return h("article", { class: "card " + c.state, key: "gpu" + c.gpu, "aria-label": "GPU " + c.gpu },
    h("header", {}, h("span", { class: `swatch c${c.gpu % 8}`, "aria-hidden": "true" }), h("h2", {}, "GPU " + c.gpu), name(c.name),
      h("span", { class: "badge " + c.state, title: "State of the card's figures" }, TONE[c.state] || c.state)),
    c.state === "silent" || c.state === "gone"
      ? [h("p", { class: "empty", key: "silent" }, c.state === "gone" ? "This GPU is asked and tells nothing. " : "Nothing recent is known of this GPU. ", c.state === "gone" ? null : c.age_seconds > 0 ? `It was last read ${f.age(c.age_seconds)} ago.` : "It has not been read yet."),
         c.ecc_uncorrectable_total ? h("p", { class: "problem", key: "ecc" }, `It had told of ${f.whole(c.ecc_uncorrectable_total)} ECC errors that were not corrected.`) : null,
         c.problems.map((p) => h("p", { class: "problem", key: p }, h("bdi", {}, p)))]
      : h("div", { key: "body" },
          h("div", { class: "gauges" },
            gauge("Utilisation", f.percent(c.busy_ratio), c.memory_busy_ratio === null ? "" : "memory bus " + f.percent(c.memory_busy_ratio), c.busy_ratio, 1, past("gpu_activity_ratio", { engine: "gfx" }), 0),
            gauge("Memory", f.bytes(c.vram_used_bytes), "of " + f.bytes(c.vram_size_bytes), c.vram_used_bytes, c.vram_size_bytes, past("gpu_vram_used_bytes"), 2),
            gauge("Power", f.watts(c.power_watts), "of " + f.watts(c.power_cap_watts), c.power_watts, c.power_cap_watts, past("gpu_power_watts"), 1),
            gauge("Temperature" + (t ? ", " + t.sensor : ""), f.celsius(t ? t.celsius : null), t && t.limit_celsius !== null ? "limit " + f.celsius(t.limit_celsius) : "", t ? t.celsius : null, t ? t.limit_celsius || 110 : 1, t ? past("gpu_temperature_celsius", { sensor: t.sensor }) : null, 3)),
          h("dl", { class: "line" }, facts(c).map(([k, v, tone]) => h("div", { key: k, class: tone || "" }, h("dt", {}, k), h("dd", {}, v)))),
          c.throttle.length ? h("p", { class: "problem", key: "throttle" }, "Clocks are lowered by ", h("bdi", {}, c.throttle.join(", "))) : null,
          c.problems.map((p) => h("p", { class: "problem", key: p }, h("bdi", {}, p))),
          h("details", { key: "more" }, h("summary", {}, "More"), h("dl", { class: "facts" }, more(c).filter(([, v]) => v && v !== f.NONE).map(([k, v]) => h("div", { key: k }, h("dt", {}, k), h("dd", {}, h("bdi", {}, v))))))));
}

function gauge(label, value, note, v, max, past, colour) {
  return h("div", { class: "gauge", key: label },
    h("span", { class: "label" }, label), h("b", {}, value), h("span", { class: "note" }, note),
    share(v, max, colour), spark(past, max, colour));
}

const clockOf = (c, domain) => c.clocks.find((x) => x.domain === domain)?.hertz ?? null;

function facts(c) {
  const errors = c.ecc_uncorrectable_total;
  return [
    ["Clock", f.hertz(clockOf(c, "gfx"))],
    ["Memory clock", f.hertz(clockOf(c, "mem"))],
    ["ECC", c.ecc_correctable_total === null && errors === null ? f.NONE : `${f.whole(c.ecc_correctable_total)} corrected, ${f.whole(errors)} not`, errors ? "bad" : ""],
    ["PCIe", c.pcie.width_lanes === null ? f.NONE : `×${c.pcie.width_lanes} ${f.transfers(c.pcie.speed_transfers_per_second)}`, c.pcie.max_width_lanes !== null && c.pcie.width_lanes < c.pcie.max_width_lanes ? "warn" : ""],
    ["Processes", f.whole(c.processes)],
    ["Age", f.age(c.age_seconds), c.state === "stale" ? "warn" : ""],
  ];
}

function more(c) {
  return [
    ["UUID", c.uuid], ["PCI address", c.bdf], ["Target", c.target], ["Compute units", c.compute_units === null ? "" : String(c.compute_units)],
    ["Memory", c.vram_type], ["Host memory lent", f.bytes(c.gtt_used_bytes)], ["Video engines", f.percent(c.video_busy_ratio)],
    ["Energy", f.energy(c.energy_joules)], ["Performance level", c.performance_level],
    ...c.temperatures.map((t) => ["Temperature, " + t.sensor, f.celsius(t.celsius) + (t.limit_celsius === null ? "" : " of " + f.celsius(t.limit_celsius))]),
    ...c.clocks.map((k) => ["Clock, " + k.domain, f.hertz(k.hertz) + (k.max_hertz === null ? "" : " of " + f.hertz(k.max_hertz))]),
    ...c.fans.map((x, i) => ["Fan " + i, x.speed_rpm !== null ? f.whole(x.speed_rpm) + " rpm" : f.percent(x.duty_ratio)]),
    ["PCIe sent", f.byteRate(c.pcie.sent_bytes_per_second)], ["PCIe received", f.byteRate(c.pcie.received_bytes_per_second)],
    ["PCIe at most", c.pcie.max_width_lanes === null ? "" : `×${c.pcie.max_width_lanes} ${f.transfers(c.pcie.max_speed_transfers_per_second)}`],
    ["PCIe replays", f.whole(c.pcie.replays_total)], ["ECC deferred", f.whole(c.ecc_deferred_total)],
    ...[["gfx", c.voltages.gfx_volts], ["soc", c.voltages.soc_volts], ["memory", c.voltages.mem_volts]].map(([n, v]) => ["Voltage, " + n, v === null ? "" : v.toFixed(3) + " V"]),
    ["Partition", [c.partition.compute, c.partition.memory].filter(Boolean).join(" ")], ["Bad pages", f.whole(c.bad_pages)],
    ...c.xgmi_links.map((x) => ["Link to " + (x.peer_bdf || "a GPU"), x.state]), ...c.events.map((x) => ["Events, " + x.kind, f.whole(x.count)]),
    ["Driver", c.driver], ["VBIOS", c.vbios],
  ];
}
