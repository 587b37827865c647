// The page: a list of cases that can be filtered, one of them open, both kept in the address after its #.

const find = (id) => document.getElementById(id);
const INDEX = JSON.parse(find("index").textContent);
// An entry of the index is [name, status, reason, tags, thumbnail].
const CASES = INDEX.cases.map(([name, status, reason, tags, thumbnail], number) => ({
  number, name, status: INDEX.statuses[status], reason, tags: tags.map((tag) => INDEX.tags[tag]), thumbnail,
}));
const ROWS = 100;
const state = { status: [], tag: "", text: "", view: "side", open: "", from: 0 };
const viewer = new Viewer(find);
let listed = CASES, opened = null;

// -- the list

function made(kind, attributes, ...children) {
  const element = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function badge(status) {
  return made("span", { class: `status ${status}` }, made("span", { "aria-hidden": "true" }, INDEX.signs[status]), ` ${status}`);
}

function matching() {
  const text = state.text.toLowerCase();
  return CASES.filter((item) =>
    (!state.status.length || state.status.includes(item.status)) && (!state.tag || item.tags.includes(state.tag)) &&
    (!text || `${item.name}\n${item.reason}`.toLowerCase().includes(text)));
}

function list() {
  listed = matching();
  state.from = Math.min(state.from, Math.max(0, Math.ceil(listed.length / ROWS) - 1) * ROWS);
  const part = listed.slice(state.from, state.from + ROWS);
  find("rows").replaceChildren(...part.map(row));
  const all = CASES.length;
  find("count").textContent = listed.length === all ? `${all} cases` : `${listed.length} of ${all} cases`;
  find("pager").hidden = listed.length <= ROWS;
  find("place").textContent = `${state.from + 1} to ${state.from + part.length}`;
  find("earlier").disabled = state.from === 0;
  find("later").disabled = state.from + ROWS >= listed.length;
  for (const button of find("statuses").children) {
    button.setAttribute("aria-pressed", state.status.includes(button.dataset.status));
  }
  find("text").value = state.text;
  find("tag").value = state.tag;
  mark();
}

function row(item) {
  const picture = item.thumbnail
    ? made("img", { src: `data:image/jpeg;base64,${item.thumbnail}`, alt: "", class: "thumbnail" })
    : made("span", { class: "thumbnail" });
  const text = made("span", { class: "text" }, made("bdi", { class: "name" }, item.name), made("span", { class: "why" }, item.reason));
  const button = made("button", { type: "button", "data-number": item.number }, picture, text, badge(item.status));
  button.addEventListener("click", () => go(item));
  return made("li", {}, button);
}

function mark() {
  for (const button of find("rows").querySelectorAll("button")) {
    const current = opened && Number(button.dataset.number) === opened.number;
    if (current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

// -- a case

function go(item) {
  state.open = item ? item.name : "";
  keep();
  open(item);
}

// The case's part of the page stands in a <noscript>, which is mere text here until the case is opened.
async function open(item) {
  if (opened === item) return;
  opened = item;
  viewer.empty();
  document.body.classList.toggle("opened", Boolean(item));
  find("case").hidden = !item;
  find("overview").hidden = Boolean(item);
  mark();
  if (!item) return;
  find("name").replaceChildren(badge(item.status), " ", made("bdi", {}, item.name));
  find("reason").textContent = item.reason;
  find("place-of-case").textContent = `${listed.indexOf(item) + 1 || "–"} of ${listed.length}`;
  find("facts").replaceChildren();
  find("viewer").hidden = true;
  if (document.readyState === "loading") {
    await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
    if (opened !== item) return;
  }
  const source = document.querySelectorAll("#cases > noscript")[item.number].textContent;
  const body = new DOMParser().parseFromString(source, "text/html").querySelector(".body");
  const pictures = body.querySelector(".pictures");
  pictures?.remove();
  find("facts").replaceChildren(...body.childNodes);
  find("viewer").hidden = !pictures;
  find("case").scrollTop = 0;
  if (!document.activeElement?.closest("#list")) find("name").focus({ preventScroll: false });
  if (!pictures) return;
  const about = JSON.parse(pictures.querySelector("script").textContent);
  const found = {};
  try {
    for (const which of ["reference", "result", "heat"]) {
      const side = about[which], data = pictures.querySelector(`[data-of="${which}"]`);
      if (!side) continue;
      const text = side.kind === "png" ? data.getAttribute("src").split(",")[1] : data.content.textContent;
      const bytes = bytesOf(text);
      found[which] = { ...side, ...(side.kind === "png" ? await fromPng(bytes) : await fromFloats(bytes, side)) };
    }
  } catch (error) {
    find("values").textContent = `The pictures cannot be shown: ${error.message}`;
    return;
  }
  if (opened !== item) return;
  about.palette = INDEX.palette;
  viewer.show(found, about, `${item.name}: ${item.reason}`, state.view);
  viewer.float = ["reference", "result"].some((which) => found[which] && (found[which].range === 1 || found[which].linear));
  choose();
}

function step(by) {
  const at = opened ? listed.indexOf(opened) + by : by > 0 ? 0 : listed.length - 1;
  const next = listed[at];
  if (!next) return;
  if (at < state.from || at >= state.from + ROWS) {
    state.from = Math.floor(at / ROWS) * ROWS;
    list();
  }
  go(next);
  find("rows").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

function choose(view = state.view) {
  state.view = view;
  if (viewer.any) viewer.use(view);
  for (const button of find("views").children) {
    button.disabled = !viewer.can(button.dataset.view);
    button.setAttribute("aria-pressed", viewer.view === button.dataset.view);
  }
  const spec = AMOUNTS[viewer.view], range = find("amount");
  find("amount-label").hidden = !spec;
  if (spec) {
    const [name, min, max, stepping] = spec;
    find("amount-name").textContent = name;
    Object.assign(range, { min, max, step: stepping });
    range.value = viewer.amounts[viewer.view];
  }
  find("exposure-label").hidden = !viewer.float;
  find("exposure").value = viewer.float ? viewer.exposure : 0;
  if (!viewer.float) viewer.setExposure(0);
  find("worst").disabled = !viewer.about.worst && !viewer.heat;
  tellRanges();
}

function tellRanges() {
  find("amount-value").textContent = find("amount").value;
  find("exposure-value").textContent = `${viewer.exposure > 0 ? "+" : ""}${viewer.exposure} EV`;
  find("exposure").setAttribute("aria-valuetext", find("exposure-value").textContent);
}

function amount(by) {
  const range = find("amount");
  if (find("amount-label").hidden) return;
  if (by > 0) range.stepUp(by);
  else range.stepDown(-by);
  range.dispatchEvent(new Event("input"));
}

function expose(by) {
  const range = find("exposure");
  if (find("exposure-label").hidden) return;
  range.value = Number(range.value) + by;
  range.dispatchEvent(new Event("input"));
}

// -- the address

function keep() {
  const kept = new URLSearchParams();
  if (state.status.length) kept.set("status", state.status.join(","));
  for (const name of ["tag", "text", "open"]) if (state[name]) kept.set(name, state[name]);
  if (state.view !== "side") kept.set("view", state.view);
  if (state.from) kept.set("from", state.from);
  if (!String(kept)) kept.set("open", ""); // an address that says nothing opens the worst case
  history.replaceState(null, "", `#${kept}`);
}

// The cases stand in the order of their statuses, and those of one status the worst first.
function worstCase() {
  const of = (...statuses) => CASES.find((item) => statuses.includes(item.status));
  return of("failed", "size") || of("error", "missing") || of("warned") || of("new", "renamed") || null;
}

function restore() {
  const kept = new URLSearchParams(location.hash.slice(1));
  state.status = (kept.get("status") || "").split(",").filter((status) => INDEX.statuses.includes(status));
  for (const name of ["tag", "text", "open"]) state[name] = kept.get(name) || "";
  if (!INDEX.tags.includes(state.tag)) state.tag = "";
  state.view = kept.get("view") in VIEWS ? kept.get("view") : "side";
  state.from = Math.max(0, Math.floor((Number(kept.get("from")) || 0) / ROWS) * ROWS);
  list();
  if (!String(kept)) state.open = worstCase()?.name || "";
  open(CASES.find((item) => item.name === state.open) || null);
  if (viewer.any) choose();
}

function filter(change) {
  Object.assign(state, change, { from: 0 });
  keep();
  list();
}

// -- what people do

const KEYS = {
  "?": () => find("help").showModal(),
  "/": () => find("text").focus(),
  j: () => step(1),
  k: () => step(-1),
  Escape: () => go(null),
  " ": () => exchange(),
  x: () => exchange(),
  ",": () => amount(-1),
  ".": () => amount(1),
  "[": () => expose(-0.5),
  "]": () => expose(0.5),
  "+": () => viewer.scaleTo(viewer.zoom * 2),
  "-": () => viewer.scaleTo(viewer.zoom / 2),
  0: () => fit(),
  z: () => viewer.scaleTo(1),
  w: () => viewer.worst(),
};
Object.keys(VIEWS).forEach((view, at) => (KEYS[at + 1] = () => pick(view)));

function pick(view) {
  if (!viewer.can(view)) return;
  choose(view);
  keep();
}

// Shows the other of both pictures in the place of one.
function exchange() {
  if (!viewer.can("blink")) return;
  if (viewer.view !== "blink") pick("blink");
  clearInterval(viewer.timer);
  viewer.flip();
}

function fit() {
  viewer.fit();
  viewer.draw();
}

function start() {
  document.body.classList.replace("plain", "live");
  const counts = {};
  for (const item of CASES) counts[item.status] = (counts[item.status] || 0) + 1;
  for (const status of INDEX.statuses.filter((name) => counts[name])) {
    const button = made("button", { type: "button", "data-status": status, "aria-pressed": "false" }, badge(status), ` ${counts[status]}`);
    button.addEventListener("click", () => {
      const others = state.status.filter((name) => name !== status);
      filter({ status: others.length < state.status.length ? others : [...others, status] });
    });
    find("statuses").append(button);
  }
  find("tag").append(...INDEX.tags.map((tag) => made("option", { value: tag }, tag)));
  find("tag").parentElement.hidden = !INDEX.tags.length;
  for (const [view, name] of Object.entries(VIEWS)) {
    const button = made("button", { type: "button", "data-view": view, "aria-pressed": "false" }, name);
    button.addEventListener("click", () => pick(view));
    find("views").append(button);
  }
  find("filter").addEventListener("submit", (event) => event.preventDefault());
  find("text").addEventListener("input", (event) => filter({ text: event.target.value }));
  find("tag").addEventListener("change", (event) => filter({ tag: event.target.value }));
  find("amount").addEventListener("input", (event) => {
    viewer.setAmount(Number(event.target.value));
    tellRanges();
  });
  find("exposure").addEventListener("input", (event) => {
    viewer.setExposure(Number(event.target.value));
    tellRanges();
  });
  const turn = (by) => () => {
    state.from += by;
    keep();
    list();
  };
  const clicks = {
    earlier: turn(-ROWS), later: turn(ROWS), before: KEYS.k, after: KEYS.j, close: KEYS.Escape, keys: KEYS["?"],
    closer: KEYS["+"], farther: KEYS["-"], fit, actual: KEYS.z, worst: KEYS.w, exchange,
  };
  for (const [id, act] of Object.entries(clicks)) find(id).addEventListener("click", act);
  document.addEventListener("keydown", (event) => {
    // Keys belong to what takes text and to the open dialog, and Space to what it would press.
    const typing = event.target.closest("dialog, select, [type=search]") ||
      (event.key === " " && event.target.closest("button, input, a"));
    if (event.key === "Escape" && event.target.id === "text") return event.target.blur();
    if (typing || event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(KEYS, event.key)) return undefined;
    event.preventDefault();
    return KEYS[event.key]();
  });
  addEventListener("hashchange", restore);
  restore();
}

start();
