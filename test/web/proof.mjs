// A task with steps: a verifier finds a fault, it is mended, and every round
// stays to be seen with its evidence and with what the app wrote.
import assert from "node:assert/strict";
import { create, main, step, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["proof"]);
  const { page } = w;
  const [key] = await create("proof", { title: "Greet", steps: ["The page greets.", "It wishes a good morning."] });

  await step("a failing verdict is seen, and its fix", async () => {
    await w.goto("/tasks/" + key);
    await w.status("done");
    await page.getByRole("tab", { name: "Steps 2 of 2" }).click();
    const rounds = page.locator(".round");
    assert.equal(await rounds.count(), 2);
    await rounds.nth(0).getByText("2 of 2 passed").waitFor();
    await rounds.nth(1).getByText("1 of 2 passed").waitFor();
    await rounds.nth(1).locator("li.fail").getByText("a morning is nowhere on the page").waitFor();
    await w.axe("steps");
    await w.shot("task-steps");
  });

  await step("what the app wrote is beside what the verifier said", async () => {
    await page.locator(".round").nth(1).getByRole("link").click();
    await page.locator(".blocks").getByText("I look at the page.").waitFor();
    await page.getByRole("button", { name: "App", exact: true }).click();
    await page.getByLabel("Output of the app").getByText("the app answers GET /").waitFor();
    await w.axe("app");
    await w.shot("task-app");
  });

  await step("it is found, and seen where it was written", async () => {
    await w.goto("/search?q=answers+get");
    const hit = page.locator(".hits a", { hasText: "app log" }).first();
    await hit.click();
    await page.locator(".raw mark").getByText("the app answers GET /").waitFor();
    await w.axe("app, around a match");
    await w.shot("task-app-found");
    await page.getByRole("button", { name: "Go to the end" }).click();
    await page.locator(".raw mark").waitFor({ state: "detached" });
    await page.getByLabel("Output of the app").getByText("the app answers GET /").waitFor();
  });

  await step("its changes, whole and since the last session", async () => {
    await w.goto(`/tasks/${key}?tab=changes`);
    await page.locator(".d-add").getByText("good morning").waitFor();
    assert.equal(await page.locator(".d-del").count(), 0);
    await page.getByRole("button", { name: "since the last session" }).click();
    await page.locator(".d-del").getByText("hello").waitFor();
    await w.axe("changes since");
    await w.shot("task-changes-since");
  });

  await w.close();
});
