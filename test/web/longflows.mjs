// The pages of flows with as much as people can have: 60 steps, 13 documents with 20
// versions each, long titles and times, Markdown, and words without a break. At each
// width, at the start and the end of each part of the page, no text is cut off, and nothing lies on
// something else.
import assert from "node:assert/strict";
import { api, main, step, told, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["app"], "seed flows");
  const { page } = w;
  const keys = Object.fromEntries((await api("GET", "/flows")).flows.map((f) => [f.kind, f.task.key]));
  assert.deepEqual(Object.keys(keys).sort(), ["batch", "cycle", "debate", "goal"]);
  const documents = "doc=worklog%2Fan-incomprehensibly-long-name-without-any-break-in-it-that-goes-on-and-on";
  const pages = {
    list: "/flows?show=all",
    goal: `/flows/${keys.goal}?step=w-t3`,
    cycle: `/flows/${keys.cycle}?step=review`,
    debate: `/flows/${keys.debate}`,
    batch: `/flows/${keys.batch}?step=9`,
    document: `/flows/${keys.goal}?${documents}`,
    versions: `/flows/${keys.goal}?doc=plan&show=changes&version=4`,
    step: `/tasks/${keys.goal.replace(/\d+$/, (n) => Number(n) + 2)}`,
  };
  const bad = [];
  for (const [name, path] of Object.entries(pages)) {
    await step(name, async () => {
      await w.goto(path);
      await w.loaded();
      if (name !== "list" && name !== "step") assert.ok((await page.locator("[data-step]").count()) >= 59, "the steps are missing");
      await w.axe(name);
      for (const width of [1280, 390]) {
        const height = 900;
        await page.setViewportSize({ width, height });
        await page.evaluate(() => document.querySelectorAll("main details").forEach((d, i) => (d.open = i % 9 === 0)));
        const parts = await page.$$eval(".flow-part, .flow-step:nth-of-type(3)", (all) => all.flatMap((el) => [el.getBoundingClientRect().top, el.getBoundingClientRect().bottom - innerHeight]).filter((y) => y > 0));
        for (const y of [0, ...parts]) {
          await page.evaluate((to) => scrollTo(0, to), y);
          await w.layout(`${name} at ${width} px, ${y} px from the top`).catch((err) => bad.push(err.message));
        }
        const narrow = await page.$$eval("main :is(td, th)", (all) => all.filter((el) => el.checkVisibility() && el.clientWidth < 60 && el.clientHeight > 120 && el.textContent.trim().length > 20).map((el) => `${el.clientWidth} px for “${el.textContent.slice(0, 30)}”`));
        if (narrow.length > 0) bad.push(`${name} at ${width} px: narrow cells: ${narrow.slice(0, 5).join("; ")}`);
        await page.evaluate(() => scrollTo(0, 0));
        for (const theme of told.shots ? (width === 390 ? ["light"] : ["dark", "light"]) : []) {
          await page.emulateMedia({ colorScheme: theme });
          await w.picture(`long-${name}-${width}-${theme}`, { fullPage: true });
        }
        await page.emulateMedia({ colorScheme: "dark" });
      }
    });
  }
  assert.equal(bad.length, 0, bad.join("\n"));
  await w.close();
});
