// What the browser tests share: a browser that may reach nothing but the server,
// steps that are named, and a look at every page.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axeSource = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");

export const told = JSON.parse(process.env.COPPICE_WEB_TEST);
const PATIENCE = Number(process.env.PATIENCE ?? 90_000); // a hang guard, never a measure

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// ask has the Go side do something, and waits until it is done.
export async function ask(what) {
  process.stdout.write(`ask ${what}\n`);
  const { value } = await answers.next();
  assert.equal(value, "done");
}

export async function step(name, f) {
  process.stdout.write(`step: ${name}\n`);
  try {
    return await f();
  } catch (err) {
    err.message = `${name}: ${err.message}`;
    throw err;
  }
}

// api calls the server as the command line does.
export async function api(method, path, body) {
  const resp = await fetch(told.url + "/api/v1" + path, {
    method,
    headers: { Authorization: "Bearer " + told.token, "Content-Type": "application/json" },
    body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
  });
  const text = await resp.text();
  assert.ok(resp.ok, `${method} ${path}: ${resp.status} ${text}`);
  return JSON.parse(text);
}

export async function addProject(name) {
  return api("POST", "/projects", { path: `${told.root}/${name}` });
}

export async function create(project, ...tasks) {
  const made = await api("POST", `/projects/${project}/tasks`, { tasks });
  return made.tasks.map((t) => t.key);
}

// World is a browser, signed in through the one-time link. What it must never
// see is noted: errors on the console, refused content, other hosts.
export class World {
  bad = [];
  checked = new Set(); // the paths of the pages that axe has checked

  static async open(options = {}) {
    const w = new World();
    World.last = w;
    w.browser = await chromium.launch({
      executablePath: told.chromium,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
    });
    w.context = await w.browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark", reducedMotion: "reduce", ...options });
    w.context.setDefaultTimeout(PATIENCE);
    w.page = await w.context.newPage();
    w.watch(w.page);
    return w;
  }

  // signedIn is a person's browser, after projects were added and the data of a seed.
  static async signedIn(projects, seed) {
    for (const name of projects) await addProject(name);
    if (seed) await ask(seed);
    const w = await World.open();
    await w.signIn();
    return w;
  }

  watch(page) {
    const host = new URL(told.url).host;
    page.on("request", (r) => {
      const u = new URL(r.url());
      if (u.protocol !== "data:" && u.host !== host) this.bad.push(`a request to ${u.host}`);
    });
    page.on("pageerror", (err) => this.bad.push(`an error: ${err.stack}`));
    // What the server refuses is the page's to show, and Chromium says it too.
    page.on("console", (m) => {
      const text = m.text();
      if (m.type() === "error" && !this.offline && !/Failed to load resource|WebSocket connection to/.test(text)) this.bad.push(`the console: ${text}`);
      if (/Content Security Policy/.test(text)) this.bad.push(text);
    });
  }

  async signIn() {
    const { url } = await api("POST", "/login-link");
    await this.page.goto(url);
    await this.page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
    return url;
  }

  async goto(path) {
    await this.page.goto(told.url + path);
    await this.page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
  }

  // status waits until the open task page shows a status.
  async status(...words) {
    await this.page.locator(words.map((s) => `.task-state .s-${s.replace(" ", "-")}`).join(", ")).waitFor();
  }

  // shot keeps a picture of the page in both themes, if the test was asked to keep them.
  async shot(name) {
    for (const theme of told.shots ? ["dark", "light"] : []) {
      await this.page.emulateMedia({ colorScheme: theme });
      await this.picture(`${name}-${theme}`);
    }
    await this.page.emulateMedia({ colorScheme: "dark" });
  }

  // picture keeps a picture of the page as it is, if the test was asked to keep them.
  async picture(name, options = {}) {
    if (told.shots) await this.page.screenshot({ path: `${told.shots}/${name}.png`, ...options });
  }

  // axe fails on every serious violation, in both themes. A theme has only other
  // colours, so in the second one only the rules about colours are checked again.
  async axe(name) {
    for (const theme of ["dark", "light"]) {
      await this.page.emulateMedia({ colorScheme: theme });
      if (!(await this.page.evaluate(() => "axe" in window))) await this.page.evaluate(axeSource);
      const found = await this.page.evaluate(async (again) => {
        const others = window.axe.getRules().filter((r) => again && !r.tags.includes("cat.color"));
        const rules = Object.fromEntries(others.map((r) => [r.ruleId, { enabled: false }]));
        return (await window.axe.run(document, { resultTypes: ["violations"], rules })).violations;
      }, theme === "light");
      const serious = found.filter((v) => v.impact === "serious" || v.impact === "critical");
      const words = serious.map((v) => `${v.id}: ${v.help}\n${v.nodes.slice(0, 4).map((n) => `  ${n.html.slice(0, 160)}\n  ${n.failureSummary.replaceAll("\n", " ")}`).join("\n")}`);
      assert.equal(serious.length, 0, `${name} (${theme}):\n${words.join("\n")}`);
    }
    await this.page.emulateMedia({ colorScheme: "dark" });
    this.checked.add(new URL(this.page.url()).pathname);
  }

  // loaded waits until every part of the page shows its data.
  async loaded() {
    await this.page.locator("main h1, main h2").first().waitFor();
    await this.page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  }

