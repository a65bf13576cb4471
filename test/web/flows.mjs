// A person starts a debate in the form, follows it on its page, and edits a document
// that somebody else writes at the same time. They comment on the plan of a goal, approve
// it, and follow a cycle. Then they run a schedule, change a template and use it. The
// pages fit a wide window and a phone.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { api, main, step, told, World } from "./lib.mjs";

const long = "Should an-incomprehensibly-long-identifier-without-any-break-in-it-that-goes-on-and-on be stored in SQLite or in files, and who would have to change that later?";

await main(async () => {
  const w = await World.signedIn(["flows"]);
  const { page } = w;
  const dialog = page.getByRole("dialog");
  const look = async (name) => {
    await w.loaded();
    await w.axe(name);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await w.layout(`${name} at ${width} px`);
      await w.picture(`${name.replaceAll(" ", "-")}-${width}`, { fullPage: true });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  };

  await step("a debate starts in the form", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("w");
    await page.getByRole("heading", { name: "No open flow" }).waitFor();
    await look("flows empty");
    await page.getByRole("button", { name: "New flow" }).click();
    await dialog.getByLabel("Kind").selectOption("debate");
    await dialog.getByLabel("Title").fill(long);
    await dialog.getByLabel("Description").fill("Events are written **often** and read rarely.");
    await dialog.getByLabel("Sides").fill("scripted");
    await w.axe("new flow");
    await w.shot("form-new-flow");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("alert").waitFor(); // a debate has two sides
    await dialog.getByLabel("Sides").fill("scripted, scripted:mini");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.waitForURL(/\/flows\/flows-1$/);
  });

  await step("its page shows the verdict, the rounds and the steps", async () => {
    await w.status("done");
    await page.getByRole("heading", { name: "Verdict" }).waitFor();
    const grid = page.getByRole("region", { name: "Rounds" });
    await grid.getByText("SQLite, because a crash loses nothing.").first().waitFor();
    assert.equal(await grid.locator("tbody tr").count(), 2);
    assert.equal(await page.locator("[data-step]").count(), 4);
    await look("flow of a debate");
    await page.locator("[data-step] a").first().click();
    await page.waitForURL(/\/tasks\/flows-2/);
    await page.locator(".crumbs").getByRole("link", { name: "flows-1" }).click();
    await page.waitForURL(/\/flows\/flows-1$/);
  });

  await step("a document that somebody else writes is not lost", async () => {
    await page.getByRole("button", { name: "Edit summary" }).click();
    await dialog.getByLabel("Text").fill("mine");
    const before = await api("GET", "/flows/flows-1/documents/summary");
    await api("PUT", "/flows/flows-1/documents/summary", { text: "- [x] theirs\n- [ ] more", if_version: before.version });
    await dialog.getByText("changed this document while you had it open").waitFor();
    assert.equal(await dialog.getByLabel("Your text").inputValue(), "mine");
    await w.axe("conflict of a document");
    await w.shot("flow-conflict");
    await dialog.getByRole("button", { name: "Keep my text" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "summary", exact: true }).click();
    await page.locator(".flow-document").getByText("mine").waitFor();
    await page.getByLabel("Version").selectOption(String(before.version + 1));
    await page.locator(".flow-document").getByLabel("done").waitFor();
    await look("flow with versions");
    await page.getByRole("button", { name: "changes" }).click();
    const diff = page.getByRole("region", { name: `Changes from version ${before.version} to ${before.version + 1}` });
    await diff.getByText("+- [x] theirs").waitFor();
    await page.getByLabel("Compared with").selectOption(String(before.version + 2));
    await page.getByRole("region", { name: `Changes from version ${before.version + 2} to ${before.version + 1}` }).getByText("-mine").waitFor();
    await look("flow with a diff of versions");
  });

  await step("the lead gets comments on its plan, and the plan runs when a person approves it", async () => {
    const made = await api("POST", "/projects/flows/tasks", { tasks: [{ title: `Parse it. ${long}`, flow: { kind: "goal", spec: { plan: true } } }] });
    const key = made.tasks[0].key;
    await w.goto("/flows/" + key);
    const plan = page.getByRole("region", { name: "Plan", exact: true });
    await plan.getByText("waits for your approval").waitFor();
    const graph = page.getByRole("region", { name: "Graph of steps" });
    await graph.locator('[data-node="w-all"] .planned').waitFor();
    const number = async (text) => plan.locator(".ln", { hasText: text }).locator("button[data-n]");
    for (const [line, text] of [["all: Write", "Split this into the lexer and the parser."], ["description: Everything", "Say how to see that it is done."]]) {
      await (await number(line)).click();
      await plan.getByRole("textbox").fill(text);
      await plan.getByRole("button", { name: "Add the comment" }).click();
      await plan.getByRole("article").getByText(text).waitFor();
    }
    await look("flow with comments on its plan");
    await plan.getByRole("button", { name: "Send 2 comments" }).click();
    await plan.getByText("lexer: Write the lexer").waitFor();
    await graph.locator('[data-node="w-parser"] .planned').waitFor();
    await look("flow with a plan to approve");
    await plan.getByRole("button", { name: "Approve and run" }).click();
    await w.status("done");
    await page.getByLabel("done").nth(2).waitFor();
    assert.equal(await graph.locator(".planned").count(), 0);
    assert.deepEqual(await graph.locator("[data-node]").evaluateAll((all) => all.map((n) => n.dataset.node).sort()), ["plan", "verify-1", "w-docs", "w-lexer", "w-parser"]);
    await graph.locator('[data-node="plan"]').click();
    const panel = page.getByRole("region", { name: "Steps of Plan" });
    await panel.getByRole("article", { name: "Step plan-2" }).getByText("Input").click();
    await panel.getByText("Split this into the lexer and the parser.").waitFor();
    await panel.getByText("0.30", { exact: false }).first().waitFor();
    await look("flow of a goal");
  });

  await step("a cycle has a row for each cycle, and parts with a count", async () => {
    const made = await api("POST", "/projects/flows/tasks", { tasks: [{ title: `Read and print. ${long}`, flow: { kind: "cycle", spec: { cycles: 4 } } }] });
    await w.goto("/flows/" + made.tasks[0].key);
    await w.status("done");
    const rows = page.getByRole("region", { name: "Cycles" }).locator("tbody tr");
    await rows.nth(2).getByText("Both work.").waitFor();
    assert.match(await rows.nth(0).innerText(), /☑ The file is read/);
    assert.match(await rows.nth(1).innerText(), /0 of 2/);
    await page.locator('[data-node="review"]').getByText("done · 3 of 4").waitFor();
    await look("flow of a cycle");
  });

  await step("a schedule runs now", async () => {
    await w.goto("/schedules");
    await page.getByRole("button", { name: "New schedule" }).click();
    await dialog.getByLabel("Name").fill("nightly");
    await dialog.getByLabel("Cron line").fill("0 3 * * *");
    await dialog.getByLabel("Title").fill(long);
    await w.axe("new schedule");
    await w.shot("form-new-schedule");
    await dialog.getByRole("button", { name: "Add" }).click();
    const nightly = page.locator("[data-schedule=nightly]");
    await nightly.getByText("never ran").waitFor();
    await nightly.getByRole("button", { name: "Run the schedule nightly" }).click();
    await nightly.getByText("1 run", { exact: false }).first().waitFor();
    await nightly.getByText("History").click();
    await nightly.locator(".s-done").waitFor();
    await nightly.getByRole("button", { name: "Pause the schedule nightly" }).click();
    await nightly.getByText("paused", { exact: true }).waitFor();
    await look("schedules");
  });

  await step("a template is changed after its diff", async () => {
    await w.goto("/templates");
    await page.getByRole("button", { name: "Edit the template update" }).click();
    await dialog.getByLabel("Text").fill("---\ntitle: Update {{what}}\n---\n");
    await dialog.getByRole("button", { name: "Show the change" }).click();
    await dialog.getByRole("alert").waitFor(); // the variable is not declared
    await dialog.getByLabel("Text").fill("---\ntitle: Update everything\n---\nUpdate all packages.\n");
    await dialog.getByRole("button", { name: "Show the change" }).click();
    await dialog.getByRole("region", { name: "The change" }).waitFor();
    await w.axe("change of a template");
    await w.shot("form-template");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Update everything").waitFor();
    assert.match(await readFile(`${told.root}/flows/.coppice/templates/update.md`, "utf8"), /Update all packages/);
    await api("POST", "/projects/flows/tasks", { tasks: [{ template: "update" }] });
    await page.getByRole("region", { name: "Statistics of update" }).getByText("100 %").waitFor();
    await look("templates");
  });

  await step("a template with a variable becomes a task", async () => {
    await api("PUT", "/projects/flows/templates/greet", { text: `---\ntitle: Greet {{who}}\nvariables:\n  who: {about: Whom to greet, required: true}\n  how: {default: warmly}\n---\nGreet {{who}} {{how}}.\n` });
    await w.goto("/templates");
    await page.keyboard.press("n");
    await dialog.getByLabel("Template").selectOption("greet");
    await dialog.getByLabel("who").fill("everyone");
    await w.axe("new task from a template");
    await w.shot("form-new-task-template");
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { name: "Greet everyone" }).waitFor();
  });

  await step("the list has the flow, and a batch with a plan of many tasks fits", async () => {
    const tasks = Array.from({ length: 12 }, (_, i) => ({ title: `${i} ${long}` }));
    const made = await api("POST", "/projects/flows/tasks", { tasks: [{ title: long, flow: { kind: "batch", spec: { tasks, most: 2 } } }] });
    await w.goto("/flows?show=all");
    await page.locator("[data-flow=flows-1]").getByText("4 of 4").waitFor();
    await look("flows");
    await w.goto("/flows/" + made.tasks[0].key);
    await page.locator("[data-step]").first().waitFor();
    await look("flow of a batch");
  });
  await w.close();
});
