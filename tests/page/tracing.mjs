// Loads a Chrome trace in chrome://tracing of Chromium 92, the last that npm has with that page, by its button as a person
// would, and writes what it draws as JSON: tracing.mjs TRACE SCREENSHOT
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";
import { brotliDecompressSync } from "node:zlib";
import { ARGUMENTS, gatherErrors } from "./browser.mjs";

const PROGRAM = "./chromium-92";
const [trace, picture] = process.argv.slice(2);

if (!existsSync(PROGRAM)) {
  const folder = dirname(createRequire(import.meta.url).resolve("chrome-aws-lambda/package.json"));
  const fresh = `${PROGRAM}.${process.pid}`;
  writeFileSync(fresh, brotliDecompressSync(readFileSync(join(folder, "bin/chromium.br"))));
  chmodSync(fresh, 0o755);
  renameSync(fresh, PROGRAM); // another test may look for it
}
const errors = [];
// This old Chromium at times ends before it shows its first page, on a loaded machine: it is started again then.
async function start(tries) {
  const browser = await chromium.launch({ executablePath: PROGRAM, args: ARGUMENTS });
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    gatherErrors(page, errors);
    // The viewer puts functions of its own in the place of the browser's, which do not see what its parts hold.
    await page.addInitScript(() => {
      const find = document.querySelectorAll;
      window.all_canvases = () => find.call(document, "canvas");
    });
    await page.goto("chrome://tracing");
    return [browser, page];
  } catch (error) {
    if (browser.isConnected() || tries === 1) throw error;
    return start(tries - 1);
  }
}
const [browser, page] = await start(3);
function place() { // playwright's click() asks for what this Chromium does not have yet
  const { x, y, width, height } = document.querySelector("#load-button")?.getBoundingClientRect() ?? { width: 0 };
  return width > 0 && [x + width / 2, y + height / 2];
}
let chooser = null;
for (let tries = 0; chooser === null && tries < 20; ++tries) { // the page may not listen to its button yet
  const asked = page.waitForEvent("filechooser", { timeout: 1000 }).catch(() => null);
  const button = await page.evaluate(place);
  if (button) await page.mouse.click(...button);
  chooser = await asked;
}
if (chooser === null) throw new Error("the page's Load asks for no file");
await chooser.setFiles(trace);
const has_model = () => document.querySelector("tr-ui-timeline-view")?.model?.bounds.isEmpty === false;
while (errors.length === 0 && !await page.evaluate(has_model)) await page.waitForTimeout(100);

async function shown() {
  const { model } = document.querySelector("tr-ui-timeline-view");
  await new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); });
  const first = -model.timestampShiftToZeroAmount_; // it shows times from the first event on
  const slice = (one) => ({ name: one.title, begin: one.start + first, duration: one.duration, args: one.args });
  const samples = (series) => ({ name: series.name, samples: series.samples.map((one) => [one.timestamp + first, one.value]) });
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

const seen = errors.length > 0 ? {} : await page.evaluate(shown);
await page.screenshot({ path: picture });
seen.url = page.url();
seen.text = await page.evaluate(() => document.body.innerText);
seen.colors = Math.max(0, ...await page.evaluate(colors));
seen.errors = errors;
await browser.close();
process.stdout.write(JSON.stringify(seen));
