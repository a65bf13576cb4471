// What a session says is on the board while it says it, and what a check wrote
// is found where it is shown.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { api, ask, create, main, step, told, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["app", "words"]);
  const { page } = w;
  const pipe = told.root + "/pipe";
  execFileSync("mkfifo", [pipe]);
  const [key] = await create("words", { title: `Say what comes through ${pipe} at once` });
  const card = page.locator(`[data-key=${key}] .card-line`);
  const events = async () => (await api("GET", `/events?task=${key}&limit=1000`)).events.length;

  // say has the session say something, and tells whether the log says nothing
  // of it.
  const say = async (words, line) => {
    const before = await events();
    await writeFile(pipe, words + "\n");
    await line.getByText(words, { exact: true }).waitFor();
    return (await events()) === before;
  };

  await step("a card's line changes while its session talks, without an event", async () => {
    await w.goto("/?project=words");
    await card.getByText("I listen.").waitFor();
    const quiet = [];
    for (const words of ["One.", "Two.", "Three."]) quiet.push(await say(words, card));
    assert.ok(quiet.includes(true), "there was an event with each");
  });

  await step("so does a row's of the table", async () => {
    await w.goto("/?project=words&view=table");
    await say("Four.", page.locator(`[data-key=${key}] .row-line`));
  });

  await step("a server that went and came back is heard again", async () => {
    await ask("restart");
    await say("Five.", page.locator(`[data-key=${key}] .row-line`));
  });

  await step("whoever leaves the board and comes back sees what is so", async () => {
    await page.getByRole("link", { name: "Health" }).click();
    await page.getByRole("heading", { name: "Health" }).waitFor();
    await writeFile(pipe, "Six.\n");
    await page.getByRole("link", { name: "Board" }).click();
    await card.getByText("Six.", { exact: true }).waitFor();
  });

  await step("what a check wrote is found, and seen among the checks", async () => {
    const [number] = await create("app", { title: "Choose a number" });
    await w.goto("/tasks/" + number);
    await w.status("done");
    await w.goto("/search?q=" + encodeURIComponent('"is odd"'));
    const hit = page.locator(".hits a", { hasText: "check log" }).first();
    await hit.getByText("sh test.sh").first().waitFor();
    await w.axe("search in checks");
    await w.shot("search-checks");
    await hit.click();
    await page.locator(".run.marked").getByText("7 is odd").waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "tasks", exact: true }).click();
    await page.getByRole("heading", { name: "No match" }).waitFor();
    await page.getByRole("button", { name: "checks", exact: true }).click();
    await page.locator(".hits a", { hasText: "check log" }).first().waitFor();
  });

  await w.close();
});
