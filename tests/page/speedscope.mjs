// Loads a Chrome trace into speedscope, a viewer that others wrote, in Chromium, and saves what it
// made of it in its own format: speedscope.mjs TRACE OUT PICTURE
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gatherErrors, launch } from "./browser.mjs";

const [trace, out, picture] = process.argv.slice(2);
const viewer = join(dirname(createRequire(import.meta.url).resolve("speedscope/package.json")), "dist/release/index.html");
const browser = await launch(["--allow-file-access-from-files", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]);
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, acceptDownloads: true });
const errors = [];
gatherErrors(page, errors);
await page.goto(pathToFileURL(viewer).href);
await page.setInputFiles("input[type=file]", trace);
await page.waitForSelector("canvas");
await page.screenshot({ path: picture });
const download = page.waitForEvent("download");
await page.keyboard.press("Control+s");
await (await download).saveAs(out);
await browser.close();
process.stdout.write(JSON.stringify(errors));
