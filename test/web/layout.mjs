// Every page with long titles, long times, many columns and much text, at three
// widths: no text is cut off, and nothing lies on something else.
import assert from "node:assert/strict";
import { addProject, api, ask, create, main, step, World } from "./lib.mjs";

const word = "an-incomprehensibly-long-identifier-without-any-break-in-it-that-goes-on-and-on";
const long = `Rename ${word} and everything that depends on it, everywhere, in all of the packages, tests and documents that mention it`;

await main(async () => {
  for (const name of ["app", "manual", "people", "words", "asks", "screens"]) await addProject(name); // a column each
  await ask("seed");
  await ask("seed pulls");
  const trackers = [{ kind: "gitea", url: "http://127.0.0.1:9/api/v1/", repo: "team/app", token: "NO_SUCH_SECRET", import: { labels: ["agent"] }, active: 1 }, { kind: "linear", team: "ENG", token: "NO_SUCH_SECRET" }];
  await api("PATCH", "/projects/app/config", { key: "tracker", value: trackers });
  while (!(await api("GET", "/projects/app/issues")).sources[0]?.failure); // it was read
  await ask("seed issues");
  const w = await World.open();
  const { page } = w;

  const keys = await step("long data", async () => {
    const [done] = await create("app", { title: "Choose a number", body: "Any **number** that passes the checks.\n\n```\nsh test.sh\n```" });
    const [asking, working, failing] = await create("app", { title: "Ask how to greet", priority: 3 }, { title: "Work for long" }, { title: "Never works" });
    const [held] = await create("manual", { title: "Do it by hand" });
    const [silent] = await create("people", { title: `Falls silent on ${long}` });
    const [long1] = await create("people", { title: "Ask at length" });
    await w.signIn();
    await page.locator(`[data-key=${done}].s-done`).waitFor();
    await page.locator(`[data-key=${asking}].s-needs-you`).waitFor();
    await page.locator(`[data-key=${working}].s-working`).waitFor();
    await page.locator(`[data-key=${failing}].s-needs-you, [data-key=${failing}].s-failed`).waitFor();
    await page.locator(`[data-key=${held}].s-needs-you`).waitFor();
    await page.locator(`[data-key=${silent}].stalled`).waitFor();
    await page.locator(`[data-key=${long1}].s-needs-you`).waitFor();
    await api("POST", "/projects/app/pause");
    const body = `# Why\n\nBecause **${word}** is long.\n\n- one\n- \`two ${word}\`\n\n| a | b |\n| --- | --- |\n| ${word} | ${word} |\n`;
    const waiting = await create("app", ...Array.from({ length: 40 }, (_, i) => ({ ref: `t${i}`, title: i % 3 ? long : `Step ${i}`, body, track: i % 2 ? "main" : "docs", after: i % 5 === 4 ? [`t${i - 1}`] : [] })));
    for (const key of [asking, working, failing, held, done]) await api("PATCH", `/tasks/${key}`, { labels: ["needs-a-second-look", "one-more-label-that-is-as-long-as-it-may"], flagged: true });
    return { done, asking, working, failing, held, long: long1, waiting: waiting[1] };
  });
  assert.ok(keys.waiting);

  const large = (await api("GET", "/tasks?pull=open&text=Rename")).tasks[0].key;
  const group = (await api("GET", "/groups")).groups[0];
  const pages = {
    board: "/",
    "board by project": "/?group=project",
    table: "/?view=table",
    "a task that asks": "/tasks/" + keys.asking,
    "a long question": "/tasks/" + keys.long,
    "a task that works": "/tasks/" + keys.working,
    "a task that failed": "/tasks/" + keys.failing,
    "a large pull request": `/tasks/${large}?tab=pull`,
    "a held task": "/tasks/" + keys.held,
    "a waiting task": "/tasks/" + keys.waiting,
    "a done task": `/tasks/${keys.done}?session=${keys.done}.1`,
    changes: `/tasks/${keys.done}?tab=changes`,
    review: `/tasks/${keys.done}/review`,
    checks: `/tasks/${keys.done}?tab=checks`,
    "a task's timeline": `/tasks/${keys.done}?tab=timeline`,
    cost: `/tasks/${keys.done}?tab=cost`,
    events: `/tasks/${keys.done}?tab=events`,
    inbox: "/inbox",
    groups: "/groups",
    notes: "/notes",
    "a group": "/groups/" + group.id,
    help: "/help",
    features: "/features?project=app",
    landing: "/landing",
    issues: "/issues?project=app&show=all",
    notifications: "/notifications",
    reactions: "/reactions",
    locks: "/locks",
    timeline: "/timeline",
    "timeline of 15 minutes": "/timeline?zoom=15+m",
    "timeline of 7 days": "/timeline?zoom=7+d",
    usage: "/usage",
    "usage by task": "/usage?by=task",
    search: "/search?q=number",
    agents: "/agents",
    settings: "/settings",
    health: "/health",
  };
  // The browser's clock is days ahead, so that all times are long.
  await page.clock.setFixedTime(Date.now() + 26.3 * 3600_000);
  const bad = []; // all pages are measured, whatever is wrong with one of them
  const measure = async (name, widths, shot) => {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      if (shot) await w.picture(`layout-${name.replaceAll(" ", "-")}-${width}`);
      await w.layout(`${name} at ${width} px`).catch((err) => bad.push(err.message));
    }
  };
  for (const [name, path] of Object.entries(pages)) {
    await step(name, async () => {
      await w.goto(path);
      await w.loaded();
      await measure(name, [1280, 768, 390], true);
    });
  }

  await step("the texts of an issue that waits for a person are shown with their difference", async () => {
    await w.goto("/issues?project=app");
    await page.locator("[data-source]").first().waitFor();
    assert.equal(await page.locator("[data-source]").count(), 2);
    await page.locator("[data-held] summary").click();
    await page.locator("[data-held] .d-add").first().waitFor();
    await w.axe("issues");
    await measure("an issue with its difference", [1280, 390], true);
    assert.notEqual(await page.title(), "attacked");
    await page.getByRole("button", { name: "Settings…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Add a tracker" }).click();
    await page.getByText("Labels by status").first().click();
    await w.axe("trackers");
    await measure("the form of trackers", [1280, 390], true);
  });

  await step("every card of a narrow column shows its time, and no badge lies in its way", async () => {
    for (const path of ["/", "/?group=project", "/?group=track"]) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await w.goto(path);
      await page.locator(".card.stalled").waitFor();
      const cut = await page.$$eval(".card .since", (all) => all.filter((el) => el.scrollWidth > el.clientWidth).map((el) => `${el.closest(".card").dataset.key} shows ${el.clientWidth} px of “${el.textContent}”`));
      assert.deepEqual(cut, [], path);
    }
  });

  await step("the palette is not wider than its dialog, however long a title is", async () => {
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await w.goto("/");
      await page.locator(".card").first().waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Command" }).fill("rename an-incompr");
      await page.locator("#palette-list li", { hasText: "an-incomprehensibly" }).first().waitFor();
      const wide = await page.$$eval("dialog[open] *", (all) => {
        const right = document.querySelector("dialog[open]").getBoundingClientRect().right;
        return all.filter((el) => el.getBoundingClientRect().right > right).map((el) => el.tagName + " " + el.textContent.slice(0, 30));
      });
      assert.deepEqual(wide, [], `at ${width} px`);
      await page.keyboard.press("Escape");
    }
  });

  await step("the hint of an empty board is below its heading", async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await w.goto("/?q=nothing+has+these+words");
    const head = await page.getByText("No matching tasks").boundingBox();
    const hint = await page.getByText("Clear the filter to see all tasks.").boundingBox();
    assert.ok(hint.y - head.y - head.height < 40, `${hint.y - head.y - head.height} px are between them`);
  });

  await step("a checkbox of the settings has the size of one", async () => {
    await w.goto("/settings");
    const project = page.locator(".project").first();
    await project.getByText("Every key of coppice.yaml").click();
    const box = await project.getByLabel("only keys in the file").boundingBox();
    assert.ok(box.width <= 24, `it is ${box.width} px wide`);
  });

  await step("beside a long question, Send does not lie on the conversation", async () => {
    for (const [width, height] of [[1280, 800], [1280, 560], [390, 844]]) {
      await page.setViewportSize({ width, height });
      await w.goto("/tasks/" + keys.long);
      await page.locator(".ask-text").waitFor();
      const send = await page.locator(".composer").getByRole("button", { name: "Send" }).boundingBox();
      const log = await page.locator(".composer").locator("xpath=preceding-sibling::*[1]").boundingBox();
      assert.ok(send.y >= log.y + log.height - 1, `at ${width} × ${height}: Send starts at ${send.y}, the conversation ends at ${log.y + log.height}`);
    }
  });

  await step("kinds of events and the folder of a workspace are on one line", async () => {
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await w.goto(`/tasks/${keys.done}?tab=events`);
      await page.locator(".events td code").first().waitFor();
      const broken = await page.$$eval(".events td code", (all) => all.filter((el) => el.getClientRects().length > 1 || el.offsetHeight > 30).map((el) => el.textContent));
      assert.deepEqual(broken, [], `at ${width} px`);
      await w.goto(`/tasks/${keys.working}`);
      const folder = await page.locator(".folder code").first().boundingBox();
      assert.ok(folder.height < 34, `at ${width} px the folder is ${folder.height} px high`);
    }
  });

  // A page that waits for its data has a layout too: these requests are never answered.
  await page.route((url) => url.pathname.startsWith("/api/v1/") && !/^\/api\/v1\/(events|says)/.test(url.pathname), () => undefined);
  for (const [name, path] of Object.entries(pages)) {
    await step(`${name}, without its data`, async () => {
      await w.goto(path);
      await page.locator("main [aria-busy=true], main h1").first().waitFor();
      await measure(`${name}, without its data`, [390, 1280], false);
    });
  }
  assert.equal(bad.length, 0, bad.join("\n"));
  await w.close();
});
