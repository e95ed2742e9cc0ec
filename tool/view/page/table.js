// The table of calls: sorted by any column, filtered by parts of names.

const kColumns = [
  { title: "Name", value: (call) => call.name, text: true },
  { title: "Type", value: (call) => call.type, text: true },
  { title: "Count", value: (call) => call.count, show: grouped },
  { title: "Total", value: (call) => call.total, show: duration, timed: true },
  { title: "Mean", value: (call) => call.total / call.timed, show: duration, timed: true },
  { title: "p50", value: (call) => call.p50, show: duration, timed: true },
  { title: "p99", value: (call) => call.p99, show: duration, timed: true },
  { title: "Max", value: (call) => call.max, show: duration, timed: true },
];
const kMostRows = 1000; // that are shown at once

function readCalls(about) {
  return about.calls.map(([type, name, count, timed, total, min, p50, p99, max, buckets]) => (
    { type, name, count, timed, total, min, p50, p99, max, buckets }));
}

class CallTable {
  constructor(calls) {
    this.calls = calls.filter((call) => call.count > 0);
    this.column = kColumns[3];
    this.descends = true;
    byId("calls").tHead.append(element("tr", {}, ...kColumns.map((column) => this.head(column))));
    byId("filter").addEventListener("input", () => this.fill());
    this.fill();
  }

  head(column) {
    const button = element("button", { type: "button", textContent: column.title });
    button.addEventListener("click", () => {
      this.descends = column === this.column ? !this.descends : !column.text;
      this.column = column;
      this.fill();
    });
    column.cell = element("th", { scope: "col", className: column.text ? "text" : "" }, button);
    return column.cell;
  }

  compare(a, b) {
    const { value, text, timed } = this.column;
    if (timed && (a.timed === 0 || b.timed === 0)) return (b.timed > 0) - (a.timed > 0) || b.count - a.count;
    const order = text ? value(a).localeCompare(value(b)) : value(a) - value(b);
    return this.descends ? -order : order;
  }

  fill() {
    const wanted = byId("filter").value.toLowerCase().split(/\s+/);
    const fits = (call) => wanted.every((part) => `${call.type} ${call.name}`.toLowerCase().includes(part));
    const found = this.calls.filter(fits).sort((a, b) => this.compare(a, b));
    const rows = found.slice(0, kMostRows).map((call) => element("tr", {}, ...kColumns.map((column) => cellOf(column, call))));
    byId("calls").tBodies[0].replaceChildren(...rows);
    byId("shown").textContent = `${found.length} of ${this.calls.length} names${found.length > kMostRows ? `, the first ${kMostRows} are shown` : ""}`;
    for (const { cell } of kColumns) cell.removeAttribute("aria-sort");
    this.column.cell.setAttribute("aria-sort", this.descends ? "descending" : "ascending");
  }
}

function cellOf({ value, show: format, text, timed }, call) {
  const cell = element("td", { className: text ? "text" : "" });
  const known = !timed || call.timed > 0;
  if (known) cell.textContent = format ? format(value(call)) : value(call);
  if (known && !text) cell.dataset.value = value(call);
  if (text) cell.title = value(call);
  return cell;
}
