// Measures in a browser what web.go asks for: one request on a line of standard
// input, one answer on a line of standard output.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [link, executablePath] = process.argv.slice(2);
const origin = new URL(link).origin;
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
context.setDefaultTimeout(120_000);
const page = await context.newPage();
const cdp = await context.newCDPSession(page);
await cdp.send("Performance.enable");

async function script() {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return metrics.find((m) => m.name === "ScriptDuration").value * 1000;
}

let before = 0;

const doing = {
  "sign in": async () => {
    await page.goto(link);
    await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
  },

  // live notes when each beat gets into the page, and how old it is then.
  live: async ({ task, beats }) => {
    await page.goto(`${origin}/tasks/${task}`);
    await page.locator(".blocks").getByText(/^beat \d+/).first().waitFor();
    return page.evaluate((most) => new Promise((resolve) => {
      const seen = new Set();
      const took = [];
      let first = true;
      const look = () => {
        const now = performance.timeOrigin + performance.now();
        for (const el of document.querySelectorAll(".block")) {
          const at = /beat (\d{16})/.exec(el.textContent)?.[1];
          if (!at || seen.has(at)) continue;
          seen.add(at);
          if (!first) took.push(now - Number(at) / 1000);
        }
        first = false; // what stood there before tells nothing
        if (took.length < most) return;
        watch.disconnect();
        resolve(took);
      };
      const watch = new MutationObserver(look);
      look();
      watch.observe(document.querySelector(".blocks"), { childList: true, subtree: true, characterData: true });
    }), beats);
  },

  // open loads the page anew, and tells when the first of the session is drawn.
  open: async ({ task }) => {
    await page.goto("about:blank");
    await page.goto(`${origin}/tasks/${task}`, { waitUntil: "commit" });
    return page.evaluate(() => new Promise((resolve) => {
      const look = () => (document.querySelector(".block") ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look));
      look();
    }));
  },

  // scroll goes up to the first thing that was said and back to the end, and
  // tells how long each frame took.
  scroll: async ({ task }) => {
    await page.goto(`${origin}/tasks/${task}`);
    await page.locator(".block").first().waitFor();
    await page.getByRole("button", { name: "Following" }).click();
    return page.evaluate(async () => {
      const frames = [];
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const box = document.querySelector(".blocks");
      let last = await frame();
      const next = async () => {
        const now = await frame();
        frames.push(now - last);
        last = now;
      };
      const first = () => Number(/Thing (\d+)\./.exec(box.textContent)?.[1] ?? Infinity);
      while (first() > 0) {
        box.scrollTop = Math.max(0, box.scrollTop - 20_000);
        await next();
      }
      while (box.scrollTop + box.clientHeight < box.scrollHeight - 2) {
        box.scrollTop += 20_000;
        await next();
      }
      return frames;
    });
  },

  board: async ({ tasks }) => {
    await page.goto(origin + "/");
    await page.getByText(`${tasks} tasks`).waitFor();
    await page.locator(".card").first().waitFor();
  },

  // first loads the board, and returns when its first card was drawn.
  first: async () => {
    await page.goto("about:blank");
    await page.goto(origin + "/", { waitUntil: "commit" });
    return page.evaluate(() => new Promise((resolve) => {
      const look = () => (document.querySelector(".card") ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look));
      look();
    }));
  },

  count: async () => {
    before = await script();
  },

  // counted waits until the board shows the last change.
  counted: async ({ seen }) => {
    await page.locator(".card", { hasText: seen }).first().waitFor();
    return (await script()) - before;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const answer = await doing[asked.do](asked);
  process.stdout.write(JSON.stringify(answer ?? null) + "\n");
}
await browser.close();
