// What makes the pages live: figures that change, parts that are fetched anew, keys, deeds.
// The server makes every text and all HTML; here nothing is spelled, and nothing is put together
// as HTML from what a message or a function says.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const LOST_MS = 6000;
const REFRESH_MS = 2000;

document.documentElement.dataset.js = "";

// -- figures: each element with data-k shows the cell of that key

let places = new Map();
let cells = {};

function find() {
  places = new Map();
  for (const element of $$("[data-k]")) {
    const key = element.dataset.k;
    places.has(key) ? places.get(key).push(element) : places.set(key, [element]);
  }
}

function show(key, value) {
  if (key.endsWith(".d")) {
    for (const path of places.get(key) ?? []) path.setAttribute("d", value ?? "");
  } else if (key.endsWith(".s")) {
    for (const element of places.get(key.slice(0, -2)) ?? []) element.dataset.s = value ?? "";
  } else {
    for (const element of places.get(key) ?? []) {
      if (element.textContent !== (value ?? "")) element.textContent = value ?? "";
    }
  }
}

function take({ whole, cells: told }) {
  cells = whole ? told : { ...cells, ...told };
  for (const [key, value] of Object.entries(told)) show(key, value);
  for (const part of $$("[data-refresh]")) {
    if (part.dataset.seen !== (cells[part.dataset.refresh] ?? "")) stale.add(part.id);
  }
  refresh();
}

// -- parts: fetched as the page that they stand in, and put in place of what is there

const stale = new Set();
let fetching = false;
let fetchedAt = 0;

async function load(address) {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (answer.status === 401) location.reload(); // to where a key is asked for
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 300) || answer.statusText);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function busyWith(part) {
  const chosen = getSelection();
  return !chosen.isCollapsed && part.contains(chosen.anchorNode);
}

async function refresh() {
  if (fetching || !stale.size || Date.now() - fetchedAt < REFRESH_MS) return;
  fetching = true;
  fetchedAt = Date.now();
  const wanted = [...stale];
  stale.clear();
  try {
    const fresh = await load(location.href);
    for (const id of wanted) put(id, fresh, true);
    settle();
  } catch {
    // The next event tries again.
  } finally {
    fetching = false;
  }
}

function put(id, fresh, byItself = false) {
  const old = document.getElementById(id);
  const made = fresh.getElementById(id);
  if (!old || !made || busyWith(old)) return;
  // Who reads a run keeps it, also when a busy function has left it behind.
  if (byItself && $("tr.detail", old) && !$("tr.detail", made)) return;
  const open = $$("details", old).map((each) => each.open);
  const scrolled = $$("pre", old).map((each) => each.scrollTop);
  const row = old.contains(document.activeElement) && document.activeElement.closest("[data-row]");
  old.replaceWith(document.adoptNode(made));
  $$("details", made).forEach((each, at) => (each.open = open[at] ?? each.open));
  $$("pre", made).forEach((each, at) => (each.scrollTop = scrolled[at] ?? 0));
  if (row) $(`[data-row="${CSS.escape(row.dataset.row)}"] .open`, made)?.focus();
}

function settle() {
  find();
  for (const [key, value] of Object.entries(cells)) show(key, value);
  mark();
  filterRows();
  count();
}

// Go to an address without leaving: all parts that both pages have are put in place.
async function swap(address, remember = true) {
  try {
    const fresh = await load(address);
    if (remember) history.pushState({}, "", address);
    for (const part of $$("[data-part]")) put(part.id, fresh);
    settle();
  } catch (error) {
    say(error.message, true);
  }
}

// -- the stream: closed while nobody sees the page, opened again by itself

let source;
let heardAt = Date.now();
let again;

function listen() {
  if (document.hidden || source) return;
  source = new EventSource("/api/events");
  source.addEventListener("cells", (event) => {
    heardAt = Date.now();
    $("#lost").hidden = true;
    document.documentElement.dataset.live = "";
    take(JSON.parse(event.data));
  });
  source.addEventListener("error", () => {
    if (source?.readyState === EventSource.CLOSED) refused();
  });
}

