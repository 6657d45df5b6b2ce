// The page: asks for figures while it is looked at, and draws them.

import { h, root } from "./dom.js";
import { shared } from "./chart.js";
import { Functions, Latency, Most, Series, calls as fetchCalls, status as fetchStatus } from "./data.js";
import * as f from "./format.js";
import { cards, summary } from "./cards.js";
import { panels } from "./panels.js";
import { processes, sessions } from "./people.js";
import { calls } from "./calls.js";
import { local } from "./local.js";
import { health } from "./health.js";

const METRICS = ["gpu_activity_ratio", "gpu_vram_used_bytes", "gpu_power_watts", "gpu_temperature_celsius", "gpu_clock_hertz", "gpu_pcie_sent_bytes_per_second",
  "gpu_pcie_received_bytes_per_second", "gpu_throttle_violation_ratio", "gpu_ecc_errors_per_second", "hip_worker_received_bytes_per_second", "hip_worker_sent_bytes_per_second", "hip_sessions"];
const USERS = ["gpu_process_vram_bytes", "gpu_process_busy_ratio", "hip_session_received_bytes_per_second", "hip_session_calls_per_second",
  "hip_local_allocated_bytes", "hip_local_calls_per_second"];
const SPANS = [5, 15, 60]; // minutes
const MOST = 8; // lines in one chart
const STATUS_EVERY = 2000; // ms
const RETRY_MAX = 15000;

const PARTS = [["cards", "GPUs"], ["history", "History"], ["processes", "Processes"], ["sessions", "Sessions"], ["calls", "Calls"], ["local", "Local programs"], ["health", "Health"]];

const place = (id) => document.getElementById(id);
const state = { status: null, calls: null, series: null, most: null, functions: null, latency: null, minutes: 0, op: "", paused: false, error: "", heard: 0, retry: 0 };

function span(minutes) {
  state.minutes = minutes;
  state.series = new Series(minutes, METRICS);
  state.most = new Most(minutes, USERS, MOST);
  state.functions = new Functions(minutes, MOST);
  state.latency = new Latency(minutes, state.op);
}

// fitting is the smallest span that has all there is, an hour at most.
function fitting() {
  const past = (Date.parse(state.status.time) - Date.parse(state.status.history.begin)) / 60000;
  return Math.min(SPANS.find((m) => m >= past) || 60, range());
}

const range = () => Math.round((state.status?.history.length_seconds || 3600) / 60);

function choose(op) {
  state.op = op;
  state.latency = new Latency(state.minutes, op);
  draw();
  history().then(draw, fail);
}

function chooseSpan(minutes) {
  span(minutes);
  location.replace("#minutes=" + minutes);
  draw();
  history().then(draw, fail);
}

// Drawing happens at most once a frame.
let asked = false;
function draw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    paint();
  });
}
shared.changed = draw;

function paint() {
  const s = state.status;
  if (!s) {
    root(place("alerts"), alerts());
    return;
  }
  root(place("alerts"), alerts());
  root(place("summary"), summary(s, state.calls));
  root(place("cards"), cards(s, state.series));
  root(place("history"), panels(s, state.series));
  root(place("processes"), processes(s, state.most, draw));
  root(place("sessions"), sessions(s, state.series, state.most, draw));
  root(place("calls"), calls(s, state, choose, draw));
  root(place("local"), local(s, state.most, draw));
  root(place("health"), health(s, draw));
  root(place("head"), head(s)); // which names the parts that there are
  document.documentElement.dataset.ready = state.series.span ? "1" : "0";
}

function head(s) {
  const spans = [...new Set([...SPANS, range()])].filter((m) => m <= range()).sort((a, b) => a - b);
  return [
    h("h1", {}, h("bdi", {}, s.title)),
    h("p", { class: "place" }, s.cluster ? ["cluster ", h("bdi", {}, s.cluster)] : null, " ", s.pool ? ["pool ", h("bdi", {}, s.pool)] : null),
    h("nav", { key: "nav", "aria-label": "Parts of the page" }, PARTS.filter(([id]) => place(id).childNodes.length).map(([id, title]) => h("a", { key: id, href: "#" + id }, title))),
    h("p", { class: "spring" }),
    h("p", { class: "live", key: "live" }, h("span", { class: "dot " + (state.error ? "bad" : state.paused ? "paused" : "ok"), "aria-hidden": "true" }), h("span", { id: "age" }, freshness())),
    h("div", { class: "buttons", role: "group", "aria-label": "Span of the charts", key: "spans" }, spans.map((m) => h("button", { key: m, type: "button", "aria-pressed": String(m === state.minutes), on: { click: () => chooseSpan(m) } }, m < 120 ? m + " min" : m / 60 + " h"))),
    h("div", { class: "buttons", key: "pause" }, h("button", { type: "button", "aria-pressed": String(state.paused), on: { click: pause } }, state.paused ? "Go on" : "Pause")),
  ];
}

