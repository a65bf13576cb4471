// Three weeks of work, 300 tasks: the graph, the timeline, the usage and the
// archive stay readable, and words of any session are found.
import assert from "node:assert/strict";
import { api, main, step, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["app"], "seed");
  const { page } = w;

  const look = async (name, path, seen) => {
    await step(name, async () => {
      await w.goto(path);
      await seen().waitFor();
      await w.axe(name);
      await w.shot(name);
    });
  };

  await look("history-board", "/", () => page.locator(".card").first());
  await look("history-graph", "/graph?show=all", () => page.locator(".node").nth(200));
  await look("history-timeline", "/timeline?zoom=all", () => page.locator(".gantt-row").nth(20));
  await look("history-usage", "/usage", () => page.getByRole("cell", { name: "codex" }));
  await look("history-usage-task", "/usage?by=task", () => page.getByRole("link", { name: /^app-/ }).first());
  await look("history-landing", "/landing", () => page.getByRole("region", { name: "Landed tasks" }).getByRole("link").first());

  await step("a wait is a mark on its session's bar", async () => {
    await w.goto("/timeline?zoom=all");
    await page.locator(".gantt-wait").first().waitFor();
    await page.getByRole("button", { name: "7 d" }).click();
    await page.locator(".gantt-bar").first().waitFor();
  });

  await step("usage adds up to what sessions used", async () => {
    const { total } = await api("GET", "/usage?tz=0");
    await w.goto("/usage");
    await page.locator(".tiles").getByText("$" + Math.round(total.cost_usd).toLocaleString("en-US")).waitFor();
    for (const by of ["model", "project", "day", "task"]) {
      await page.getByRole("button", { name: by, exact: true }).click();
      await page.getByRole("heading", { name: "By " + by }).last().waitFor();
    }
  });

  await step("a word in any session's output is found while it is typed", async () => {
    await w.goto("/search");
    await page.getByLabel("Search", { exact: true }).pressSequentially("heron-123");
    await page.locator(".hits mark").getByText("heron-123").first().waitFor();
    await w.axe("search");
    await w.shot("search-output");
    await page.locator(".hits a").first().click();
    await page.locator(".block.marked").getByText("heron-123").waitFor();
  });

  await step("evidence has pictures", async () => {
    await w.goto("/tasks/app-8?tab=steps");
    const picture = page.locator(".picture img").first();
    await picture.waitFor();
    await page.waitForFunction(() => document.querySelector(".picture img").naturalWidth > 0);
    await w.axe("pictures");
    await w.shot("task-pictures");
    await page.locator(".picture").first().click();
    await page.getByRole("dialog").getByRole("img").waitFor();
    await w.shot("task-picture-whole");
    await page.keyboard.press("Escape");
    await w.goto("/tasks/app-8?session=app-8.2");
    await page.locator(".blocks .picture img").first().waitFor();
  });

  await step("tasks are put away, one and many, and come back", async () => {
    await w.goto("/tasks/app-1");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Archive", exact: true }).click();
    await page.getByText("app-1 is archived").waitFor();
    await w.goto("/?view=table&q=importer");
    await page.getByLabel("Select all of Done").check();
    const bar = page.getByRole("toolbar", { name: "Selected tasks" });
    const n = Number((await bar.getByRole("button", { name: /^Archive \d+$/ }).innerText()).split(" ")[1]);
    assert.ok(n > 10, `${n} tasks fit`);
    await bar.getByRole("button", { name: /^Archive \d+$/ }).click();
    await bar.waitFor({ state: "detached" });
    const away = await api("GET", "/tasks?archived=only&limit=500");
    assert.ok(away.tasks.length > n);
    await w.goto("/?view=table&archived=only");
    await page.getByRole("heading", { name: "Archive" }).waitFor();
    await page.locator(".row").first().waitFor();
    await w.axe("archive");
    await w.shot("archive");
    await page.getByLabel("Filter", { exact: true }).fill("app-1");
    await page.locator('[data-key="app-1"]').getByRole("checkbox").check();
    await bar.getByRole("button", { name: /^Unarchive/ }).click();
    await page.locator('[data-key="app-1"]').waitFor({ state: "detached" });
    await w.goto("/tasks/app-1");
    assert.equal((await api("GET", "/tasks/app-1")).archived, undefined);
  });

  await step("on a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const [name, path] of Object.entries({ graph: "/graph?show=all", timeline: "/timeline?zoom=all", usage: "/usage?by=task", archive: "/?archived=only", search: "/search?q=heron" })) {
      await w.goto(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `${name} is ${wide} px wide`);
      await w.shot("phone-history-" + name);
    }
  });

  await w.close();
});
