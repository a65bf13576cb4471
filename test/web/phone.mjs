// The board on a phone, with columns that are longer than the window.
import assert from "node:assert/strict";
import { main, step, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["app"], "seed");
  const { page } = w;
  await step("on a phone the page scrolls, not a column of the board", async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    for (const [path, row] of [["/", ".card"], ["/?group=project", ".card"], ["/?view=table", ".row"]]) {
      await w.goto(path);
      await page.locator(row).first().waitFor();
      const inside = await page.$$eval("main *", (all) => all.filter((el) => /auto|scroll/.test(getComputedStyle(el).overflowY) && el.scrollHeight > el.clientHeight + 1).map((el) => el.className));
      assert.deepEqual(inside, [], path);
      const last = page.locator(".virtual").last();
      await last.evaluate((el) => scrollTo(0, scrollY + el.getBoundingClientRect().bottom - innerHeight));
      const end = async () => last.evaluate((el) => Math.round(el.getBoundingClientRect().bottom - [...el.querySelectorAll("[role=listitem]")].at(-1).getBoundingClientRect().bottom));
      while ((await end()) > 1) await page.evaluate(() => new Promise(requestAnimationFrame)); // the rows at the end are drawn
      assert.ok((await page.locator(`.virtual ${row}`).count()) < 120, `${path} draws every row`);
    }
  });
  await w.close();
});
