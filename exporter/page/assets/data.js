// What the server told: the newest status, calls, and history, which is asked for once
// and then only continued.

// get asks for JSON; the browser revalidates by ETag.
async function get(path, params) {
  const q = new URLSearchParams(params).toString();
  const r = await fetch(API + path + (q ? "?" + q : ""), { headers: { Accept: "application/json" }, cache: "no-cache" });
  const body = await r.json().catch(() => null);
  if (!r.ok) throw new Error(body && body.error ? body.error : "the server answers " + r.status);
  if (!body) throw new Error("the answer is not complete");
  return body;
}

const POINTS = 180; // of a chart: one every few pixels
const API = new URL("api/v1/", document.baseURI).href;

// Timeline is one answer of history or latency that grows at its end. minutes is how
// far back it reaches, params are pairs of a parameter and its value.
class Timeline {
  constructor(path, minutes, params) {
    this.path = path;
    this.minutes = minutes;
    this.params = [["minutes", minutes], ["points", POINTS], ...params];
    this.span = null;
    this.pending = null;
  }

  // fetch asks for what is new; once at a time.
  fetch() {
    this.pending ||= this.ask().finally(() => { this.pending = null; });
    return this.pending;
  }

  // ask does so, and asks for all if the new cannot be joined.
  async ask() {
    const old = this.span;
    if (old && old.count > 0) {
      const since = old.begin + old.step_seconds * (old.count - 1);
      const more = await get(this.path, [...this.params, ["since", since]]);
      if (this.join(old, more)) return;
    }
    this.span = await get(this.path, this.params);
  }

  join(old, more) {
    const at = (more.begin - old.begin) / old.step_seconds;
    if (more.step_seconds !== old.step_seconds || at < 0 || at > old.count || Math.abs(at - Math.round(at)) > 1e-3) return false;
    const keep = Math.round(at);
    const drop = Math.max(0, keep + more.count - this.limit(old));
    const joined = this.lists(old, more);
    if (!joined) return false;
    for (const [list, tail] of joined) {
      list.splice(keep, list.length - keep, ...tail);
      list.splice(0, drop);
    }
    old.count = keep + more.count - drop;
    old.begin += drop * old.step_seconds;
    this.take(old, more);
    return true;
  }

  limit(old) {
    return Math.ceil((this.minutes * 60) / old.step_seconds) + 1;
  }
}

const seriesKey = (s) => s.metric + JSON.stringify(s.labels);

export class Series extends Timeline {
  constructor(minutes, metrics) {
    super("history", minutes, metrics.map((m) => ["metric", m]));
  }

  lists(old, more) {
    const have = new Map(old.series.map((s) => [seriesKey(s), s]));
    const pairs = [];
    const length = old.count;
    for (const s of more.series) {
      let o = have.get(seriesKey(s));
      if (!o) {
        o = { ...s, values: new Array(length).fill(null) }; // it has just begun
        old.series.push(o);
      }
      have.delete(seriesKey(s));
      pairs.push([o.values, s.values]);
    }
    const none = new Array(more.count).fill(null);
    for (const o of have.values()) pairs.push([o.values, none]); // it has ended
    return pairs;
  }

  take(old) {
    old.series = old.series.filter((s) => s.values.some((v) => v !== null));
  }

  // of are the series of a metric that have certain labels.
  of(metric, labels = {}) {
    if (!this.span) return [];
    return this.span.series.filter((s) => s.metric === metric && Object.keys(labels).every((k) => s.labels[k] === String(labels[k])));
  }
}

// Most are the series of metrics that are largest, which may be others each time.
export class Most extends Series {
  constructor(minutes, metrics, n) {
    super(minutes, metrics);
    this.params.push(["top", n]);
  }

  async ask() {
    this.span = await get(this.path, this.params);
  }
}

const LATENCY = ["calls_per_second", "failed_per_second", "p50_seconds", "p90_seconds", "p99_seconds", "network_mean_seconds", "queue_mean_seconds", "execution_mean_seconds"];

export class Latency extends Timeline {
  constructor(minutes, op) {
    super("latency", minutes, [["op", op]]);
  }

  lists(old, more) {
    if (old.side !== more.side) return null;
    return [...LATENCY.map((n) => [old[n], more[n]]), [old.heat.counts, more.heat.counts]];
  }

  take() {}
}

// Functions are what the functions with most time cost; which they are may change.
export class Functions extends Timeline {
  constructor(minutes, n) {
    super("functions", minutes, [["top", n]]);
  }

  async ask() {
    this.span = await get(this.path, this.params);
  }
}

export const status = () => get("status", []);
export const calls = (minutes) => get("calls", [["minutes", minutes]]);
