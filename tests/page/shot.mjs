// A picture of a page, or of what a selector finds on it: shot.mjs FILE PNG WIDTH HEIGHT [SELECTOR]
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const [file, png, width, height, selector] = process.argv.slice(2);
const browser = await launch();
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) }, colorScheme: "light" });
await page.goto(pathToFileURL(file).href);
if (file.endsWith("page.html")) await page.waitForSelector("html[data-ready]");
await (selector ? page.locator(selector) : page).screenshot({ path: png });
await browser.close();
