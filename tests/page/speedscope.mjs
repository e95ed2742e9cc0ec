// Loads a Chrome trace into speedscope, a viewer that others wrote, in Chromium, and saves what it
// made of it in its own format: speedscope.mjs TRACE OUT PICTURE
import { chromium } from "playwright-core";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [trace, out, picture] = process.argv.slice(2);
const viewer = join(dirname(createRequire(import.meta.url).resolve("speedscope/package.json")), "dist/release/index.html");
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--allow-file-access-from-files", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, acceptDownloads: true });
const errors = [];
page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
page.on("pageerror", (error) => errors.push(error.message));
page.on("dialog", (dialog) => { errors.push(`dialog: ${dialog.message()}`); return dialog.dismiss(); });
await page.goto(pathToFileURL(viewer).href);
await page.setInputFiles("input[type=file]", trace);
await page.waitForSelector("canvas");
await page.screenshot({ path: picture });
const download = page.waitForEvent("download");
await page.keyboard.press("Control+s");
await (await download).saveAs(out);
await browser.close();
process.stdout.write(JSON.stringify(errors));
