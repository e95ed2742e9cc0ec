// Opens a page of `mlbcc convert --to html` in Chromium, pans its timeline by the mouse at some
// zooms, and writes frames a second and memory as JSON: frames.mjs PAGE
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";

const STEPS = 90; // frames a zoom
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const seen = { zooms: [] };
const session = await browser.newBrowserCDPSession();

async function processes() {
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo.filter((one) => one.type === "renderer");
}

// Of each process of a page, at most. A page of memory that several processes have mapped, as those of the browser's own
// files are, counts in a proportional size as its part.
const most = new Map();
async function look_at_memory() {
  for (const { id } of await processes()) {
    const rollup = readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
    const mib = (line) => Number(new RegExp(`^${line}:\\s+(\\d+)`, "m").exec(rollup)[1]) / 1024;
    const { resident_mib = 0, proportional_mib = 0 } = most.get(id) ?? {};
    most.set(id, { resident_mib: Math.max(resident_mib, mib("Rss")), proportional_mib: Math.max(proportional_mib, mib("Pss")) });
  }
}

// The one that works when the page does: the browser has a page of its own, too.
async function own_process() {
  const before = new Map((await processes()).map(({ id, cpuTime }) => [id, cpuTime]));
  await page.evaluate(() => { for (const end = performance.now() + 500; performance.now() < end;); });
  const worked = ({ id, cpuTime }) => cpuTime - (before.get(id) ?? 0);
  return (await processes()).sort((a, b) => worked(b) - worked(a))[0].id;
}

const begun = Date.now();
await page.goto(pathToFileURL(process.argv[2]).href);
await page.waitForSelector("html[data-ready]");
seen.open_ms = Date.now() - begun;
await look_at_memory();

// As a mouse that is dragged moves it: an event a frame. A frame is over when the next may begin.
async function pan(steps) {
  const canvas = document.getElementById("timeline");
  const event = (type, offsetX) => {
    const { left, top } = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: left + offsetX, clientY: top + 60, bubbles: true }));
  };
  canvas.setPointerCapture = () => {}; // there is no such pointer
  const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
  event("pointerdown", 900);
  await frame();
  const times = [];
  const range = document.getElementById("range");
  const ranges = new Set();
  for (let i = 0; i < steps; ++i) {
    const before = performance.now();
    event("pointermove", 900 - 5 * (i % 60));
    await frame();
    times.push(performance.now() - before);
    ranges.add(range.textContent);
  }
  event("pointerup", 900);
  times.sort((a, b) => a - b);
  return {
    frames_a_second: 1000 / (times.reduce((sum, one) => sum + one) / steps),
    slowest_ms: times[steps - 1],
    places: ranges.size,
  };
}

await page.hover("#timeline", { position: { x: 400, y: 60 } });
for (const notches of [1, 6, 10, 14]) { // of the wheel, so many more: to a half, a 12th, ... of the whole
  for (let i = 0; i < notches; ++i) await page.mouse.wheel(0, -200);
  await page.waitForTimeout(200);
  seen.zooms.push({ range: await page.textContent("#range"), ...await page.evaluate(pan, STEPS) });
  await look_at_memory();
}

Object.assign(seen, most.get(await own_process()));
await browser.close();
process.stdout.write(JSON.stringify(seen));
