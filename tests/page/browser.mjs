// Debian's Chromium, as these programs start it, and what goes wrong on their pages.
import { chromium } from "playwright-core";

export const PROGRAM = "/usr/bin/chromium";
export const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export function launch(more = []) {
  return chromium.launch({ executablePath: PROGRAM, args: [...ARGUMENTS, ...more] });
}

// Into `errors`, as they come: what the console shows as errors, what nobody caught, and dialogs.
export function gatherErrors(page, errors) {
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("dialog", (dialog) => { errors.push(`dialog: ${dialog.message()}`); return dialog.dismiss(); });
}
