// An agent asks before it uses tools, and is answered in the browser: once, for
// always, and with a refusal that it is told the reason of.
import assert from "node:assert/strict";
import { addProject, api, create, main, step, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["asks"]);
  const { page } = w;
  const form = page.getByRole("form", { name: "Permission" });
  const [key] = await create("asks", { title: "Ask for everything" });

  await step("a command is allowed once", async () => {
    await w.goto("/tasks/" + key);
    await form.getByText("npm test first").waitFor();
    await w.axe("permission");
    await w.shot("task-permission");
    await form.getByRole("button", { name: "Allow", exact: true }).click();
    await page.locator(".blocks").getByText("npm test first: I may.").waitFor();
  });

  await step("and its kind for always: the next is not asked about", async () => {
    await form.getByText("npm test second").waitFor();
    await form.getByText("npm test *").waitFor();
    await form.getByRole("button", { name: "Allow always" }).click();
    await page.locator(".blocks").getByText("npm test third: I may.").waitFor();
  });

  await step("another is refused, and the agent is told why", async () => {
    await form.getByText("may it run: rm -r build").waitFor();
    await form.getByLabel("Reason").fill("the build is still wanted");
    await form.getByRole("button", { name: "Deny", exact: true }).click();
    await page.locator(".blocks").getByText("rm -r build: I may not.").waitFor();
    await page.locator(".blocks").getByText(/I was told: [^]*the build is still wanted/).waitFor();
    await w.status("done");
    const d = await api("GET", "/tasks/" + key);
    assert.equal(d.questions.length, 3);
  });

  await step("a call is found once, and only what was asked is marked", async () => {
    const marks = (kind) => page.$$eval(`.blocks .b-${kind}`, (all) => all.map((el) => getComputedStyle(el).borderLeftColor));
    const [asked, allowed] = [await marks("question"), await marks("permission")];
    assert.ok(asked.length > 0 && allowed.length > 0);
    assert.ok(!allowed.includes(asked[0]), `${allowed} has the colour of a question, ${asked[0]}`);
    await w.goto("/search?q=%22npm+test+second%22");
    await page.locator(".hits li").first().waitFor();
    await page.getByText(/still being indexed/).waitFor({ state: "detached" });
    const hits = await page.$$eval(".hits .snippet", (all) => all.map((el) => el.textContent));
    assert.equal(hits.filter((h) => !h.includes("I may")).length, 1, hits.join(" | ")); // the agent says it, too
  });

  await step("a question of 3,000 characters with 8 long options covers nothing, and nothing covers it", async () => {
    await addProject("people");
    const [long] = await create("people", { title: "Ask at length" });
    const question = page.getByRole("form", { name: "Question" });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const path of ["/tasks/" + long, `/tasks/${long}/review`, "/inbox"]) {
        await w.goto(path);
        await page.getByText("Which of the migrations should run first?").first().waitFor();
        await w.shot(`long-question${path.replaceAll(/\W+/g, "-")}-${width}`);
        await w.layout(`a long question on ${path} at ${width} px`);
        if (path === "/inbox") continue;
        await question.getByRole("button", { name: "Answer", exact: true }).scrollIntoViewIfNeeded();
        await w.layout(`the end of a long question on ${path} at ${width} px`);
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await w.goto("/tasks/" + long);
    await w.loaded(); // a part that arrives later moves what is clicked
    await question.getByRole("button", { name: /^8\. Plan 8/ }).click();
    await question.waitFor({ state: "detached" });
    // The agent ends at once and has changed nothing, so its last words become the
    // task's answer, which is shown instead of the conversation.
    await page.getByRole("tabpanel").getByText("You said Plan 8").first().waitFor();
  });

  await step("what was said always to can be forgotten", async () => {
    await w.goto("/settings");
    await page.locator(".rules").getByText("npm test *").waitFor();
    await page.locator(".rules").getByRole("button", { name: "Remove" }).click();
    await page.locator(".rules").waitFor({ state: "detached" });
    assert.deepEqual((await api("GET", "/projects/asks/rules")).rules, []);
  });

  await w.close();
});
