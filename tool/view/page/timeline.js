// Calls on a canvas. What is narrower than a pixel is drawn as one bar with its neighbours, so that
// a frame costs as many steps as there are pixels, however many calls there are.

const kRowHeight = 17;
const kLaneTitle = 18;
const kAxis = 22;
const kShortest = 20; // ns that the whole width may show
const kMargin = 0.01; // beside what happened, of its time
const kLowest = 420; // pixels; a high window shows more lanes
const kOfWindow = 0.75;

class Timeline {
  constructor(canvas, trace) {
    this.canvas = canvas;
    this.trace = trace;
    this.whole = Math.max(trace.about.duration_ns, 1);
    this.top = 0;
    this.onRange = () => {};
    [this.begin, this.end] = this.happened = happenedIn(trace);
    this.place();
    this.recolor();
    new ResizeObserver(() => this.resize()).observe(canvas);
    dark.addEventListener("change", () => this.recolor());
    this.resize();
  }

  // Lanes of a thread stand together; rows are below the title of their lane. Those of threads and processes that are
  // folded away have no place.
  place() {
    this.processes ??= processesOf(this.trace);
    const idle = this.processes.flatMap(({ threads }) => threads.filter(({ isIdle }) => isIdle));
    this.folded = idle.length > 1 && !this.showsIdle ? idle : [];
    this.idle = idle.length;
    this.titles = [];
    for (const row of this.trace.rows) row.y = -Infinity;
    let y = 0;
    for (const process of this.processes) {
      if (this.processes.length > 1) {
        this.titles.push({ y, text: headOf(process), process });
        y += kLaneTitle;
      }
      if (process.isOpen) y = this.placeThreads(process, y);
    }
    this.height = y;
    const most = Math.max(kLowest, kOfWindow * innerHeight);
    this.canvas.style.height = `${Math.min(y + kAxis + 2, most)}px`;
    const texts = (of) => JSON.stringify(this.titles.filter(of).map(({ text }) => text));
    this.canvas.dataset.lanes = texts(({ process }) => !process);
    this.canvas.dataset.processes = texts(({ process }) => process);
  }

  placeThreads({ threads }, top) {
    let y = top;
    for (const { pid, tid, comm, lanes } of threads.filter((thread) => !this.folded.includes(thread))) {
      for (const { rows, type } of lanes) {
        this.titles.push({ y, text: `${comm} ${pid === tid ? pid : `${pid}/${tid}`} · ${type}` });
        for (const row of rows) row.y = y + kLaneTitle + row.depth * kRowHeight;
        y += kLaneTitle + (1 + Math.max(...rows.map((row) => row.depth))) * kRowHeight + 4;
      }
    }
    return y;
  }

  open(processes, yes) {
    for (const process of processes) process.isOpen = yes;
    this.place();
    this.pan(0); // as far up as there is something
  }

  // Whose head is there, or undefined.
  processAt(y) {
    const at = y - kAxis + this.top;
    return this.titles.find((title) => title.process && at >= title.y && at < title.y + kLaneTitle)?.process;
  }

  showIdle(yes) {
    this.showsIdle = yes;
    this.place();
    this.pan(0); // as far up as there is something
  }

  recolor() {
    const light = dark.matches ? 62 : 58;
    this.colors = this.trace.about.calls.map(([type, name]) => `hsl(${hueOf(type + name)} 55% ${light}%)`);
    this.text = cssColor("--text");
    this.soft = cssColor("--soft");
    this.line = cssColor("--line");
    this.bad = cssColor("--bad");
    this.back = cssColor("--card");
    this.draw();
  }

