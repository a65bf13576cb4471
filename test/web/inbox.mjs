// The inbox, and what people mark tasks with: everything that needs a person is in
// one list and can be done there; groups, labels, flags and unread tasks.
import assert from "node:assert/strict";
import { addProject, api, create, main, step, World } from "./lib.mjs";

await main(async () => {
  const w = await World.open();
  const { page } = w;
  await addProject("people");
  await w.signIn();
  const entry = (id) => page.locator(`[data-entry="${id}"]`);
  const titleHas = (n) => page.waitForFunction((want) => document.title.startsWith(want), n ? `(${n}) ` : "Inbox");
  const gone = (id) => entry(id).waitFor({ state: "detached" });

  await step("an empty inbox says so", async () => {
    await w.goto("/inbox");
    await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
    await titleHas(0);
    await w.axe("empty inbox");
    await w.shot("inbox-empty");
  });

  const [asks, fails, silent, fails2] = await step("what needs a person appears, with its count", async () => {
    const keys = [];
    for (const title of ["Ask how to greet", "Fails because of a reason that is long enough to need more than the one line that an entry of the inbox has at 1280 pixels, and then some", "Falls silent", "Fails too"]) {
      keys.push(...(await create("people", { title })));
    }
    await entry(`failed/${keys[1]}`).waitFor();
    await entry(`failed/${keys[3]}`).waitFor();
    await entry(`stalled/${keys[2]}`).getByText("stalled: no output for 2s").waitFor();
    await page.locator(`[data-entry^="question/${keys[0]}/"]`).waitFor();
    await titleHas(4);
    await page.getByRole("link", { name: /^Inbox/ }).getByText("4").waitFor();
    assert.deepEqual(await page.locator(".entry-part h2").allTextContents(), ["An agent waits for you 1", "Work is blocked 1", "Results 2"]);
    await w.axe("inbox");
    await w.shot("inbox");
    return keys;
  });

  await step("j and k move, Enter opens", async () => {
    await page.getByRole("heading", { name: "Inbox" }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/tasks/${asks}`);
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.waitForURL("**/inbox");
  });

  await step("a silent task is in the first column of the board, and marked", async () => {
    await w.goto("/");
    const card = page.getByRole("region", { name: "Needs you" }).locator(`[data-key=${silent}].stalled`);
    await card.getByText("stalled: no output for 2s").waitFor();
    await w.axe("board with a silent task");
    await w.shot("board-stalled");
    await w.goto("/inbox");
  });

  await step("a question is answered in the inbox", async () => {
    const question = page.locator(`[data-entry^="question/${asks}/"]`);
    await question.getByRole("button", { name: "casual" }).click();
    await question.waitFor({ state: "detached" });
    await entry(`review/${asks}`).getByText("waiting for your review").waitFor();
  });

  await step("a failed task is retried with a note", async () => {
    await entry(`failed/${fails}`).getByRole("button", { name: "Retry" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("now it works");
    await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
    await gone(`failed/${fails}`);
    await entry(`review/${fails}`).waitFor();
  });

  await step("an entry is snoozed, listed as snoozed, and wakes", async () => {
    await entry(`failed/${fails2}`).getByRole("button", { name: "Snooze" }).click();
    await w.shot("inbox-snooze");
    await page.getByRole("menuitem", { name: "For 1 hour" }).click();
    await gone(`failed/${fails2}`);
    await titleHas(3);
    await page.getByRole("button", { name: "snoozed 1" }).click();
    await entry(`failed/${fails2}`).getByText("snoozed until").waitFor();
    await w.axe("snoozed entries");
    await w.shot("inbox-snoozed");
    await entry(`failed/${fails2}`).getByRole("button", { name: "Wake" }).click();
    await page.getByRole("heading", { name: "Nothing is snoozed" }).waitFor();
    await page.getByRole("button", { name: "open", exact: true }).click();
    await entry(`failed/${fails2}`).waitFor();
    await titleHas(4);
  });

  await step("an entry is snoozed until an event of another task, and comes back with it", async () => {
    await entry(`failed/${fails2}`).getByRole("button", { name: "Snooze" }).click();
    await page.getByRole("menuitem", { name: "Until an event…" }).click();
    await page.getByRole("dialog").getByLabel("Task").fill(asks);
    await page.getByRole("dialog").getByLabel("Until").selectOption("landed");
    await page.getByRole("dialog").getByRole("button", { name: "Snooze" }).click();
    await gone(`failed/${fails2}`);
    await entry(`review/${asks}`).getByRole("button", { name: "Land" }).click();
    await gone(`review/${asks}`);
    await entry(`failed/${fails2}`).getByText("back", { exact: true }).waitFor();
  });

  await step("work that waits for a review says so", async () => {
    await w.goto("/tasks/" + fails);
    await page.locator(".task-state").getByText("in review").waitFor();
  });

  await step("a task that nobody has seen is marked, until its page is open", async () => {
    await w.goto("/?unread=yes");
    const dot = page.locator(".card-box", { has: page.locator(`[data-key=${fails2}]`) }).getByLabel("unread");
    await dot.waitFor();
    await page.locator(`[data-key=${fails2}]`).click();
    await page.getByRole("heading", { name: "Fails too" }).waitFor();
    await page.getByRole("link", { name: "Board" }).click();
    await page.getByRole("checkbox", { name: "Unread" }).check();
    await page.locator(`[data-key=${fails2}]`).waitFor({ state: "detached" });
    assert.equal((await api("GET", "/tasks/" + fails2)).unread ?? false, false);
  });

  await step("labels, group and flag are changed from the card", async () => {
    await w.goto("/");
    const box = page.locator(".card-box", { has: page.locator(`[data-key=${fails2}]`) });
    await box.getByRole("button", { name: `Actions of ${fails2}` }).click();
    await w.axe("the menu of a card");
    await w.shot("card-menu");
    await page.getByRole("menuitem", { name: "Labels and group…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Labels").fill("Later");
    await dialog.getByLabel("Group").fill("second-look");
    await dialog.getByLabel("Flagged").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.locator(".problem").getByText("not a valid label").waitFor();
    await w.axe("labels and group");
    await w.shot("marks");
    await dialog.getByLabel("Labels").fill("later, ui");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await box.getByText("later").waitFor();
    await box.getByLabel("flagged").waitFor();
  });

  await step("the board, the graph and the timeline filter by them", async () => {
    await page.getByRole("combobox", { name: "Label", exact: true }).selectOption("later");
    await page.locator(`[data-key=${silent}]`).waitFor({ state: "detached" });
    assert.deepEqual(await page.locator("a.card").evaluateAll((list) => list.map((c) => c.dataset.key)), [fails2]);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.locator(`[data-key=${silent}]`).waitFor();
    await page.getByRole("checkbox", { name: "Flagged" }).check();
    await page.locator(`[data-key=${silent}]`).waitFor({ state: "detached" });
    await page.locator(`[data-key=${fails2}]`).waitFor();
    await w.goto("/timeline?label=later&zoom=all");
    await page.locator(".gantt-row").getByText(fails2).waitFor();
    assert.equal(await page.locator(".gantt-row").count(), 1);
    await w.axe("timeline of a label");
    await w.shot("timeline-filtered");
    await w.goto("/graph?flagged=yes");
    await page.getByRole("heading", { name: "No matching tasks with dependencies" }).waitFor();
  });

  await step("tasks that are created together are a group, with its page", async () => {
    const batch = await create("people", { title: "One small step" }, { title: "Another one", after: [asks] }, { title: "Fails as well" });
    await w.goto("/groups");
    const row = page.locator("tr", { has: page.getByRole("link", { name: /^batch-/ }) });
    await row.getByText("2 needs you, 1 failed").waitFor();
    await w.axe("groups");
    await w.shot("groups");
    await row.getByRole("link").click();
    await page.getByRole("heading", { name: /^batch-/ }).waitFor();
    await page.locator(`.row[data-key=${batch[0]}]`).getByText("in review").waitFor();
    assert.equal(await page.locator(".row[data-key]").count(), 3);
    await page.getByLabel("Select all 3 tasks").check();
    await w.axe("a group");
    await w.shot("group");
    await page.getByRole("toolbar").getByRole("button", { name: "Land 2" }).click();
    await page.locator(`.row[data-key=${batch[0]}] .s-done`).waitFor();
    await page.locator(`.row[data-key=${batch[1]}] .s-done`).waitFor();
    assert.equal(await page.locator(`.row[data-key=${batch[2]}] .s-failed`).count(), 1);
  });

  await step("a new task gets labels and a group", async () => {
    await page.keyboard.press("n");
    const form = page.getByRole("dialog");
    await form.getByLabel("Title").fill("A labelled step");
    await form.getByLabel("Labels").fill("ui");
    await form.getByLabel("Group").fill("second-look");
    await form.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { name: "A labelled step" }).waitFor();
    await page.locator(".task-side").getByRole("link", { name: "second-look" }).waitFor();
    await page.getByRole("button", { name: "⚑ Flag" }).click();
    await page.getByRole("button", { name: "⚑ Flagged" }).waitFor();
    await w.axe("a flagged task");
    await w.shot("task-marked");
  });

  await step("the header shows what was spent today, and links to help", async () => {
    await page.getByRole("link", { name: /of \$50.00 today/ }).waitFor();
    await page.getByRole("banner").getByRole("link", { name: "Help" }).click();
    await page.getByRole("heading", { name: "Statuses" }).waitFor();
    await w.axe("help");
    await w.shot("help");
  });

  await step("Health gives a verdict, facts in words, and metrics on request", async () => {
    await w.goto("/health");
    await page.locator(".verdict").waitFor();
    await page.getByText("Newest backup").waitFor();
    assert.equal(await page.getByRole("region", { name: "All metrics" }).count(), 0);
    await w.axe("health");
    await w.shot("health");
    await page.getByText("All metrics").click();
    await page.getByRole("cell", { name: "Sessions that count against the limits." }).waitFor();
  });

  await step("on a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const [name, path, seen] of [["inbox", "/inbox", ".entry"], ["groups", "/groups", "table.groups"], ["help", "/help", ".help-list"], ["board-marked", "/", ".card"], ["health", "/health", ".verdict"]]) {
      await w.goto(path);
      await page.locator(seen).first().waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `${name} is ${wide} px wide`);
      await w.axe(name + " on a phone");
      await w.shot("phone-" + name);
    }
  });

  await w.close();
});