// The host has answered, but not with a stream: a key is needed anew, or too many pages are open.
async function refused() {
  hush();
  again = setTimeout(listen, 3000);
  try {
    await load(location.href);
    since("too many pages watch this host; the figures are those of");
  } catch {
    // The watch says so.
  }
}

function hush() {
  source?.close();
  source = undefined;
  clearTimeout(again);
  delete document.documentElement.dataset.live;
}

function watch() {
  if (document.hidden || !source || Date.now() - heardAt < LOST_MS) return;
  delete document.documentElement.dataset.live;
  since("no answer since");
}

function since(words) {
  const text = `${words} ${new Date(heardAt).toISOString().slice(11, 19)} UTC`;
  const shown = $("#lost .text");
  if (shown.textContent !== text) shown.textContent = text;
  $("#lost").hidden = false;
}

document.addEventListener("visibilitychange", () => {
  heardAt = Date.now();
  document.hidden ? hush() : listen();
});
addEventListener("pagehide", hush);
addEventListener("pageshow", listen);

// -- rows: one is marked, and keys move the mark

let marked = 0;
const rows = () => $$("[data-row]").filter((each) => !each.hidden);

function mark(to = marked, focus = false) {
  const all = rows();
  marked = Math.max(0, Math.min(to, all.length - 1));
  if (!focus || !all[marked]) return;
  $(".open", all[marked])?.focus();
  all[marked].scrollIntoView({ block: "nearest" });
}

function filterRows() {
  const field = $("[data-filter]");
  const text = field?.value.toLowerCase() ?? "";
  if (!field) return;
  for (const row of $$("[data-row]")) row.hidden = !row.textContent.toLowerCase().includes(text);
}

function count() {
  const chosen = $$("#poison td.check input:checked").length;
  for (const button of $$('[data-which="selected"]')) button.disabled = !chosen;
}

// -- deeds: a POST with the header that a form of another site cannot send

function say(text, bad = false) {
  const toast = $("#toast");
  toast.textContent = text;
  toast.dataset.s = bad ? "bad" : "ok";
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (toast.textContent = ""), bad ? 12000 : 6000);
}

async function post(address, content) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", "x-qtrigger-action": "1" },
    body: JSON.stringify(content),
  });
  const text = await answer.text();
  let found = {};
  try {
    found = JSON.parse(text);
  } catch {}
  if (!answer.ok) throw new Error(found.error?.message ?? found.error ?? (text || answer.statusText));
  return found;
}

async function act(element, content) {
  try {
    await post(element.dataset.post, content);
    say(element.dataset.done);
    element.closest("dialog")?.close();
    await swap(location.href, false);
  } catch (error) {
    say(error.message, true);
  }
}

function fields(form) {
  const content = {};
  for (const field of $$("[name]", form)) {
    if (field.value === "" && field.name !== "text") continue;
    content[field.name] = "number" in field.dataset ? Number(field.value) : field.value;
  }
  return content;
}

let going;

function ask(button, ids) {
  const { deed, which } = button.dataset;
  const many = which === "selected";
  const number = many ? ids.length : Number(button.dataset.count);
  const content = many ? { ids, confirm: number } : { ...JSON.parse(which), confirm: number };
  const about = many || number < 2 ? number : `${number.toLocaleString("en")} or so`;
  const noun = number === 1 ? "message" : "messages";
  $("#confirm-title").textContent = `${deed === "delete" ? "Delete" : "Requeue"} ${about} ${noun}?`;
  $("#confirm-text").textContent =
    deed === "delete"
      ? "They are gone for good; nothing brings them back."
      : "Each goes back to the queue it came from, and has all its tries again.";
  const go = $("#confirm-go");
  go.textContent = deed === "delete" ? "Delete" : "Requeue";
  go.className = deed === "delete" ? "danger" : "strong";
  go.disabled = false;
  $("#confirm-progress").hidden = true;
  going = async () => {
    go.disabled = true;
    $("#confirm-progress").hidden = false;
    try {
      const begun = await post(button.dataset.post, content);
      const end = await finished(begun.deed, number);
      say(end.text, end.bad);
    } catch (error) {
      say(error.message, true);
    }
    $("#confirm").close();
    await swap(location.href, false);
  };
  $("#confirm").showModal();
  go.focus();
}

