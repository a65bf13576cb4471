// Every page with long titles, long times, many columns and much text, at three
// widths: no text is cut off, and nothing lies on something else.
import assert from "node:assert/strict";
import { addProject, api, ask, create, main, step, told, World } from "./lib.mjs";

const word = "an-incomprehensibly-long-identifier-without-any-break-in-it-that-goes-on-and-on";
const long = `Rename ${word} and everything that depends on it, everywhere, in all of the packages, tests and documents that mention it`;

await main(async () => {
  await addProject("app");
  await addProject("manual");
  await ask("seed");
  const w = await World.open();
  const { page } = w;

  const keys = await step("long data", async () => {
    const [done] = await create("app", { title: "Choose a number", body: "Any **number** that passes the checks.\n\n```\nsh test.sh\n```" });
    const [asking, working, failing] = await create("app", { title: "Ask how to greet", priority: 3 }, { title: "Work for long" }, { title: "Never works" });
    const [held] = await create("manual", { title: "Do it by hand" });
    await w.signIn();
    await page.locator(`[data-key=${done}].s-done`).waitFor();
    await page.locator(`[data-key=${asking}].s-needs-you`).waitFor();
    await page.locator(`[data-key=${working}].s-working`).waitFor();
    await page.locator(`[data-key=${failing}].s-needs-you, [data-key=${failing}].s-failed`).waitFor();
    await page.locator(`[data-key=${held}].s-needs-you`).waitFor();
    await api("POST", "/projects/app/pause");
    const body = `# Why\n\nBecause **${word}** is long.\n\n- one\n- \`two ${word}\`\n\n| a | b |\n| --- | --- |\n| ${word} | ${word} |\n`;
    const waiting = await create("app", ...Array.from({ length: 40 }, (_, i) => ({ ref: `t${i}`, title: i % 3 ? long : `Step ${i}`, body, track: i % 2 ? "main" : "docs", after: i % 5 === 4 ? [`t${i - 1}`] : [] })));
    for (const key of [asking, working, failing, held, done]) await api("PATCH", `/tasks/${key}`, { labels: ["needs-a-second-look", "one-more-label-that-is-as-long-as-it-may"], flagged: true });
    return { done, asking, working, failing, held, waiting: waiting[1] };
  });
  assert.ok(keys.waiting);

  const group = (await api("GET", "/groups")).groups[0];
  const pages = {
    board: "/",
    "board by project": "/?group=project",
    table: "/?view=table",
    "a task that asks": "/tasks/" + keys.asking,
    "a task that works": "/tasks/" + keys.working,
    "a task that failed": "/tasks/" + keys.failing,
    "a held task": "/tasks/" + keys.held,
    "a waiting task": "/tasks/" + keys.waiting,
    "a done task": `/tasks/${keys.done}?session=${keys.done}.1`,
    changes: `/tasks/${keys.done}?tab=changes`,
    review: `/tasks/${keys.done}/review`,
    checks: `/tasks/${keys.done}?tab=checks`,
    "a task's timeline": `/tasks/${keys.done}?tab=timeline`,
    cost: `/tasks/${keys.done}?tab=cost`,
    events: `/tasks/${keys.done}?tab=events`,
    inbox: "/inbox",
    groups: "/groups",
    notes: "/notes",
    "a group": "/groups/" + group.id,
    help: "/help",
    features: "/features?project=app",
    landing: "/landing",
    locks: "/locks",
    timeline: "/timeline",
    "timeline of 15 minutes": "/timeline?zoom=15+m",
    "timeline of 7 days": "/timeline?zoom=7+d",
    usage: "/usage",
    "usage by task": "/usage?by=task",
    search: "/search?q=number",
    agents: "/agents",
    settings: "/settings",
    health: "/health",
  };
  // The browser's clock is days ahead, so that all times are long.
  await page.clock.setFixedTime(Date.now() + 26.3 * 3600_000);
  const bad = []; // all pages are measured, whatever is wrong with one of them
  const measure = async (name, widths, shot) => {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      if (shot) await page.screenshot({ path: `${told.shots}/layout-${name.replaceAll(" ", "-")}-${width}.png` });
      await w.layout(`${name} at ${width} px`).catch((err) => bad.push(err.message));
    }
  };
  for (const [name, path] of Object.entries(pages)) {
    await step(name, async () => {
      await w.goto(path);
      await w.loaded();
      await measure(name, [1280, 768, 390], true);
    });
  }
  // A page that waits for its data has a layout too: these requests are never answered.
  await page.route((url) => url.pathname.startsWith("/api/v1/") && !/^\/api\/v1\/(events|says)/.test(url.pathname), () => undefined);
  for (const [name, path] of Object.entries(pages)) {
    await step(`${name}, without its data`, async () => {
      await w.goto(path);
      await page.locator("main [aria-busy=true], main h1").first().waitFor();
      await measure(`${name}, without its data`, [390, 1280], false);
    });
  }
  assert.equal(bad.length, 0, bad.join("\n"));
  await w.close();
});
