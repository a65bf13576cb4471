// Creates the tasks of the shop, waits until the board shows them in their columns,
// and takes the pictures.
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [program, out] = process.argv.slice(2);
const coppice = (...args) => execFileSync(program, args, { encoding: "utf8" });
const make = (title, ...more) => JSON.parse(coppice("new", title, "--json", ...more));
const key = (made) => (Array.isArray(made) ? made[0] : (made.tasks?.[0] ?? made)).key;

const browser = await chromium.launch({ executablePath: process.env.COPPICE_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const context = await browser.newContext({ viewport: { width: 1440, height: 810 }, reducedMotion: "reduce" });
context.setDefaultTimeout(120_000);
const page = await context.newPage();
await page.goto(/https?:\/\/\S+/.exec(coppice("login"))[0]);
await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });

const shows = (task, ...status) => page.locator(status.map((s) => `[data-key="${task}"].s-${s}`).join(", ")).waitFor();

for (const title of ["Send a receipt by mail", "Write the terms of delivery"]) await shows(key(make(title)), "done");
await shows(key(make("Import the old catalogue")), "needs-you", "failed");
await shows(key(make("Let customers pay by invoice", "--priority", "3")), "needs-you");
await shows(key(make("Round prices to half cents")), "fixing");
await shows(key(make("Search products as you type", "--step", "A letter is enough to find a product.", "--step", "Nothing flickers.")), "verifying");
const first = key(make("Show stock by warehouse"));
for (const title of ["Move sessions to signed cookies", "Draw the order chart without a library"]) await shows(key(make(title)), "working");
await shows(first, "working");
make("Split shipments by warehouse", "--after", first);
make("Translate the shop into French", "--track", "docs", "--after", first);

await page.locator(".column").filter({ hasText: "Waiting" }).waitFor();
for (const theme of ["dark", "light"]) {
  await page.emulateMedia({ colorScheme: theme });
  const path = `${out}/board-${theme}.png`;
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > 300_000) throw new Error(`${path} has ${size} bytes, 300000 are allowed`);
  console.log(`${path}: ${size} bytes`);
}
await browser.close();
