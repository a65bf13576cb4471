// The server goes away under an open page, and comes back: the page says so,
// and misses nothing.
import assert from "node:assert/strict";
import { ask, create, main, step, told, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["app"]);
  const { page } = w;

  await step("a session runs", async () => {
    const [key] = await create("app", { title: "Ask how to greet" });
    await w.goto("/tasks/" + key);
    await w.status("needs you");
    await page.locator(".blocks").getByText("First a question about the").waitFor();
  });

  await step("the server is killed; the page says so and keeps what it has", async () => {
    w.offline = true;
    await ask("kill");
    await page.locator("[data-connection=lost]").waitFor();
    await page.getByText("no event will be missed").waitFor();
    await page.getByRole("heading", { name: "Ask how to greet" }).waitFor();
  });

  await step("what cannot be done in the meantime says why", async () => {
    await page.getByRole("button", { name: "casual" }).click();
    await page.locator(".toast .problem").getByText("the server does not answer").waitFor();
  });

  await step("it is back; nothing was lost, nobody is signed out", async () => {
    await ask("serve");
    await page.locator("[data-connection=lost]").waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
    w.offline = false;
    await page.getByRole("button", { name: "casual" }).click();
    await page.locator(".blocks").getByText("You said casual.").waitFor();
    await w.status("done");
    assert.equal(await page.locator(".blocks").getByText("First a question about the").count(), 1, "a piece of output is shown twice");
  });

  await step("tasks made while the page was cut off are on the board", async () => {
    await w.goto("/?q=later");
    w.offline = true;
    await page.context().setOffline(true);
    await ask("restart");
    await page.locator("[data-connection=lost]").waitFor();
    const keys = await create("app", { title: "Later one" }, { title: "Later two" });
    await page.context().setOffline(false);
    for (const key of keys) await page.locator(`[data-key=${key}].s-done`).waitFor();
    w.offline = false;
  });

  await step("of two tabs one reads for both, and the other takes over", async () => {
    await w.goto("/?q=shared");
    const other = await w.context.newPage();
    w.watch(other);
    await other.goto(told.url + "/?q=shared");
    await other.getByText("Live", { exact: true }).waitFor();
    const [first] = await create("app", { title: "Shared one" });
    for (const p of [page, other]) await p.locator(`[data-key=${first}].s-done`).waitFor();
    await page.close();
    const [second] = await create("app", { title: "Shared two" });
    await other.locator(`[data-key=${second}].s-done`).waitFor();
  });

  await w.close();
});
