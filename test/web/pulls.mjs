// Pull requests and reactions, with as many checks and comments as Coppice keeps, and
// with texts that attack: on the board, on the page of a task, and on their own page.
import assert from "node:assert/strict";
import { api, ask, main, step, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["app", "people"], "seed pulls");
  const { page } = w;
  const { tasks } = await api("GET", "/tasks?pull=any");
  const key = (number) => tasks.find((t) => t.pr.number === number).key;
  const [large, green, draft, merged] = [1234, 12, 13, 5].map(key);
  const box = (k) => page.locator(".card-box, .row").filter({ has: page.locator(`[data-key=${k}]`) });
  const look = async (name) => {
    await w.axe(name);
    await w.shot(name);
  };

  await step("a card shows the number, CI and the review of its request", async () => {
    await w.goto("/");
    const review = page.getByRole("link", { name: `A reviewer requested changes, 39 open comments (${large})` });
    await review.waitFor();
    await page.getByRole("link", { name: `CI failed: build, lint (${large})` }).waitFor();
    const number = box(large).getByRole("link", { name: "#1234" });
    assert.equal(await number.getAttribute("href"), "https://forge.example/pulls/1234");
    assert.equal(await number.getAttribute("rel"), "noreferrer");
    assert.equal(await number.getAttribute("target"), "_blank");
    await page.locator(`[data-key=${green}]`).getByText("in review").waitFor();
    await box(large).getByText("conflicts with main").waitFor();
    await box(draft).locator(".tag", { hasText: "draft" }).waitFor();
    await page.locator(`[data-key=${green}]`).getByText("merging").waitFor();
    assert.equal(await box(merged).getByText("CI").count(), 0, "the badges of a merged request");
    await look("pulls-board");
    await review.click();
    await page.getByRole("tab", { name: "Pull request #1234" }).waitFor();
  });

  await step("the board filters by open requests", async () => {
    await api("POST", "/projects/people/tasks", { tasks: [{ title: "Without a request", not_before: "2099-01-01T00:00:00Z" }] });
    await w.goto("/?view=table");
    await page.getByText("Without a request").waitFor();
    await look("pulls-table");
    await page.getByLabel("Open pull request").check();
    await page.getByText("Without a request").waitFor({ state: "detached" });
    await page.getByText("3 tasks", { exact: true }).waitFor();
    assert.equal(new URL(page.url()).search, "?view=table&pull=open");
  });

  await step("the page of a task shows the request, its checks, its comments and what reactions did", async () => {
    await w.goto(`/tasks/${large}?tab=pull`);
    const ci = page.getByRole("region", { name: "CI" });
    await ci.locator("[data-check]").first().waitFor();
    const names = await ci.locator("[data-check]").evaluateAll((all) => all.map((el) => el.dataset.check));
    assert.equal(names.length, 50);
    assert.deepEqual(names.slice(0, 2), ["build", "lint"]);
    assert.equal(await ci.locator("[data-check=build] a").count(), 0, "an address that runs code is a link");
    await ci.locator("[data-check=build] summary").click();
    await ci.getByText("undefined: foo").waitFor();
    await ci.getByText("45 checks passed").click();
    await page.getByRole("region", { name: "Reviews" }).getByText("10 resolved comments").click();
    await page.getByText("A person has to decide: ci-failed").waitFor();
    await page.getByText("try 2 at 2222222: no result yet").waitFor();
    await page.getByText("requires all conversations to be resolved").waitFor();
    await page.getByRole("region", { name: "Reviews" }).getByRole("button", { name: "Show 29 more" }).click();
    await page.getByRole("region", { name: "Reactions" }).getByRole("button", { name: "Show 59 more" }).click();
    const reactions = page.getByRole("region", { name: "Reactions" }).locator("[data-reaction]");
    assert.equal(await reactions.count(), 69);
    await reactions.filter({ hasText: "nothing done" }).first().getByText("trust: unsandboxed").waitFor();
    await reactions.nth(1).getByText("Message").click();
    assert.equal(await page.locator("main img, main script").count(), 0);
    assert.notEqual(await page.title(), "attacked");
    await look("pulls-task");
    await w.layout("a large request");
  });

  await step("a read of the forge changes the open page", async () => {
    await w.goto(`/tasks/${draft}?tab=pull`);
    await page.getByRole("link", { name: `CI is running (${draft})` }).waitFor();
    w.offline = true; // the server restarts
    await ask("pass CI");
    await page.getByRole("link", { name: `CI passed (${draft})` }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
    w.offline = false;
  });

  await step("the page Reactions has the rules and the history of each project", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await page.getByRole("heading", { name: "Reactions" }).waitFor();
    await page.locator("[data-reaction]").nth(49).waitFor();
    assert.equal(await page.locator("[data-reaction]").count(), 50);
    await page.getByRole("button", { name: "Older reactions" }).click();
    await page.locator("[data-reaction=all-complete]").getByText("command ran").waitFor();
    assert.equal(await page.locator("[data-reaction]").count(), 20);
    await page.getByLabel("Project").selectOption("app");
    await page.locator("[data-reaction]").nth(49).waitFor();
    await page.getByText("Rules of app").click();
    await page.locator("[data-event=ci-failed]").getByText("Does nothing").waitFor();
    await page.locator("[data-event=ci-failed]").getByText("at most 2 times").waitFor();
    await look("reactions");
    await page.getByRole("link", { name: large }).first().click();
    await page.getByRole("tab", { name: "Pull request #1234" }).waitFor();
    await w.goto("/reactions?project=people");
    await page.getByRole("heading", { name: "No reactions yet" }).waitFor();
    await w.axe("no reactions");
  });

  await w.close();
});
