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
const seen = { zooms: [], resident_mib: 0, proportional_mib: 0 };
const session = await browser.newBrowserCDPSession();

// Of the page's own process, at most. A page of memory that several processes have mapped, as those of the browser's own
// files are, counts in a proportional size as its part.
async function look_at_memory() {
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  for (const { id } of processInfo.filter((one) => one.type === "renderer")) {
    const rollup = readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
    const mib = (line) => Number(new RegExp(`^${line}:\\s+(\\d+)`, "m").exec(rollup)[1]) / 1024;
    seen.resident_mib = Math.max(seen.resident_mib, mib("Rss"));
    seen.proportional_mib = Math.max(seen.proportional_mib, mib("Pss"));
  }
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

await browser.close();
process.stdout.write(JSON.stringify(seen));
