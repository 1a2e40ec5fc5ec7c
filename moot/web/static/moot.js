// Live updates: puts what the server sends where the old was, keeps focus and open details, and counts the seconds.
"use strict";

const live = document.getElementById("live");
const LINES_MAX = 200, KEPT_MAX = 3;

function tick() {
  for (const one of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(one.dataset.since)) / 1000));
    if (Number.isNaN(seconds)) continue;
    const minutes = Math.floor(seconds / 60) % 60, hours = Math.floor(seconds / 3600);
    const two = (n) => String(n).padStart(2, "0");
    one.textContent = hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
  }
}

// The server escapes all text, and the page's policy runs no script that a text could bring; a parser's document runs none.
function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

function sameKind(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName
    && (a.nodeType !== 1 || a.dataset.key === b.dataset.key);
}

function morph(old, fresh) {
  if (old.nodeType === 3) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.nodeType !== 1) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS")) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old.hasAttribute("data-since")) return;
  morphChildren(old, fresh);
}

function morphChildren(old, fresh) {
  const keyed = new Map();
  for (const child of old.children) if (child.dataset.key) keyed.set(child.dataset.key, child);
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const key = wanted.nodeType === 1 ? wanted.dataset.key : undefined;
    const kept = key !== undefined ? keyed.get(key) : (place && sameKind(place, wanted) ? place : null);
    if (kept) {
      if (kept !== place) old.insertBefore(kept, place); else place = place.nextSibling;
      morph(kept, wanted);
    } else {
      const node = document.adoptNode(wanted);
      if (key !== undefined) node.classList.add("fresh");
      old.insertBefore(node, place);
    }
  }
  while (place) { const next = place.nextSibling; place.remove(); place = next; }
}

function append(lines) {
  const list = document.getElementById("live-lines");
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  for (const [seq, html] of lines) {
    if (list.querySelector(`[data-key="${Number(seq)}"]`)) continue;
    list.append(...parsed(html).children);
  }
  while (list.children.length > LINES_MAX) list.firstElementChild.remove();
  if (atEnd) list.scrollTop = list.scrollHeight;
}

// A seat that the page did not have when it was loaded.
function seat(id) {
  const section = document.createElement("section"), argues = id.startsWith("live-seat-");
  section.id = id;
  section.className = argues ? "seat" : "seat judge";
  if (argues) document.querySelector(".columns").append(section); else document.getElementById("live-house").before(section);
  return section;
}

// When another round begins, what stood there is kept below it, open, so that nobody loses the line that they read.
function keep(head) {
  const round = (body) => body.querySelector("[data-round]")?.dataset.round;
  const before = round(document.getElementById("live-head"));
  if (!head || !before || before === round(parsed(head))) return;
  const stage = document.getElementById("live-stage"), kept = document.createElement("details"), title = document.createElement("summary");
  const copy = stage.cloneNode(true);
  for (const one of [copy, ...copy.querySelectorAll("[id], .thinking")]) {
    if (one.className === "thinking") one.remove(); else one.removeAttribute("id");
  }
  const open = [...stage.querySelectorAll("details")].map((one) => one.open);
  copy.querySelectorAll("details").forEach((one, n) => { one.open = open[n]; });
  title.textContent = `Round ${before}, as you last saw it`;
  kept.className = "kept"; kept.open = true; kept.append(title, copy);
  stage.after(kept);
  while (document.querySelectorAll(".kept").length > KEPT_MAX) [...document.querySelectorAll(".kept")].pop().remove();
}

// What stands at the top of the window when somebody has scrolled there: an update leaves it where it is.
function reading() {
  if (scrollY === 0) return undefined;
  const line = document.getElementById("live-verdict").getBoundingClientRect().bottom;
  for (const one of document.querySelectorAll("#live .act")) {
    const { top, bottom } = one.getBoundingClientRect();
    if (bottom > line && top < innerHeight) return { key: one.dataset.key, top };
  }
  return undefined;
}

function stay(before) {
  const now = before && document.querySelector(`#live .act[data-key="${CSS.escape(before.key)}"]`);
  if (now) scrollBy(0, now.getBoundingClientRect().top - before.top);
}

