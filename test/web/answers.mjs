// A person asks for an answer in the form, gets told what is wrong with its schema,
// and reads the answer on the task's page.
import assert from "node:assert/strict";
import { api, main, step, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["manual"]);
  const { page } = w;
  const form = page.getByRole("dialog", { name: "New task" });

  await step("the form asks for an answer instead of a change", async () => {
    await w.goto("/");
    await page.getByRole("button", { name: "New task" }).first().click();
    await form.getByLabel("Title").fill("Which colours are there?");
    await form.getByLabel("Steps").waitFor();
    await form.getByLabel("Result").selectOption("answer");
    await form.getByLabel("Steps").waitFor({ state: "detached" });
    await w.axe("new task, answer");
    await w.shot("new-task-answer");
  });

  await step("a schema that cannot be used is refused, and nothing is lost", async () => {
    await form.getByLabel("Schema").fill("{");
    await form.getByRole("button", { name: "Create", exact: true }).click();
    await form.getByText(/The schema is not JSON/).waitFor();
    await form.getByLabel("Schema").fill(`{"$ref": "#"}`);
    await form.getByRole("button", { name: "Create", exact: true }).click();
    await form.getByText(/leads back to itself/).waitFor();
    await form.getByLabel("Schema").fill(`{"type": "array", "items": {"type": "string"}}`);
    await form.getByRole("button", { name: "Create", exact: true }).click();
    await page.waitForURL(/\/tasks\/manual-1/);
  });

  await step("the answer is on the task's page, and nothing landed", async () => {
    await w.status("done");
    await page.getByRole("tab", { name: "Answer" }).click();
    await page.locator(".answer pre").first().getByText(`"green"`).waitFor();
    assert.equal(await page.getByRole("tab", { name: "Changes" }).count(), 0);
    await w.axe("answer");
    await w.shot("task-answer");
    const t = await api("GET", "/tasks/manual-1");
    assert.deepEqual(t.answer.value, ["red", "green"]);
    assert.equal(t.landed, undefined);
    assert.equal(await page.getByRole("button", { name: "Land" }).count(), 0);
  });

  await w.close();
});
