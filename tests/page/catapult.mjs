// Opens a Chrome trace in the viewer of chrome://tracing (Catapult's, which Go's sources hold), in Chromium, and writes the
// model that it draws as JSON: catapult.mjs FOLDER-OF-THE-VIEWER TRACE SCREENSHOT
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gatherErrors, launch } from "./browser.mjs";

const [folder, trace, picture] = process.argv.slice(2);
const embedding = `<!doctype html>
<script src="webcomponents.min.js"></script>
<link rel="import" href="trace_viewer_full.html">
<style>html, body, #viewer { height: 100%; margin: 0 }</style>
<script>document.addEventListener("WebComponentsReady", () => { document.documentElement.dataset.ready = "yes"; });</script>
<body></body>`;

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
const errors = [];
gatherErrors(page, errors);
// The viewer puts functions of its own in the place of the browser's, which do not see what its parts hold.
await page.addInitScript(() => {
  const find = document.querySelectorAll;
  window.all_canvases = () => find.call(document, "canvas");
});
// Imports do not work in pages from files.
await page.route("http://viewer.test/**", (route) => {
  const name = new URL(route.request().url()).pathname.slice(1);
  return route.fulfill(name ? { path: join(folder, name) } : { contentType: "text/html", body: embedding });
});
await page.goto("http://viewer.test/");
await page.waitForSelector("html[data-ready]");

async function show(text) {
  const viewer = document.createElement("tr-ui-timeline-view");
  const container = document.createElement("track-view-container");
  container.id = "track_view_container";
  viewer.id = "viewer";
  viewer.track_view_container = container;
  window.Polymer.dom(viewer).appendChild(container);
  window.Polymer.dom(document.body).appendChild(viewer);
  const { tr } = window;
  const options = new tr.importer.ImportOptions();
  Object.assign(options, { shiftWorldToZero: false, pruneEmptyContainers: false });
  const model = new tr.Model();
  await new tr.importer.Import(model, options).importTracesWithProgressDialog([text]);
  viewer.globalMode = true;
  viewer.model = model;
  await new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); });

  const slice = (one) => ({ name: one.title, begin: one.start, duration: one.duration, args: one.args });
  const samples = (series) => ({ name: series.name, samples: series.samples.map((one) => [one.timestamp, one.value]) });
  const processes = model.getAllProcesses().map((process) => ({
    pid: process.pid,
    name: process.name,
    threads: Object.values(process.threads).map((thread) => ({
      tid: thread.tid, name: thread.name, slices: thread.sliceGroup.slices.map(slice),
    })),
    instants: process.instantEvents.length,
    counters: Object.values(process.counters).map((one) => ({ name: one.name, series: one.series.map(samples) })),
  }));
  const flows = model.flowEvents.map((one) => ({ from: one.startSlice?.args, to: one.endSlice?.args }));
  return { warnings: model.importWarnings, processes, flows };
}

// Of each canvas, how many: calls are drawn on them.
function colors() {
  return Array.from(window.all_canvases(), (canvas) => {
    if (canvas.width === 0 || canvas.height === 0) return 0;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}

const seen = await page.evaluate(show, readFileSync(trace, "utf8"));
await page.screenshot({ path: picture });
seen.text = await page.locator("body").innerText();
seen.colors = Math.max(...await page.evaluate(colors));
seen.errors = errors;
await browser.close();
process.stdout.write(JSON.stringify(seen));
