// Charts by uPlot.
/* global uPlot */

function chartWidth(box) {
  return Math.max(240, box.clientWidth);
}

function axes(horizontal, vertical) {
  const style = { stroke: cssColor("--soft"), grid: { stroke: cssColor("--line"), width: 1 }, ticks: { stroke: cssColor("--line") } };
  return [{ ...style, ...horizontal }, { ...style, size: 70, ...vertical }];
}

// Draws it again when its width or the colours change.
function keepDrawn(box, make) {
  let chart = null;
  const draw = () => {
    chart?.destroy();
    chart = make(chartWidth(box));
  };
  draw();
  let width = chartWidth(box);
  new ResizeObserver(() => {
    if (chartWidth(box) === width) return;
    width = chartWidth(box);
    draw();
  }).observe(box);
  dark.addEventListener("change", draw);
  return draw;
}

// Buckets, 32 to a power of two, as four to one.
function coarse(buckets) {
  const bars = new Map();
  for (const [begin, , count] of buckets) {
    const bar = begin === 0 ? -1 : Math.floor(Math.log2(begin) * 4);
    bars.set(bar, (bars.get(bar) ?? 0) + count);
  }
  const first = Math.min(...bars.keys());
  const last = Math.max(...bars.keys());
  const xs = Array.from({ length: last - first + 3 }, (_, i) => first - 1 + i);
  return [xs, xs.map((x) => bars.get(x) ?? 0)];
}

function latencyChart(box, call, width) {
  const at = (x) => duration(2 ** (x / 4));
  box.setAttribute("aria-label", `${call.name}: ${call.timed} calls, half within ${duration(call.p50)}, 99 % within ${duration(call.p99)}, longest ${duration(call.max)}`);
  return new uPlot({
    width,
    height: 220,
    scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(high, 1)] } },
    axes: axes({ values: (_, ticks) => ticks.map(at), space: 70, incrs: [1, 2, 4, 8, 16, 32] }, { values: (_, ticks) => ticks.map(grouped), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8] }),
    series: [
      { label: "From", value: (_, x) => (x === null ? "" : at(x)) },
      { label: "Calls", fill: cssColor("--bar"), stroke: cssColor("--bar"), paths: uPlot.paths.bars({ size: [0.9, 60] }), points: { show: false } },
    ],
  }, coarse(call.buckets), box);
}

function drawLatencies(calls) {
  const timed = calls.filter((call) => call.timed > 0).sort((a, b) => b.total - a.total).slice(0, 500);
  if (timed.length === 0) return;
  show("latency-part");
  const choice = byId("latency-of");
  choice.append(...timed.map((call, i) => element("option", { value: i, textContent: `${call.name} (${call.type})` })));
  const box = byId("latency");
  const draw = keepDrawn(box, (width) => latencyChart(box, timed[choice.value], width));
  choice.addEventListener("change", draw);
}

const kHardly = 0.02; // of the largest value of all of its name: the change of one that is folded away

function drawSeries(series) {
  if (series.length === 0) return;
  show("memory-part");
  const largest = new Map();
  for (const { name, values } of series) largest.set(name, Math.max(largest.get(name) ?? 0, ...values.map(Math.abs)));
  const changes = ({ name, values }) => Math.max(...values) - Math.min(...values) > kHardly * largest.get(name);
  const folded = series.filter((one) => !changes(one));
  drawCharts(byId("memory"), series.filter(changes));
  if (folded.length === 0) return;
  const rest = element("details", {}, element("summary", { textContent: `${folded.length} that hardly change` }));
  byId("memory").append(rest);
  drawCharts(rest, folded);
}

function drawCharts(into, series) {
  for (const { name, pid, times, values } of series) {
    const isBytes = Math.max(...values) >= 4096;
    const format = isBytes ? bytes : grouped;
    const title = `${name} of process ${pid}`;
    const box = element("div", { className: "chart" });
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", `${title}: ${format(Math.min(...values))} to ${format(Math.max(...values))}`);
    into.append(element("p", { className: "chart-title", textContent: title }), box);
    keepDrawn(box, (width) => new uPlot({
      width,
      height: 180,
      scales: { x: { time: false } },
      axes: axes({ values: (_, ticks) => ticks.map((x) => duration(x)) }, { values: (_, ticks) => ticks.map(format) }),
      series: [
        { label: "At", value: (_, x) => (x === null ? "" : duration(x)) },
        { label: name, stroke: cssColor("--accent"), width: 1.5, value: (_, y) => (y === null ? "" : format(y)) },
      ],
    }, [times, values], box));
  }
}
