// A change waits for a review: comments become one message, the agent fixes what
// they say, the comments follow the code, and the approved change lands.
import assert from "node:assert/strict";
import { addProject, api, create, main, step, told, World } from "./lib.mjs";

let w;
let page;
const file = (path, of = page) => of.locator(`[data-path="${path}"]`);
const number = (path, n, side = "new") => file(path).locator(`[data-side=${side}][data-n="${n}"]`);
const text = (path, n, side = "new") => file(path).locator(".ln", { has: page.locator(`[data-side=${side}][data-n="${n}"]`) }).locator("code");

// look checks a view in both themes, at full width and on a phone.
async function look(name) {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await w.axe(`${name} at ${width} px`);
    await w.shot(`${name}-${width}`);
    await w.layout(`${name} at ${width} px`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

await main(async () => {
  await addProject("review");
  w = await World.open({ viewport: { width: 1280, height: 900 } });
  page = w.page;
  await w.signIn();
  const [key] = await create("review", { title: "Greet in the morning" });

  await step("a card that waits for a review opens it", async () => {
    const card = page.locator(`[data-key=${key}].s-needs-you`);
    await card.waitFor();
    await card.click();
    await page.waitForURL(`**/tasks/${key}/review`);
    await page.locator(".why.needs").getByText("waiting for your review").waitFor();
    await page.getByText("0 of 6 viewed").waitFor();
  });

  await step("it shows the change, coloured, with its summary, checks and cost", async () => {
    await file("src/greet.go").locator(".ln-added .hl-keyword").first().waitFor();
    await text("src/greet.go", 11).locator(".hl-string").first().waitFor(); // the second line of a string
    assert.equal(await text("src/greet.go", 8).textContent(), '\t\tname = "stranger"');
    const about = page.locator(".review-about");
    await about.getByText("knows strangers").waitFor();
    await about.getByText("sh test.sh").waitFor();
    await about.getByText("$0.20").waitFor();
    await file("logo.bin").getByText("It is a binary file").waitFor();
    assert.match(await file("logo.bin").getByRole("link", { name: "Open the plain diff" }).getAttribute("href"), /diff/);
    await file("docs/people.txt").getByText("docs/names.txt → docs/people.txt").waitFor();
    const wide = await file("README.md").locator(".diff-lines").evaluate((el) => el.scrollWidth - el.clientWidth);
    assert.ok(wide > 0, "a long line scrolls inside its file");
    await look("review");
  });

  await step("long lines wrap if a person wants that", async () => {
    await page.getByLabel("Wrap long lines").check();
    const wide = await file("README.md").locator(".diff-lines").evaluate((el) => el.scrollWidth - el.clientWidth);
    assert.ok(wide <= 0, `${wide} px`);
    await page.getByLabel("Wrap long lines").uncheck();
  });

  await step("it shows more lines around a change", async () => {
    await file("src/greet.go").getByRole("button", { name: "Show 20 lines below" }).click();
    await text("src/greet.go", 30).waitFor();
    await text("src/greet.go", 30).locator(".hl-keyword").first().waitFor();
  });

  const other = await w.context.newPage();
  w.watch(other);

  await step("a comment on a line survives a reload while it is typed", async () => {
    await other.goto(`${told.url}/tasks/${key}/review`);
    await file("src/greet.go", other).locator(".ln").first().waitFor();
    await number("src/greet.go", 8).click();
    const form = page.getByRole("textbox", { name: "Comment on line 8" });
    await form.fill("a stranger is a **friend** <b>here</b>");
    await page.reload();
    await form.waitFor();
    assert.equal(await form.inputValue(), "a stranger is a **friend** <b>here</b>");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY", "a restored form does not take the focus");
    await look("review-form");
    await page.getByRole("button", { name: "Add the comment" }).click();
    await page.getByRole("article", { name: /draft/ }).getByText("friend").waitFor();
    await page.getByRole("article").getByText("<b>here</b>").waitFor();
    await page.getByRole("region", { name: "Drafts" }).getByText("1 draft").waitFor();
  });

  await step("another tab shows it, and keeps what is typed there", async () => {
    await file("src/greet.go", other).locator("[data-side=new][data-n='9']").click();
    await other.getByRole("textbox", { name: "Comment on line 9" }).fill("half a thought");
    await number("src/words/list.ts", 2).hover();
    await page.mouse.down();
    await number("src/words/list.ts", 5).hover();
    await page.mouse.up();
    await page.getByRole("textbox", { name: "Comment on lines 2–5" }).fill("sort these");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Drafts" }).getByText("2 drafts").waitFor();
    await other.getByText("sort these").waitFor();
    assert.equal(await other.getByRole("textbox", { name: "Comment on line 9" }).inputValue(), "half a thought");
    await other.getByRole("button", { name: "Cancel" }).click();
    assert.equal((await api("GET", `/tasks/${key}/review?files=only`)).drafts, 2);
  });

  await step("the keyboard moves between files, marks them and comments", async () => {
    await page.getByRole("heading", { name: "Greet in the morning" }).click();
    await page.keyboard.press("j");
    await page.locator('[data-path="README.md"] button:focus').waitFor();
    await page.keyboard.press("v");
    await page.getByText("1 of 6 viewed").waitFor();
    assert.equal(await file("README.md").locator(".ln").count(), 0, "a viewed file is closed");
    for (let i = 0; i < 2; i++) await page.keyboard.press("k"); // it is the first
    for (let i = 0; i < 5; i++) await page.keyboard.press("j");
    await page.locator('[data-path="src/words/list.ts"] button:focus').waitFor();
    await page.keyboard.press("v");
    await page.getByText("2 of 6 viewed").waitFor();
    await page.keyboard.press("k");
    await page.keyboard.press("c"); // to the first line, then a comment on the line below
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("c");
    const form = file("src/greet.go").getByRole("textbox");
    await form.waitFor();
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    await page.locator('[data-path="src/greet.go"] [data-n]:focus').waitFor();
  });

  await step("viewed survives a reload, and the other tab", async () => {
    await page.reload();
    await page.getByText("2 of 6 viewed").waitFor();
    assert.equal(await file("README.md").getByRole("checkbox").isChecked(), true);
    await other.getByText("2 of 6 viewed").waitFor();
    await page.getByLabel("Filter by path").fill("words");
    assert.equal(await page.locator(".review-entry").count(), 1);
    await page.getByLabel("Filter by path").fill("");
    await file("src/words/list.ts").locator(".file-name").click();
    await file("src/words/list.ts").locator(".ln").first().waitFor();
    await look("review-comments");
  });

  const thought = other.getByRole("textbox", { name: "Comment on line 7" });
  const top = () => thought.evaluate((el) => el.getBoundingClientRect().top);
  let before;
  await step("somebody else is writing in the other tab, further down", async () => {
    await file("docs/people.txt", other).locator("[data-side=new][data-n='7']").click();
    await thought.fill("who is the seventh?");
    await thought.evaluate((el) => scrollBy(0, el.getBoundingClientRect().top - 200));
    before = await top();
  });

  await step("all drafts become one message, and the agent fixes its work", async () => {
    await page.getByRole("button", { name: "Ask for changes" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("If you send it now, the task continues with the message, and the candidate that waits for your approval is dropped.").waitFor();
    await dialog.getByRole("textbox").fill("Nearly there.");
    await look("review-send");
    await dialog.getByRole("button", { name: "Send to the agent" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("region", { name: "Drafts" }).waitFor({ state: "detached" });
    const outdated = file("src/greet.go").getByRole("article", { name: /sent/ });
    await outdated.getByText("outdated").waitFor();
    await outdated.getByText('name = "stranger"').waitFor();
    await text("src/greet.go", 8).getByText('"friend"').waitFor();
    const { messages } = await api("GET", "/tasks/" + key);
    assert.equal(messages.length, 1);
    for (const part of ["Nearly there.", "friend", "sort these"]) assert.ok(messages[0].text.includes(part), part);
  });

  await step("a comment moves with its code, and a file that changed is not viewed", async () => {
    await page.getByText("1 of 6 viewed").waitFor();
    assert.equal(await file("README.md").getByRole("checkbox").isChecked(), true);
    await file("src/words/list.ts").getByRole("article").getByText("lines 4–7").waitFor();
    await page.locator(".why.needs").getByText("waiting for your review").waitFor();
    await look("review-outdated");
  });

  await step("the new commits leave what is written in the other tab where it is", async () => {
    await file("src/greet.go", other).getByText('"friend"').waitFor();
    assert.equal(await thought.inputValue(), "who is the seventh?");
    const moved = Math.abs((await top()) - before);
    assert.ok(moved < 5, `it moved by ${moved} px`);
    await other.close();
  });

  await step("comments are resolved, and reopened", async () => {
    const articles = page.getByRole("article");
    await articles.first().getByRole("button", { name: "Resolve" }).click();
    await articles.first().getByRole("button", { name: "Reopen" }).click();
    await articles.first().getByRole("button", { name: "Resolve" }).click();
    await articles.first().getByRole("button", { name: "Reopen" }).waitFor();
    await articles.nth(1).getByRole("button", { name: "Resolve" }).click();
    await articles.nth(1).getByRole("button", { name: "Reopen" }).waitFor();
    const { comments } = await api("GET", `/tasks/${key}/review?files=only`);
    assert.deepEqual(comments.map((c) => c.state), ["resolved", "resolved"]);
  });

  await step("the approved change lands", async () => {
    await page.getByRole("button", { name: "Approve and land" }).click();
    await w.status("done");
    await page.getByText("approved by person").waitFor();
    await text("src/greet.go", 8).getByText('"friend"').waitFor();
    await look("review-landed");
  });

  await step("the pages of the task lead to its review", async () => {
    await w.goto(`/tasks/${key}?tab=changes`);
    await page.getByRole("link", { name: "Review by file" }).waitFor();
    await page.getByRole("link", { name: "Review", exact: true }).click();
    await page.waitForURL(`**/tasks/${key}/review`);
    await w.goto("/tasks/review-99/review");
    await page.getByText("There is no task review-99").waitFor();
  });

  await step("many files are read as they come near", async () => {
    const [many] = await create("review", { title: "Many files with a title that is so long that it does not fit into one line of the window, not even of a wide one" });
    await w.goto("/tasks/" + many + "/review");
    await page.getByText("0 of 41 viewed").waitFor();
    await page.locator(".ln").first().waitFor();
    const read = () => page.evaluate(() => new Set([...document.querySelectorAll(".ln")].map((l) => l.closest("[data-path]").dataset.path)).size);
    assert.ok((await read()) < 41, "files far away are not read");
    await page.locator(".review-entry").last().click();
    await page.locator("[data-path]").last().locator(".ln").first().waitFor();
    await page.locator(".review-entry").first().click();
    await look("review-many");
  });

  await w.close();
});
