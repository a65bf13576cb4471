// A running session is watched and interrupted; one with a screen of its own is
// typed into, seen from two pages at once, through a restart of the daemon.
import assert from "node:assert/strict";
import { ask, create, main, step, told, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["app", "screens"]);
  const { page } = w;
  // A terminal breaks lines where it likes, so spaces are left out.
  const shows = (p, text) => p.waitForFunction((t) => document.querySelector(".xterm-rows")?.textContent.replace(/\s/g, "").includes(t), text.replace(/\s/g, ""));

  await step("a session without a screen is shown as it comes", async () => {
    const [key] = await create("app", { title: "Work for long" });
    await w.goto("/tasks/" + key);
    await page.locator(".blocks").getByText("until somebody stops me").waitFor();
    await page.getByRole("button", { name: "Raw" }).click();
    await page.locator(".raw").getByText("until somebody stops me").waitFor();
    assert.equal(await page.getByRole("button", { name: "Terminal" }).count(), 0, "a session without a screen has a terminal");
    await page.getByRole("button", { name: "Conversation" }).click();
  });

  await step("it is interrupted in words", async () => {
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("look at the README");
    await page.getByRole("dialog").getByRole("button", { name: "Interrupt" }).click();
    await page.locator(".messages").getByText("look at the README").waitFor();
  });

  await step("one is taken over, typed into, and given back", async () => {
    const [mine] = await create("app", { title: "Work for long, and be taken over" });
    await w.goto("/tasks/" + mine);
    await page.locator(".blocks").getByText("until somebody stops me").waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Take over" }).click();
    await page.getByRole("tab", { name: /2 implement/ }).click();
    await page.getByRole("button", { name: "Terminal" }).click();
    await page.getByText("Attached.").waitFor();
    await shows(page, "ready");
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("Change the README");
    await page.keyboard.press("Enter");
    await shows(page, "● commit");
    await page.getByRole("button", { name: "Give back" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("I changed the README");
    await page.getByRole("dialog").getByRole("button", { name: "Give back" }).click();
    await page.getByRole("tab", { name: /3 implement/ }).waitFor();
  });

  const [key] = await create("screens", { title: "Paint the wall" });
  const address = `/tasks/${key}?view=terminal`;
  const other = await w.context.newPage();
  w.watch(other);

  await step("a screen is seen from two pages", async () => {
    await w.goto(`/tasks/${key}`);
    await page.getByRole("button", { name: "Terminal" }).click();
    await page.getByText("Attached.").waitFor();
    await shows(page, "Which colour?");
    await other.goto(told.url + address);
    await shows(other, "Which colour?");
  });

  await step("what is typed in one is seen in both", async () => {
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("gre");
    await shows(page, "gre");
    await shows(other, "gre");
  });

  await step("the daemon is killed under both; the screen comes back as it was", async () => {
    w.offline = true;
    await ask("kill");
    await page.getByText("The connection to the session is lost").waitFor();
    await ask("serve");
    await page.getByText("Attached.").waitFor();
    await other.getByText("Attached.").waitFor();
    w.offline = false;
    await shows(page, "gre");
    await w.axe("terminal");
    await w.shot("terminal");
  });

  await step("the answer is typed to its end, and the agent goes on", async () => {
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("en");
    await shows(other, "green");
    await page.keyboard.press("Enter");
    await shows(other, "The wall is painted.");
    await other.close();
    const diff = await fetch(`${told.url}/api/v1/tasks/${key}/diff`, { headers: { Authorization: "Bearer " + told.token } });
    assert.match(await diff.text(), /\+green/);
  });

  await w.close();
});