const freshness = () => {
  if (!state.heard) return "";
  const age = (performance.now() - state.heard) / 1000;
  return state.paused ? `paused, ${f.age(age)} old` : age < 4 ? "live" : `${f.age(age)} old`;
};

function alerts() {
  const s = state.status;
  const list = [];
  if (state.error) list.push(["bad", "The exporter does not answer.", `${state.error}. ` + (s ? `What is shown is of ${f.clock(Date.parse(s.time) / 1000)}. ` : "") + "It is asked again every few seconds."]);
  if (s && s.error) list.push(["bad", "The GPUs cannot be read.", s.error]);
  if (s && s.sessions_error && s.sessions_error !== s.error) list.push(["warn", "Nothing is known of sessions.", s.sessions_error]);
  if (s && s.calls_error && s.calls_error !== s.error && s.calls_error !== s.sessions_error) list.push(["warn", "Nothing is known of calls.", s.calls_error]);
  if (s && s.local_error) list.push(["warn", "Programs of this machine cannot be watched.", s.local_error]);
  const silent = s && !s.error ? s.cards.filter((c) => c.state === "silent" || c.state === "gone").map((c) => `GPU ${c.gpu}` + (c.problems.length ? `: ${c.problems[0]}` : "")) : [];
  if (silent.length) list.push(["bad", "Some GPUs tell nothing.", silent.join("; ")]);
  const down = s ? s.sinks.filter((x) => !x.up && x.last_error) : [];
  for (const x of down.slice(0, 3)) list.push(["warn", `Delivery to ${x.name} fails.`, x.last_error]);
  return list.map(([tone, title, text]) => h("p", { class: "alert " + tone, key: title }, h("b", {}, title), " ", h("bdi", {}, text)));
}

function pause() {
  state.paused = !state.paused;
  draw();
  if (!state.paused) tick();
}

function fail(e) {
  state.error = e instanceof TypeError ? "There is no connection" : String(e.message || e);
  draw();
}

async function live() {
  const s = await fetchStatus();
  if (state.status && s.version !== state.status.version) location.reload(); // it is another program now
  state.status = s;
  state.heard = performance.now();
  if (!state.series) {
    const wanted = Number(new URLSearchParams(location.hash.slice(1)).get("minutes"));
    span(wanted >= 1 && wanted <= range() ? wanted : fitting());
  }
}

async function history() {
  const [table] = await Promise.all([fetchCalls(5), state.series.fetch(), state.most.fetch(), state.functions.fetch(), state.latency.fetch()]);
  state.calls = table;
}

// tick asks for what is due, and itself again. A page that nobody sees asks nothing.
let timer = 0;
let due = 0; // when the history is asked for next
let busy = false;
async function tick() {
  clearTimeout(timer);
  if (busy || state.paused || document.hidden) return;
  busy = true;
  try {
    await live();
    draw();
    if (performance.now() >= due) {
      await history();
      due = performance.now() + Math.max(1000 * state.status.history.step_seconds, STATUS_EVERY) - 100;
    }
    state.error = "";
    state.retry = 0;
    draw();
  } catch (e) {
    fail(e);
    state.retry = Math.min(RETRY_MAX, (state.retry || STATUS_EVERY) * 1.6);
  }
  busy = false;
  timer = setTimeout(tick, state.retry || STATUS_EVERY);
}

document.addEventListener("visibilitychange", tick);
window.addEventListener("online", tick);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
setInterval(() => {
  const n = place("age");
  if (n && !document.hidden) n.textContent = freshness();
}, 1000);
tick();