function follow(root) {
  const link = document.getElementById("live-link");
  const source = new EventSource(root.dataset.stream);
  source.onopen = () => { link.dataset.state = "on"; };
  source.onerror = () => { link.dataset.state = "lost"; link.textContent = "the viewer does not answer; trying again"; };
  source.onmessage = (message) => {
    const update = JSON.parse(message.data);
    const before = reading();
    keep(update.parts["live-head"]);
    for (const [id, html] of Object.entries(update.parts)) {
      morphChildren(document.getElementById(id) ?? seat(id), parsed(html));
    }
    cards.clear();
    stay(before);
    append(update.lines);
    tick();
    link.dataset.state = "on";
    link.textContent = `${update.standing === "running" ? "live" : update.standing}, as of event ${update.seq}`;
    root.dataset.seq = update.seq;
  };
  addEventListener("pagehide", () => source.close());
}

// A card for the id that somebody points at or stands on: it stays while the pointer is on it, and Escape closes it.
// The server is asked for it, once until the run goes on.
const cards = new Map();
const hover = document.createElement("div");
let wanted;

function card_of(link) {
  const at = new URL(link.href).pathname, place = at.replace("/event/", "/card/");
  if (place === at) return undefined;
  if (!cards.has(place)) {
    const asked = fetch(place).then((answer) => answer.ok ? answer.text() : "");
    cards.set(place, asked.then((html) => parsed(html).firstElementChild, () => null));
  }
  return cards.get(place);
}

async function show(link) {
  if (hover.contains(link)) return;
  wanted = link;
  const card = await card_of(link);
  if (!card || wanted !== link) return;
  hover.replaceChildren(card.cloneNode(true));
  hover.hidden = false;
  const at = link.getBoundingClientRect(), box = hover.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - box.width - 8));
  const below = at.bottom + box.height + 8 < innerHeight;
  hover.style.left = `${left + scrollX}px`;
  hover.style.top = `${(below ? at.bottom + 2 : at.top - box.height - 2) + scrollY}px`;
  link.setAttribute("aria-describedby", "hover");
}

function hide() {
  wanted = undefined;
  hover.hidden = true;
  for (const one of document.querySelectorAll("[aria-describedby=hover]")) one.removeAttribute("aria-describedby");
}

function follow_ids() {
  hover.id = "hover"; hover.className = "hover"; hover.hidden = true; hover.setAttribute("role", "tooltip");
  document.querySelector("footer").append(hover);
  let wait;
  const over = (event) => {
    const link = event.target.closest("a.id");
    clearTimeout(wait);
    if (link) wait = setTimeout(show, event.type === "focusin" ? 0 : 150, link);
    else if (!hover.contains(event.target)) wait = setTimeout(hide, 200);
  };
  document.addEventListener("mouseover", over);
  document.addEventListener("focusin", over);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}

// Tables in the order of a column, and only the rows that have the words of a field in them; the server does both, too.
function value_of(row, n) {
  const cell = row.cells[n], value = cell ? cell.dataset.value ?? cell.textContent.trim() : "";
  return value !== "" && !Number.isNaN(Number(value)) ? Number(value) : value.toLowerCase();
}

function sort(link, event) {
  event.preventDefault();
  const head = link.closest("th"), body = head.closest("table").tBodies[0], n = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const one of head.parentNode.cells) one.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...body.rows].map((row) => [value_of(row, n), row]);
  rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1));
  body.append(...rows.map(([, row]) => row));
}

function filter(form) {
  const fields = [...form.querySelectorAll("[data-filter]")], choices = fields.filter((one) => one.nodeName === "SELECT" && one.value);
  const words = fields.filter((one) => one.type === "search").flatMap((one) => one.value.toLowerCase().split(/\s+/)).filter(Boolean);
  for (const row of document.querySelector(fields[0].dataset.filter)?.tBodies[0].rows ?? []) {
    const text = row.textContent.toLowerCase();
    const chosen = choices.every((one) => row.querySelector(`[data-name="${one.name}"]`)?.dataset.value === one.value);
    row.hidden = !chosen || !words.every((word) => text.includes(word));
  }
}

// A command is copied by a button; without a script it is selected as a whole by a click.
function copyable(code) {
  const button = document.createElement("button");
  button.type = "button"; button.className = "copy"; button.textContent = "copy";
  button.setAttribute("aria-label", `copy: ${code.textContent}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });
  code.after(" ", button);
}

if (navigator.clipboard) for (const code of document.querySelectorAll(".command code")) copyable(code);
for (const link of document.querySelectorAll("a[data-sort]")) link.addEventListener("click", (event) => sort(link, event));
for (const field of document.querySelectorAll("[data-filter]")) field.addEventListener("input", () => filter(field.form));
follow_ids();
tick();
setInterval(tick, 1000);
if (live) follow(live);
