// Opens a page of `mlbcc convert --to html` in Chromium, pans its timeline by the mouse at some
// zooms, and writes frames a second and memory as JSON: frames.mjs PAGE
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { ARGUMENTS, PROGRAM } from "./browser.mjs";

const STEPS = 90; // frames a zoom
const MOST_WAIT_MS = 30000;
const seen = { zooms: [] };

async function until(what, found) {
  for (const end = Date.now() + MOST_WAIT_MS; Date.now() < end; await sleep(10)) {
    const result = await found();
    if (result) return result;
  }
  throw new Error(`there is no ${what} after ${MOST_WAIT_MS / 1000} s`);
}

// The browser by its own protocol, over a pipe: a library for it sets much in a tab, which is then drawn again, and its
// developer tools keep a copy of what they see a page read. Here nothing is attached before the page is open.
const home = mkdtempSync(join(tmpdir(), "mlbcc-frames-"));
const chrome = spawn(PROGRAM, [...ARGUMENTS, "--headless", "--remote-debugging-pipe", "--window-size=1280,900",
  `--user-data-dir=${home}`, pathToFileURL(process.argv[2]).href], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const waiting = new Map();
let asked = 0;
let received = "";
chrome.stdio[4].setEncoding("utf8").on("data", (text) => {
  const messages = (received + text).split("\0");
  received = messages.pop();
  for (const { id, error, result } of messages.map(JSON.parse)) {
    if (error) waiting.get(id)?.reject(new Error(error.message));
    else waiting.get(id)?.resolve(result);
    waiting.delete(id);
  }
});

function ask(method, params = {}, sessionId = undefined) {
  chrome.stdio[3].write(`${JSON.stringify({ id: ++asked, method, params, sessionId })}\0`);
  return new Promise((resolve, reject) => { waiting.set(asked, { resolve, reject }); });
}

const target = await until("page", async () => { // its title is the trace's when that was read
  const { targetInfos } = await ask("Target.getTargets");
  return targetInfos.find(({ type, title }) => type === "page" && title && title !== "Trace" && !/:\/\/|[.]html$/.test(title));
});
const opened = Date.now();
const { sessionId } = await ask("Target.attachToTarget", { targetId: target.targetId, flatten: true });

async function evaluate(called, ...values) {
  const expression = `(${called})(...${JSON.stringify(values)})`;
  const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId);
  if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
  return result.value;
}

await until("drawn page", () => evaluate(() => "ready" in document.documentElement.dataset));
seen.open_ms = opened - await evaluate(() => performance.timeOrigin);

async function renderers() {
  const { processInfo } = await ask("SystemInfo.getProcessInfo");
  return processInfo.filter((one) => one.type === "renderer");
}

// The one that works when the page does: the browser has others, for pages to come.
async function tabProcess() {
  const before = new Map((await renderers()).map(({ id, cpuTime }) => [id, cpuTime]));
  await evaluate(() => { for (const end = performance.now() + 1000; performance.now() < end;); });
  const worked = ({ id, cpuTime }) => cpuTime - (before.get(id) ?? 0);
  return (await renderers()).sort((a, b) => worked(b) - worked(a))[0].id;
}

const tab = await tabProcess();

// Of `file` in /proc/PID, in MB.
function memory(file, name) {
  const found = new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${tab}/${file}`, "utf8"));
  return (Number(found[1]) * 1024) / 1e6;
}

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

const place = await evaluate(() => {
  const { left, top } = document.getElementById("timeline").getBoundingClientRect();
  return { x: left + 400, y: top + 60 };
});
for (const notches of [1, 6, 10, 14]) { // of the wheel, so many more: to a half, a 12th, ... of the whole
  for (let i = 0; i < notches; ++i) await ask("Input.dispatchMouseEvent", { type: "mouseWheel", deltaX: 0, deltaY: -200, ...place }, sessionId);
  await sleep(200);
  seen.zooms.push({ range: await evaluate(() => document.getElementById("range").textContent), ...await evaluate(pan, STEPS) });
}

seen.resident_mb = memory("status", "VmHWM"); // at most, since it began
seen.proportional_mb = memory("smaps_rollup", "Pss"); // what several processes have mapped counts as its part
await ask("Browser.close");
await new Promise((resolve) => { chrome.exitCode === null ? chrome.once("exit", resolve) : resolve(); });
rmSync(home, { recursive: true, force: true, maxRetries: 5 });
process.stdout.write(JSON.stringify(seen));