  // layout fails if a part of a text is cut off without an ellipsis, if something
  // lies on something else, or if the page is wider than the window. Text and
  // controls are measured as the browser has drawn them.
  async layout(name) {
    const found = await this.page.evaluate(measureLayout);
    assert.equal(found.length, 0, `${name}: ${found.join("; ")}`);
  }

  async close() {
    await this.browser.close();
    assert.deepEqual(this.bad, []);
  }
}

// measureLayout runs in the page. It returns what is wrong with the layout, in
// words. Parts that follow a change, such as the height of a list, follow in the next
// frame. So it measures when nothing has changed since two frames were drawn.
async function measureLayout() {
  let changed = true;
  const changes = new MutationObserver(() => (changed = true));
  changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  await document.fonts.ready;
  while (changed) {
    changed = false;
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))));
  }
  changes.disconnect();

  const found = [];
  const words = (el) => `${el.tagName.toLowerCase()}${[...el.classList].map((c) => "." + c).join("")} "${el.textContent.trim().replace(/\s+/g, " ").slice(0, 40)}"`;
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth + 1) found.push(`the page is ${wide} px wide`);

  // looks returns what matters of an element's style and its box, which the browser
  // calculates slowly. Nothing changes while the page is measured.
  const known = new Map();
  const looks = (el) => {
    let l = known.get(el);
    if (l) return l;
    const s = getComputedStyle(el);
    const own = ["fixed", "sticky"].includes(s.position) || el.matches("dialog, [popover], [role=menu], [role=dialog]");
    const hides = (o) => o === "hidden" || o === "clip";
    const scrolls = [s.overflowX, s.overflowY].some((o) => o === "auto" || o === "scroll");
    l = {
      invisible: s.visibility === "hidden" || s.opacity === "0" || s.clip !== "auto" || s.clipPath !== "none",
      limitsX: s.overflowX !== "visible",
      limitsY: s.overflowY !== "visible",
      cutsX: hides(s.overflowX) && s.textOverflow !== "ellipsis" && !scrolls,
      cutsY: hides(s.overflowY) && s.webkitLineClamp === "none" && !scrolls,
      fixed: s.position === "fixed",
      box: el.getBoundingClientRect(),
      // the part of the page that may lie on others: a dialog, a menu, a bar that stays
      // while the page scrolls
      layer: own ? el : el.parentElement && looks(el.parentElement).layer,
    };
    known.set(el, l);
    return l;
  };
  // seen returns the part of a box that is drawn, and what cuts it off.
  const seen = (el, box) => {
    let { left, right, top, bottom } = box;
    let cutter;
    for (let a = el; a && a !== document.body; a = a.parentElement) {
      const l = looks(a);
      if (l.invisible) return {};
      if (a !== el || l.limitsX) {
        const b = l.box;
        if (l.limitsX) {
          if (l.cutsX && (right > b.right + 1.5 || left < b.left - 1.5)) cutter ??= a;
          left = Math.max(left, b.left);
          right = Math.min(right, b.right);
        }
        if (l.limitsY) {
          if (l.cutsY && (bottom > b.bottom + 3 || top < b.top - 3)) cutter ??= a;
          top = Math.max(top, b.top);
          bottom = Math.min(bottom, b.bottom);
        }
      }
      if (l.fixed) break;
    }
    return { box: right - left > 2 && bottom - top > 2 ? { left, right, top, bottom } : undefined, cutter };
  };

  const boxes = [];
  const add = (el, box, kind) => {
    if (!el.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true })) return; // as in details that are closed
    const { box: part, cutter } = seen(el, box);
    if (part && cutter && kind === "text") found.push(`${words(el)} is cut off by ${words(cutter).slice(0, 60)}`);
    if (part && part.bottom > 0 && part.top < innerHeight && part.right > 0 && part.left < innerWidth) boxes.push({ el, kind, layer: looks(el).layer, ...part });
  };
  const range = document.createRange();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    const el = node.parentElement;
    if (!node.data.trim() || el.closest("svg, script, style, option, .xterm")) continue;
    range.selectNodeContents(node);
    for (const r of range.getClientRects()) if (r.width > 1) add(el, r, "text");
  }
  for (const el of document.querySelectorAll("button, input:not([type=hidden]), select, textarea, img, video")) {
    const r = el.getBoundingClientRect();
    if (r.width > 1 && r.height > 1) add(el, r, "control");
  }
  boxes.sort((a, b) => a.top - b.top);
  for (let i = 0; i < boxes.length; i++) {
    const a = boxes[i];
    for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom - 2; j++) {
      const b = boxes[j];
      if (a.layer !== b.layer || a.el.contains(b.el) || b.el.contains(a.el)) continue;
      const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (w > 2 && h > 3) found.push(`${words(a.el)} and ${words(b.el)} overlap by ${Math.round(w)} × ${Math.round(h)} px`);
    }
  }
  return [...new Set(found)].slice(0, 12);
}

// main runs a script and ends the process.
export async function main(f) {
  let code = 0;
  try {
    await f();
  } catch (err) {
    process.stderr.write(`${err.stack}\nfailed: ${err.message}\n`);
    await World.last?.page.screenshot({ path: `${told.failed}/failed-${basename(process.argv[1], ".mjs")}.png` }).catch(() => undefined);
    code = 1;
  }
  process.exit(code);
}
