// How figures are written. null is "not available" and never 0.

export const NONE = "–";
const THIN = "\u202f"; // a narrow space that does not break

const has = (v) => typeof v === "number" && Number.isFinite(v);

// digits writes three digits that mean something.
export function digits(v) {
  const a = Math.abs(v);
  if ((Number.isInteger(v) && a < 1000) || a >= 99.95) return String(Math.round(v));
  return a >= 9.995 ? v.toFixed(1) : v.toFixed(2);
}

function scaled(v, base, units) {
  let i = 0;
  // What would be written as 1000 or 1024 belongs to the next unit.
  while (Math.abs(v) >= base * 0.9995 && i < units.length - 1) {
    v /= base;
    i++;
  }
  return digits(v) + THIN + units[i];
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
export const bytes = (v) => (has(v) ? scaled(v, 1024, BYTES) : NONE);
export const byteRate = (v) => (has(v) ? scaled(v, 1024, BYTES) + "/s" : NONE);
export const watts = (v) => (has(v) ? digits(v >= 10 ? Math.round(v) : v) + THIN + "W" : NONE);
export const kilowatts = (v) => (has(v) && v >= 10000 ? scaled(v, 1000, ["W", "kW", "MW"]) : watts(v));
export const celsius = (v) => (has(v) ? Math.round(v) + THIN + "°C" : NONE);
export const hertz = (v) => (has(v) ? scaled(v, 1000, ["Hz", "kHz", "MHz", "GHz"]) : NONE);
export const transfers = (v) => (has(v) ? scaled(v, 1000, ["T/s", "kT/s", "MT/s", "GT/s"]) : NONE);
export const energy = (v) => (has(v) ? scaled(v / 3600, 1000, ["Wh", "kWh", "MWh"]) : NONE);

export function percent(v) {
  if (!has(v)) return NONE;
  const p = v * 100;
  return (p > 0 && p < 1 ? p.toFixed(1) : String(Math.round(p))) + THIN + "%";
}

// count writes a number of things: 950, 12.3 k, 4.56 M.
export const count = (v) => (has(v) ? (Math.abs(v) < 1000 ? digits(v) : scaled(v, 1000, ["", "k", "M", "G", "T"])) : NONE);
export const whole = (v) => (has(v) ? String(Math.round(v)).replace(/\B(?=(\d{3})+$)/g, THIN) : NONE);
export const perSecond = (v) => (has(v) ? count(v) + "/s" : NONE);

// seconds writes a latency.
export function seconds(v) {
  if (!has(v)) return NONE;
  if (v === 0 || v >= 0.9995) return v >= 600 ? age(v) : digits(v) + THIN + "s";
  return scaled(v * 1e9, 1000, ["ns", "µs", "ms"]);
}

// age writes how long something has been.
export function age(v) {
  if (!has(v)) return NONE;
  if (v < 10) return v.toFixed(1) + THIN + "s";
  if (v < 120) return Math.round(v) + THIN + "s";
  if (v < 7200) return Math.floor(v / 60) + THIN + "min";
  if (v < 172800) return Math.floor(v / 3600) + THIN + "h";
  return Math.floor(v / 86400) + THIN + "d";
}

const two = (n) => String(n).padStart(2, "0");

// clock writes the time of day of seconds since 1970.
export function clock(t, withSeconds = true) {
  const d = new Date(t * 1000);
  return two(d.getHours()) + ":" + two(d.getMinutes()) + (withSeconds ? ":" + two(d.getSeconds()) : "");
}

// who names a client: its pod, and user@host.
export function who(c) {
  if (!c) return "local";
  const host = c.host || c.address || "unknown";
  return c.user ? c.user + "@" + host : host;
}

export const pod = (o) => (o && o.pod ? (o.namespace ? o.namespace + "/" : "") + o.pod : o && o.container ? o.container : "");

// base is a path's last part.
export const base = (path) => (path ? path.slice(path.lastIndexOf("/") + 1) || path : "");
