// Checks are seen while they run, a failed task explains itself, and its app can
// be looked at.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { create, main, step, told, World } from "./lib.mjs";

let w;

// both takes pictures at full width and on a phone, and looks for faults.
async function both(name) {
  await w.axe(name);
  await w.layout(name);
  await w.shot(name);
  await w.page.setViewportSize({ width: 390, height: 844 });
  await w.axe(name + " on a phone");
  await w.layout(name + " on a phone");
  await w.shot(name + "-phone");
  await w.page.setViewportSize({ width: 1280, height: 800 });
}

await main(async () => {
  w = await World.signedIn(["checks"]);
  const { page } = w;
  const pipe = told.root + "/pipe";
  execFileSync("mkfifo", [pipe]);
  const command = `sh step.sh ${pipe}`;
  const write = (text) => writeFile(pipe, text + "\n");
  const section = (name) => page.getByRole("region", { name, exact: true });
  const [key] = await create("checks", { title: "Add a page that says a great deal about very little, and is checked step by step while somebody looks on", checks: [command] });

  await step("a running check is below the conversation", async () => {
    await w.goto("/tasks/" + key);
    await page.getByText("I write a page").waitFor();
    await page.locator(".running-line code").getByText(command).waitFor();
    await page.getByRole("tab", { name: /Checks 2 · running/ }).waitFor();
    await both("conversation-checks");
    await page.getByRole("link", { name: "checks run" }).click();
  });

  await step("its lines are shown as they come, by command", async () => {
    await section(command).getByText("running", { exact: true }).waitFor();
    await section("echo all is set").getByText("✓ passed").waitFor();
    for (const line of ["one", "two", "a.c:7: error: three"]) {
      await write(line);
      await section(command).locator(".log-line").getByText(line, { exact: true }).waitFor();
    }
    await section(command).locator(".log-line.bad").getByText("three").waitFor();
    await section("echo all is set").getByRole("button", { expanded: false }).click();
    await section("echo all is set").locator(".log-line").getByText("all is set").waitFor();
    await both("checks-running");
  });

  await step("it follows until somebody scrolls up, and again on request", async () => {
    const log = section(command).getByRole("log");
    const last = (text) => section(command).locator(".log-line").getByText(text, { exact: true });
    const inView = (line) => line.evaluate((el) => {
      const [box, row] = [el.closest(".lines").getBoundingClientRect(), el.getBoundingClientRect()];
      return row.bottom <= box.bottom + 1 && row.top >= box.top - 1;
    });
    await write(Array.from({ length: 200 }, (_, i) => `line ${i + 1} of a long log`).join("\n"));
    await last("line 200 of a long log").waitFor();
    assert.ok(await inView(last("line 200 of a long log")));
    await log.hover();
    await page.mouse.wheel(0, -900);
    await section(command).getByRole("button", { name: "Follow", exact: true }).waitFor();
    await write("below");
    await section(command).getByRole("button", { name: "Follow", exact: true }).click();
    await last("below").waitFor();
    assert.ok(await inView(last("below")));
    await section(command).getByRole("button", { name: "Following" }).waitFor();
  });

  await step("the bars of running checks are in the timelines", async () => {
    await w.goto("/timeline");
    await page.locator(`.gantt-bar.check.runs[aria-label="check: ${command}"]`).waitFor();
    await both("timeline-checks");
    await w.goto(`/tasks/${key}?tab=timeline`);
    await page.locator(".gantt-bar.check.runs").waitFor();
    await both("task-timeline-checks");
  });

  await step("a failed check opens at its first error", async () => {
    await w.goto(`/tasks/${key}?tab=checks`);
    await section(command).locator(".log-line").getByText("below", { exact: true }).waitFor();
    await write("exit 3");
    await w.status("failed");
    const red = section(command);
    await red.getByText("✗ exit code 3").waitFor();
    await red.locator(".log-line.bad.marked").getByText("a.c:7: error: three").waitFor();
    assert.equal(await red.locator(".log-line.marked .line-no").textContent(), "3");
    await both("checks-failed");
  });

  await step("the banner explains it, leads to the line, and has the actions", async () => {
    await w.goto("/tasks/" + key);
    const why = page.locator(".why.bad");
    await why.getByText("checks failed", { exact: true }).waitFor();
    await why.locator(".log-line.bad").getByText("a.c:7: error: three").waitFor();
    for (const name of ["Land", "Continue", "Retry"]) await why.getByRole("button", { name, exact: true }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Retry", exact: true }).count(), 1);
    await both("task-failed");
    await why.getByRole("link", { name: "Open the log at line 3" }).click();
    await page.locator(".run.marked .log-line.marked").getByText("a.c:7: error: three").waitFor();
    assert.match(page.url(), /check=\d+&line=3$/);
  });

  await step("Ctrl F searches the whole log", async () => {
    await page.keyboard.press("Control+f");
    await page.keyboard.type("line 150 of");
    await page.getByText("1 found").waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".log-line.marked mark").getByText("line 150 of").waitFor();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
    assert.match(file.suggestedFilename(), /^sh-step\.sh.*\.log$/);
  });

  await step("its app is started, opened, read and stopped", async () => {
    await w.goto("/tasks/" + key);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command" }).fill("start preview");
    await page.getByRole("option", { name: `Start preview ${key} this task` }).click();
    await page.getByRole("tab", { name: "Preview ready" }).waitFor();
    const link = page.getByRole("link", { name: /^http:\/\/127\.0\.0\.1:/ });
    const [app] = await Promise.all([w.context.waitForEvent("page"), link.click()]);
    await app.getByText("a page of the app").waitFor();
    await app.close();
    const address = await link.getAttribute("href");
    assert.equal(await (await fetch(address)).text(), "a page of the app");
    await page.locator(".log-line").getByText("the app answers GET /", { exact: true }).first().waitFor();
    await both("task-preview");
    await w.goto("/?project=checks");
    await page.locator(`[data-key=${key}]`).getByText("preview").waitFor();
    await w.goto(`/tasks/${key}?tab=preview`);
    await page.getByRole("button", { name: "Stop preview" }).click();
    await page.locator(".preview-head").getByText("stopped", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Start preview" }).waitFor();
    await both("task-preview-stopped");
    await assert.rejects(fetch(address));
  });

  await step("a long log is searched, and little of it is drawn", async () => {
    const [big] = await create("checks", { title: "Write much", checks: ["test ! -d pages || { seq 1 200000; echo 'Error: too much'; exit 1; }"] });
    await w.goto(`/tasks/${big}?tab=checks`);
    await w.status("failed");
    await page.locator(".log-line.bad.marked").getByText("Error: too much").waitFor();
    assert.ok((await page.locator(".log-line").count()) < 200);
    await page.keyboard.press("Control+f");
    await page.keyboard.type("1234");
    await page.getByText(/\d+ found/).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".log-line.marked mark").getByText("1234").waitFor();
    assert.ok((await page.locator(".log-line").count()) < 200);
    await both("checks-long");
  });

  await w.close();
});
