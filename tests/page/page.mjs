// Opens a page of `mlbcc convert --to html` in Chromium, uses it as a person would, and writes what
// it saw as JSON to standard output: page.mjs PAGE FOLDER-OF-SCREENSHOTS
import { pathToFileURL } from "node:url";
import { gatherErrors, launch } from "./browser.mjs";

const [file, pictures] = process.argv.slice(2);
const browser = await launch();
const seen = { errors: [] };

async function open(options) {
  const page = await browser.newPage(options);
  gatherErrors(page, seen.errors);
  const begun = Date.now();
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("html[data-ready]");
  seen.open_ms ??= Date.now() - begun;
  return page;
}

function colors() { // of the timeline, how many
  const canvas = document.getElementById("timeline");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(new Uint32Array(pixels.buffer)).size;
}

function rows() {
  return [...document.querySelectorAll("#calls tbody tr")].map((row) => (
    [...row.cells].map((cell) => ("value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent))));
}

// A frame a step, while the timeline is panned by its keys.
async function framesASecond() {
  const canvas = document.getElementById("timeline");
  const key = (name) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name, cancelable: true }));
  const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
  key("+");
  const begun = performance.now();
  for (let i = 0; i < 60; ++i) {
    key(i % 20 < 10 ? "ArrowRight" : "ArrowLeft");
    await frame();
  }
  return 60000 / (performance.now() - begun);
}

const page = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
seen.tiles = await page.evaluate(() => Object.fromEntries(
  [...document.querySelectorAll("[data-tile]")].map((tile) => [tile.dataset.tile, Number(tile.dataset.value)])));
seen.colors = await page.evaluate(colors);
seen.rows = await page.evaluate(rows);
seen.findings = await page.locator("#findings li").allTextContents();
seen.sections = await page.locator("main > section:visible").evaluateAll((all) => all.map((one) => one.id));
seen.time = await page.locator("#time tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
seen.requests = await page.locator("#requests tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
seen.folded = await page.locator("#memory summary").allTextContents();
seen.height = await page.evaluate(() => document.getElementById("timeline").clientHeight);
seen.phases = await page.locator("#phases tbody tr td:first-child").allTextContents();
await page.screenshot({ path: `${pictures}/light.png`, fullPage: true });

const lanes = () => page.evaluate(() => JSON.parse(document.getElementById("timeline").dataset.lanes));
const heads = () => page.evaluate(() => JSON.parse(document.getElementById("timeline").dataset.processes));
seen.lanes = await lanes();
seen.processes = await heads();
if (await page.isVisible("#closed-processes")) {
  seen.closed = await page.textContent("#closed-processes");
  await page.click("#closed-processes");
  seen.lanes_opened = await lanes();
  await page.click("#closed-processes");
  await page.click("#timeline", { position: { x: 30, y: 30 } }); // the first head
  seen.lanes_without_first = await lanes();
  await page.click("#timeline", { position: { x: 30, y: 30 } });
}
if (await page.isVisible("#idle-threads")) {
  seen.idle = await page.textContent("#idle-threads");
  await page.click("#idle-threads");
  seen.lanes_with_idle = await lanes();
  await page.click("#idle-threads");
  seen.lanes_again = await lanes();
}

seen.tips = []; // of the first row
for (let x = 5; x < 1000; x += 41) {
  await page.hover("#timeline", { position: { x, y: 48 } });
  await page.waitForSelector("#tip:not([aria-busy=true])", { state: "attached" });
  if (await page.isVisible("#tip")) seen.tips.push(await page.textContent("#tip"));
}

const range = () => page.textContent("#range");
seen.whole = await range();
await page.hover("#timeline", { position: { x: 400, y: 60 } });
await page.mouse.wheel(0, -600);
await page.waitForFunction((was) => document.getElementById("range").textContent !== was, seen.whole);
seen.zoomed = await range();
await page.mouse.down();
await page.mouse.move(300, 300, { steps: 4 });
await page.mouse.up();
seen.dragged = await range();
await page.focus("#timeline");
await page.keyboard.press("0");
seen.reset = await range();
await page.fill("#filter", "launch");
seen.filtered = await page.evaluate(rows);
await page.fill("#filter", "");
await page.click("#calls th:nth-child(1) button");
seen.sorted = (await page.evaluate(rows)).map((row) => row[0]);
seen.frames_a_second = await page.evaluate(framesASecond);
await page.close();

const dark = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "dark" });
await dark.screenshot({ path: `${pictures}/dark.png`, fullPage: true });
seen.dark_back = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
await dark.close();
const phone = await open({ viewport: { width: 360, height: 740 }, colorScheme: "light" });
await phone.screenshot({ path: `${pictures}/phone.png`, fullPage: true });
seen.phone_width = await phone.evaluate(() => document.documentElement.scrollWidth);
await browser.close();
process.stdout.write(JSON.stringify(seen));