async function finished(deed, number) {
  const progress = $("#confirm-progress");
  for (;;) {
    const answer = await fetch(`/api/deeds/${encodeURIComponent(deed)}`);
    if (!answer.ok) throw new Error(`what became of it is not known: ${answer.status}`);
    const found = await answer.json();
    if (number > 1) (progress.max = Math.max(number, found.moved)), (progress.value = found.moved);
    $("#confirm-text").textContent = outcome(found);
    if (found.state !== "running") return { text: outcome(found), bad: found.state !== "done" };
    await new Promise((done) => setTimeout(done, 400));
  }
}

const outcome = ({ word, moved, left, reason }) =>
  `${word} ${moved.toLocaleString("en")}` +
  (left ? `, left ${left.toLocaleString("en")}` : "") +
  (reason ? ` (${reason})` : "");

// -- what a person does

document.addEventListener("click", (event) => {
  const found = (selector) => event.target.closest(selector);
  let element;
  if ((element = found("a[data-swap]"))) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    swap(element.href);
  } else if ((element = found("[data-open]"))) {
    document.getElementById(element.dataset.open).showModal();
  } else if (found("[data-close]") || event.target.nodeName === "DIALOG") {
    found("dialog").close();
  } else if ((element = found("button[data-deed]"))) {
    ask(element, $$("#poison td.check input:checked").map((each) => each.value));
  } else if ((element = found("button[data-post]"))) {
    act(element, {});
  } else if (found("#confirm-go")) {
    going();
  } else if ((element = found("[data-row]")) && !found("a,button,input,label,td.check")) {
    if (getSelection().isCollapsed) $(".open", element)?.click();
  }
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if ("post" in form.dataset) event.preventDefault(), act(form, fields(form));
  if ("swap" in form.dataset) event.preventDefault(), swap(query(form));
});

const query = (form) => {
  const given = [...new FormData(form)].filter(([name, value]) => value !== "" || name === "error");
  const written = new URLSearchParams(given).toString();
  return new URL(form.action).pathname + (written && `?${written}`);
};

let typing;
document.addEventListener("input", (event) => {
  if ("filter" in event.target.dataset) filterRows();
  const form = event.target.closest("form[data-swap]");
  clearTimeout(typing);
  if (form) typing = setTimeout(() => swap(query(form)), 250);
  if (event.target.closest("td.check")) count();
});
document.addEventListener("focusin", (event) => {
  const row = event.target.closest("[data-row]");
  if (row) marked = rows().indexOf(row);
});
addEventListener("popstate", () => location.reload());

let before = "";
document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input:not([type=checkbox]),select,textarea");
  if (event.key === "Escape" && field) field.blur();
  if (field || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  const row = rows()[marked];
  const box = row && $("td.check input", row);
  const keys = {
    "/": () => $(".filter")?.focus(),
    "?": () => $("#keys").showModal(),
    j: () => mark(document.activeElement.closest("[data-row]") ? marked + 1 : marked, true),
    k: () => mark(marked - 1, true),
    x: () => box?.click(),
    r: () => {
      const button = $('[data-deed="requeue"][data-which="selected"]');
      const chosen = $$("#poison td.check input:checked").map((each) => each.value);
      if (button && (chosen.length || box)) ask(button, chosen.length ? chosen : [box.value]);
    },
    p: () => $('[data-key="p"]')?.click(),
  };
  const go = before === "g" && $(`[data-go="${CSS.escape(event.key)}"]`);
  before = event.key;
  if (go) go.click();
  else if (keys[event.key]) event.preventDefault(), keys[event.key]();
});

find();
count();
listen();
setInterval(watch, 1000);
