// A small virtual DOM: h() describes elements, patch() makes a parent's children like
// that and keeps those that stay, with their focus, selection and open details.
// Text only ever becomes text nodes and attribute values. Attributes that a browser
// would run or load (on…, href, src) are set from constants of this program alone.

const SVG = "http://www.w3.org/2000/svg";
const HTML = "http://www.w3.org/1999/xhtml";

const keys = new WeakMap(); // of nodes that have one
const known = new WeakMap(); // the attributes a node was given

// h describes an element. attrs.key tells it from its siblings, attrs.on is listeners,
// attrs.style custom properties, attrs.ref is called with the node after each patch.
export function h(tag, attrs, ...kids) {
  attrs = attrs || {};
  return { tag, attrs, key: attrs.key, kids: kids.flat(Infinity).filter((k) => k !== null && k !== undefined && typeof k !== "boolean") };
}

// patch makes parent's children what kids describe.
export function patch(parent, kids) {
  const keyed = new Map();
  const loose = [];
  const twice = []; // two children had the same key
  for (const n of parent.childNodes) {
    const k = keys.get(n);
    if (k === undefined) loose.push(n);
    else if (keyed.has(k)) twice.push(n);
    else keyed.set(k, n);
  }
  let at = parent.firstChild;
  for (const v of kids) {
    const node = reuse(v, keyed, loose) || create(v, parent);
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
    update(node, v);
  }
  for (const n of [...keyed.values(), ...loose, ...twice]) if (n.parentNode === parent) n.remove();
}

// root patches a place of the page; what the server wrote there goes first.
export function root(node, kids) {
  if (!keys.has(node)) {
    node.replaceChildren();
    keys.set(node, node.id);
  }
  patch(node, kids.filter(Boolean));
}

function reuse(v, keyed, loose) {
  if (typeof v === "object" && v.key !== undefined) {
    const n = keyed.get(v.key);
    if (!n || n.localName !== v.tag) return undefined;
    keyed.delete(v.key);
    return n;
  }
  const name = typeof v === "object" ? v.tag : undefined;
  const i = loose.findIndex((n) => (name ? n.localName === name : n.nodeType === 3));
  return i < 0 ? undefined : loose.splice(i, 1)[0];
}

function create(v, parent) {
  if (typeof v !== "object") return document.createTextNode("");
  const inSVG = v.tag === "svg" || (parent.namespaceURI === SVG && parent.localName !== "foreignObject");
  const n = document.createElementNS(inSVG ? SVG : HTML, v.tag);
  if (v.key !== undefined) keys.set(n, v.key);
  return n;
}

function update(node, v) {
  if (typeof v !== "object") {
    const s = String(v);
    if (node.data !== s) node.data = s;
    return;
  }
  attributes(node, v.attrs);
  patch(node, v.kids);
  if (v.attrs.ref) v.attrs.ref(node);
}

function attributes(node, attrs) {
  const before = known.get(node) || {};
  for (const name of Object.keys(before)) if (!(name in attrs)) set(node, name, undefined, before[name]);
  for (const name of Object.keys(attrs)) if (attrs[name] !== before[name]) set(node, name, attrs[name], before[name]);
  known.set(node, attrs);
}

function set(node, name, value, before) {
  switch (name) {
    case "key":
    case "ref":
      return;
    case "on":
      for (const e of Object.keys(before || {})) node["on" + e] = null;
      for (const e of Object.keys(value || {})) node["on" + e] = value[e];
      return;
    case "style":
      for (const p of Object.keys(before || {})) node.style.removeProperty(p);
      for (const p of Object.keys(value || {})) node.style.setProperty(p, value[p]);
      return;
    case "value": // what a person types stays
      if (node.value !== value) node.value = value ?? "";
      return;
  }
  if (value === undefined || value === null || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : String(value));
}
