// Live updates: puts what the server sends where the old was, keeps focus and open details, and counts the seconds.
"use strict";

const live = document.getElementById("live");
const LINES_MAX = 200;

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

function follow(root) {
  const link = document.getElementById("live-link");
  const source = new EventSource(root.dataset.stream);
  source.onopen = () => { link.dataset.state = "on"; };
  source.onerror = () => { link.dataset.state = "lost"; link.textContent = "the viewer does not answer; trying again"; };
  source.onmessage = (message) => {
    const update = JSON.parse(message.data);
    for (const [id, html] of Object.entries(update.parts)) {
      const place = document.getElementById(id);
      if (place) morphChildren(place, parsed(html)); else if (id.startsWith("live-seat-") || id.startsWith("live-bench-")) location.reload();
    }
    append(update.lines);
    tick();
    link.dataset.state = "on";
    link.textContent = `${update.standing === "running" ? "live" : update.standing}, as of event ${update.seq}`;
    root.dataset.seq = update.seq;
  };
  addEventListener("pagehide", () => source.close());
}

tick();
setInterval(tick, 1000);
if (live) follow(live);
