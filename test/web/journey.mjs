// A person's way through the dashboard, from the first open to an undo.
import assert from "node:assert/strict";
import { addProject, api, main, step, told, World } from "./lib.mjs";

await main(async () => {
  const w = await World.open();
  const { page } = w;

  await step("without a cookie there is a door, and no dashboard", async () => {
    const resp = await page.goto(told.url + "/");
    assert.equal(resp.status(), 401);
    await page.getByRole("heading", { name: "Sign in to Coppice" }).waitFor();
  });

  await step("the one-time link works once", async () => {
    const url = await w.signIn();
    await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
    const again = await (await w.browser.newContext()).newPage();
    assert.equal((await again.goto(url)).status(), 401);
    await again.context().close();
  });

  await step("a project is added, and a wrong one is refused with a way out", async () => {
    await page.getByLabel("Directory of a git checkout").fill(told.root + "/home");
    await page.getByRole("button", { name: "Add project" }).click();
    await page.locator(".problem").waitFor();
    await page.getByLabel("Directory of a git checkout").fill(told.root + "/app");
    await page.getByRole("button", { name: "Add project" }).click();
    await page.getByText("app was added").waitFor();
  });

  await step("a task is made by the form, and a wrong field is named", async () => {
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "New task" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Title").and(page.locator(":focus")).waitFor();
    await form.getByLabel("Title").fill("Ask how to greet");
    await form.getByLabel("Description").fill("Greet people.\n\n- kindly\n- in `greeting.txt`");
    await form.getByLabel("Depends on").fill("app-99");
    await form.getByRole("button", { name: "Create", exact: true }).click();
    await form.locator(".problem").getByText("app-99").waitFor();
    await form.getByLabel("Depends on").fill("");
    await form.getByLabel("Priority").fill("3");
    await form.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { name: "Ask how to greet" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/tasks/app-1");
  });

  await step("it is watched live, and its question answered", async () => {
    await w.status("needs you");
    await page.locator(".blocks").getByText("First a question about the").waitFor();
    await page.waitForFunction(() => document.title.startsWith("(1) "));
    await page.getByRole("button", { name: "casual" }).click();
    await page.locator(".blocks").getByText("You said casual.").waitFor();
    await page.waitForFunction(() => !document.title.startsWith("("));
  });

  await step("it lands", async () => {
    await w.status("done");
    await page.getByText("landed as").waitFor();
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.locator(".diff .d-add").getByText("a casual greeting").waitFor();
    await page.getByRole("tab", { name: "Cost" }).click();
    await page.getByRole("cell", { name: "$0.42" }).first().waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.getByText("Workspace removed").waitFor();
  });

  await step("undo restores its workspace", async () => {
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Undo removal" }).click();
    await page.getByText("Workspace restored").waitFor();
    const d = await api("GET", "/tasks/app-1");
    assert.ok(!d.workspace.removed_at);
  });

  await step("an ended task continues, in the same conversation", async () => {
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("now also wave");
    await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
    await page.getByText("restarted once").waitFor();
    await page.getByRole("tab", { name: "Sessions" }).click();
    await page.getByRole("tab", { name: /2 implement/ }).waitFor();
    const { resume } = await api("GET", "/sessions/app-1.2");
    assert.ok(resume, "it does not continue a conversation");
  });

  await step("a failing check is seen, and its fix", async () => {
    await page.keyboard.press("n");
    await page.getByRole("dialog").getByLabel("Title").fill("Choose a number");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Choose a number" }).waitFor();
    await w.status("done");
    await page.getByRole("tab", { name: "Checks" }).click();
    await page.getByText("7 is odd").waitFor();
    await page.getByText("refused by its checks").waitFor();
    await page.getByRole("tab", { name: "Sessions" }).click();
    await page.getByText("I take the next one.").waitFor();
    await page.getByRole("tab", { name: /1 implement/ }).click();
    await page.getByText("I choose seven.").waitFor();
  });

  await step("words are found in what a session wrote", async () => {
    await page.getByLabel("Search in this session").fill("lucky");
    await page.getByText("1 match").waitFor();
    await page.getByLabel("Search in this session").fill("no such word");
    await page.getByRole("heading", { name: "No match" }).waitFor();
    await page.getByLabel("Search in this session").fill("");
    await page.getByRole("button", { name: "Raw" }).click();
    await page.locator(".raw").getByText("I choose seven.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Terminal" }).count(), 0, "a session without a screen has no terminal");
  });

  await step("and in what all sessions wrote", async () => {
    await page.getByRole("link", { name: "Search" }).click();
    await page.getByLabel("Search", { exact: true }).pressSequentially("prime lucky");
    await page.locator(".hits a", { hasText: "app-2.1" }).first().click();
    await page.locator(".block.marked").getByText("it is lucky").waitFor();
  });

  await step("a message is sent and heard", async () => {
    await page.keyboard.press("n");
    await page.getByRole("dialog").getByLabel("Title").fill("Listen to me");
    await page.keyboard.press("Enter");
    await page.getByText("I am listening.").waitFor();
    await page.getByLabel("Message to the agent").fill("be brief");
    await page.keyboard.press("Enter");
    await page.getByText("I heard: be brief").waitFor();
    await w.status("done");
    await page.getByText(/^delivered /).waitFor();
  });

  await step("a running session is ended and restarted, with a note, and again from the palette", async () => {
    await page.keyboard.press("n");
    await page.getByRole("dialog").getByLabel("Title").fill("Work for long");
    await page.keyboard.press("Enter");
    await page.getByText("until somebody stops me").waitFor();
    await page.getByRole("button", { name: "Next error (1)" }).click();
    await page.getByRole("button", { name: "Requeue" }).click();
    await page.getByRole("dialog").getByLabel("What should it do differently?").fill("take a shorter way");
    await page.getByRole("dialog").getByLabel("Model").fill("auto");
    await page.getByRole("dialog").getByRole("button", { name: "Requeue" }).click();
    await page.getByRole("tab", { name: /2 implement/ }).waitFor();
    await page.getByText("restarted once").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command" }).fill("requeue app-4");
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: /3 implement/ }).waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.locator(".story").getByText("take a shorter way").first().waitFor();
    await page.getByRole("tab", { name: "Sessions" }).click();
  });

  await step("a running session is stopped, from the palette", async () => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command" }).fill("stop app-4");
    await page.keyboard.press("Enter");
    await w.status("cancelled");
  });

  await step("a failure tells class and way out, and is tried again with a note", async () => {
    await page.keyboard.press("n");
    await page.getByRole("dialog").getByLabel("Title").fill("Never works");
    await page.keyboard.press("Enter");
    await w.status("needs you", "failed");
    await page.locator(".why").getByText("the task cannot be done").waitFor();
    await page.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("log in first");
    await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
    await page.getByRole("tab", { name: /4 implement/ }).waitFor();
    await w.status("needs you", "failed");
  });

  await step("work that waits for a word lands when told", async () => {
    await addProject("manual");
    await w.goto("/?project=manual");
    await page.keyboard.press("n");
    await page.getByRole("dialog").getByLabel("Project").selectOption("manual");
    await page.getByRole("dialog").getByLabel("Title").fill("Do it by hand");
    await page.getByRole("dialog").getByRole("button", { name: "Create", exact: true }).click();
    await w.status("needs you");
    await page.getByRole("link", { name: "Landing" }).click();
    await page.locator(".queue").getByRole("button", { name: "Land" }).click();
    await page.getByRole("region", { name: "Landed tasks" }).getByRole("link", { name: "manual-1" }).click();
    await w.status("done");
  });

  await step("the board is filtered, and the address keeps it", async () => {
    await w.goto("/?view=table&q=number");
    await page.locator("[data-key=app-2]").waitFor();
    assert.equal(await page.locator("[data-key]").count(), 1);
    await page.getByLabel("Filter", { exact: true }).fill("");
    await page.locator("[data-key=manual-1]").waitFor();
    assert.equal(new URL(page.url()).search, "?view=table");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Board" }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    assert.ok(await page.evaluate(() => document.activeElement.closest("[data-row]") !== null));
  });

  await step("many are requeued, and stopped, at once", async () => {
    await api("POST", "/projects/app/pause");
    await api("POST", "/projects/app/tasks", { tasks: [{ title: "One to stop" }, { title: "Two to stop" }] });
    await w.goto("/?view=table&q=to+stop");
    await page.getByLabel("Select all of Waiting").check();
    await page.getByRole("toolbar", { name: "Selected tasks" }).getByRole("button", { name: "Requeue 2" }).click();
    await page.getByRole("toolbar", { name: "Selected tasks" }).waitFor({ state: "detached" });
    await page.getByLabel("Select all of Waiting").check();
    await page.getByRole("toolbar", { name: "Selected tasks" }).getByRole("button", { name: "Stop 2" }).click();
    await page.locator(".row .s-cancelled").nth(1).waitFor();
    await api("POST", "/projects/app/resume");
  });

  await step("priority is changed by dragging", async () => {
    await api("POST", "/projects/app/pause");
    await api("POST", "/projects/app/tasks", { tasks: [{ title: "Drag first" }, { title: "Drag second" }] });
    await w.goto("/?q=drag");
    const cards = page.locator(".card");
    await cards.nth(1).waitFor();
    assert.match(await cards.nth(0).innerText(), /Drag first/);
    await cards.nth(1).dragTo(cards.nth(0), { targetPosition: { x: 40, y: 8 } });
    await page.locator(".virtual-row").filter({ hasText: "Drag second" }).getByText("▲ 1").waitFor();
    assert.match(await page.locator(".virtual-row").first().innerText(), /Drag second/);
    await api("POST", "/projects/app/resume");
  });

  await w.close();
});