  resize() {
    const scale = devicePixelRatio;
    this.width = this.canvas.clientWidth;
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.canvas.clientHeight * scale);
    this.paint();
  }

  // At most once a frame.
  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.paint();
    });
  }

  setRange(begin, end) {
    const length = Math.min(Math.max(end - begin, kShortest), this.whole);
    this.begin = Math.min(Math.max(begin, 0), this.whole - length);
    this.end = this.begin + length;
    this.onRange(this.begin, this.end);
    this.draw();
  }

  // From the first to the last event: a job may start long before, and end long after.
  fit() {
    const [first, last] = this.happened;
    const margin = Math.max(kMargin * (last - first), kShortest / 2);
    this.setRange(first - margin, last + margin);
  }

  zoom(factor, x = this.width / 2) {
    const at = this.timeAt(x);
    this.setRange(at - (at - this.begin) * factor, at + (this.end - at) * factor);
  }

  pan(pixels, down = 0) {
    const by = (pixels * (this.end - this.begin)) / this.width;
    const most = Math.max(0, this.height + kAxis - this.canvas.clientHeight);
    this.top = Math.min(Math.max(this.top + down, 0), most);
    this.setRange(this.begin + by, this.end + by);
  }

  timeAt(x) {
    return this.begin + (x / this.width) * (this.end - this.begin);
  }

  // The first of the row that ends behind `time`.
  firstBehind(row, time) {
    const { marks } = this.trace;
    let low = row.first;
    let high = row.end;
    while (low < high) {
      const middle = (low + high) >> 1;
      const end = marks.end(middle);
      if (end > time || (end === time && marks.begins[middle] === time)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  paint() {
    const draw = this.canvas.getContext("2d");
    draw.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    const height = this.canvas.clientHeight;
    draw.fillStyle = this.back;
    draw.fillRect(0, 0, this.width, height);
    draw.font = "12px system-ui, sans-serif";
    draw.textBaseline = "middle";
    for (const row of this.trace.rows) {
      const y = row.y - this.top + kAxis;
      if (y > kAxis - kRowHeight && y < height) this.paintRow(draw, row, y);
    }
    this.paintTitles(draw, height);
    this.paintLosses(draw, height);
    this.paintAxis(draw);
  }

  paintRow(draw, row, y) {
    const { marks } = this.trace;
    const { begins, calls } = marks;
    const scale = this.width / (this.end - this.begin);
    for (let i = this.firstBehind(row, this.begin); i < row.end && begins[i] <= this.end;) {
      const from = Math.max(0, (begins[i] - this.begin) * scale);
      const to = Math.min(this.width, (marks.end(i) - this.begin) * scale);
      const call = calls[i] >> 3;
      draw.fillStyle = this.colors[call];
      draw.fillRect(from, y, Math.max(1, to - from - (to - from > 3 ? 0.5 : 0)), kRowHeight - 1);
      if (to - from > 24) this.label(draw, this.trace.about.calls[call][1], from, to, y);
      if (to - from >= 1) i += 1;
      else i = Math.max(i + 1, this.firstBehind(row, this.begin + (from + 1) / scale));
    }
  }

  label(draw, name, from, to, y) {
    const fits = Math.floor((to - from - 6) / 6.5);
    if (fits < 3) return;
    draw.fillStyle = "#10151b";
    draw.fillText(name.length > fits ? `${name.slice(0, fits - 1)}…` : name, from + 3, y + kRowHeight / 2, to - from - 4);
  }

  paintTitles(draw, height) {
    for (const { y, text, process } of this.titles) {
      const at = y - this.top + kAxis;
      if (at < kAxis - kLaneTitle || at > height) continue;
      draw.fillStyle = this.line;
      draw.fillRect(0, at, this.width, 1);
      draw.fillStyle = process ? this.text : this.soft;
      draw.fillText(text, 4, at + kLaneTitle / 2);
    }
  }

  paintLosses(draw, height) {
    draw.fillStyle = this.bad;
    for (const [time] of this.trace.about.losses) {
      if (time < this.begin || time > this.end) continue;
      draw.fillRect(((time - this.begin) / (this.end - this.begin)) * this.width, kAxis, 1, height);
    }
  }

  paintAxis(draw) {
    draw.fillStyle = this.back;
    draw.fillRect(0, 0, this.width, kAxis);
    const length = this.end - this.begin;
    const about = (length * 110) / this.width;
    const power = 10 ** Math.floor(Math.log10(about));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= about);
    for (let time = Math.ceil(this.begin / step) * step; time <= this.end; time += step) {
      const x = ((time - this.begin) / length) * this.width;
      draw.fillStyle = this.line;
      draw.fillRect(x, 0, 1, kAxis);
      draw.fillStyle = this.soft;
      draw.fillText(axisTime(time, step), x + 3, kAxis / 2);
    }
  }

  // The index of the mark there, or -1.
  markAt(x, y) {
    const at = y - kAxis + this.top;
    const pixel = (this.end - this.begin) / this.width;
    for (const row of this.trace.rows) {
      if (at < row.y || at >= row.y + kRowHeight) continue;
      const time = this.timeAt(x);
      const i = this.firstBehind(row, time - pixel);
      return i < row.end && this.trace.marks.begins[i] <= time + pixel ? i : -1;
    }
    return -1;
  }

  async describe(i) {
    const { marks } = this.trace;
    const { begins, calls, details } = marks;
    const [type, name] = this.trace.about.calls[calls[i] >> 3];
    const kind = ["", " (its beginning was not recorded)", " (its end was not recorded)", " (had not ended)", ""][calls[i] & 7];
    const took = (calls[i] & 7) === 4 ? "" : `, ${duration(marks.length(i))}`;
    const values = Object.entries(await this.trace.detailOf(details[i])).map(([key, value]) => `\n${key} = ${typeof value === "string" ? value : JSON.stringify(value)}`);
    return `${name}${kind}\n${type}, at ${(begins[i] / 1e9).toFixed(9)} s${took}${values.join("")}`;
  }
}

// "▸ python3 70 · 3 threads, 412 calls"
function headOf({ isOpen, comm, pid, threads, calls }) {
  const count = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
  return `${isOpen ? "▾" : "▸"} ${comm} ${pid} · ${count(threads.length, "thread")}, ${count(calls, "call")}`;
}

// [from, to], ns.
function happenedIn({ rows, marks, about }) {
  let first = Infinity;
  let last = 0;
  for (const row of rows) {
    if (row.end === row.first) continue;
    first = Math.min(first, marks.begins[row.first]);
    last = Math.max(last, marks.end(row.end - 1));
  }
  for (const [time] of about.losses) {
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  return [Math.min(first, last), last];
}

// As many digits as tell one tick from the next.
function axisTime(ns, step) {
  const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].find(([, one]) => Math.max(ns, step) >= one) ?? ["ns", 1];
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return `${(ns / size).toFixed(Math.min(digits, 9))} ${unit}`;
}
