// Numbers as people read them, and elements.

function significant(value) {
  return value >= 100 || value === 0 ? value.toFixed(0) : value.toPrecision(3);
}

function duration(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (Math.abs(ns) >= size) return `${significant(ns / size)} ${unit}`;
  }
  return `${significant(ns)} ns`;
}

function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

function bytes(value) {
  let unit = 0;
  for (; Math.abs(value) >= 1024 && unit < 5; ++unit) value /= 1024;
  return `${significant(value)} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][unit]}`;
}

// Text goes into elements as text alone: what a name holds is never read as HTML.
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function show(id) {
  byId(id).hidden = false;
}

// A head and a row for each of `rows`, by columns: [title, text of a row, whether it is no number].
function fillTable(id, columns, rows) {
  const nameOf = (isText) => (isText ? "text" : "");
  byId(id).tHead.append(element("tr", {}, ...columns.map(([title, , isText]) => (
    element("th", { scope: "col", className: nameOf(isText), textContent: title })))));
  byId(id).tBodies[0].append(...rows.map((row) => element("tr", {}, ...columns.map(([, textOf, isText]) => {
    const text = textOf(row);
    return element("td", { className: nameOf(isText), textContent: text, title: isText ? text : "" });
  }))));
}

function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const dark = matchMedia("(prefers-color-scheme: dark)");

// The same for the same text.
function hueOf(text) {
  let hash = 7;
  for (let i = 0; i < text.length; ++i) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return (hash * 137) % 360;
}
