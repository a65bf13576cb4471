// Every page with a life behind it: seen in both themes, at full width and on a
// phone, with no serious fault that axe can find.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { addProject, api, create, main, step, told, World } from "./lib.mjs";

// routes are the pages of the dashboard, from its router.
async function routes() {
  const text = await readFile(new URL("../../web/src/router.tsx", import.meta.url), "utf8");
  const table = /export const pages = \{\n([\s\S]*?)\n\} as const;/.exec(text)[1];
  return [...table.matchAll(/^ {2}"(\/[^"]*)":/gm)].map((m) => m[1]);
}

const ended = async (keys) => {
  const events = (await api("GET", "/events?limit=1")).last;
  assert.ok(events > 0);
  for (const key of keys) await w.page.locator(`[data-key=${key}].s-done`).waitFor();
};

let w;

await main(async () => {
  w = await World.open();
  const { page } = w;
  await addProject("app");
  await w.signIn();
  await step("the first look", async () => {
    await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
    await w.axe("empty board");
    await w.shot("board-empty");
  });

  const keys = await step("a life", async () => {
    await addProject("manual");
    const first = await create("app", { title: "Choose a number", body: "Any **number** that passes the checks.\n\n```\nsh test.sh\n```" }, { title: "Change the README", track: "docs", priority: 2 }, { title: "Add a note about landing" });
    await w.goto("/");
    await ended(first);
    const asking = await create("app", { title: "Ask how to greet", priority: 3 }, { title: "Work for long" }, { title: "Never works" });
    const held = await create("manual", { title: "Do it by hand" });
    const [flow] = await create("manual", { title: "Do several things", flow: { kind: "batch", spec: { tasks: [{ title: "One of them" }] } } });
    await page.locator(`[data-key=${asking[0]}].s-needs-you`).waitFor();
    await page.locator(`[data-key=${asking[1]}].s-working`).waitFor();
    await page.locator(`[data-key=${asking[2]}].s-needs-you, [data-key=${asking[2]}].s-failed`).waitFor();
    await page.locator(`[data-key=${held[0]}].s-needs-you`).waitFor();
    await api("POST", "/projects/app/pause");
    const tasks = [];
    for (let i = 0; i < 300; i++) {
      const task = { ref: `t${i}`, title: `Step ${i} of a long plan that goes through the whole of the code`, track: i % 3 ? "main" : "docs" };
      if (i >= 10 && i < 60) task.after = [`t${i - 10}`, ...(i % 7 === 0 ? [`t${i - 9}`] : [])];
      tasks.push(task);
    }
    await create("app", ...tasks);
    return { flow, done: first[0], asking: asking[0], working: asking[1] };
  });

  const pages = {
    board: ["/", () => page.locator(".card").first()],
    "board-table": ["/?view=table", () => page.locator(".row").first()],
    "board-projects": ["/?group=project", () => page.locator(".card").first()],
    "task-asks": ["/tasks/" + keys.asking, () => page.getByRole("button", { name: "formal" })],
    "task-works": ["/tasks/" + keys.working, () => page.getByText("until somebody stops me")],
    "task-done": [`/tasks/${keys.done}?session=${keys.done}.1`, () => page.getByText("I choose seven.")],
    "task-raw": [`/tasks/${keys.done}?view=raw`, () => page.locator(".raw")],
    "task-changes": [`/tasks/${keys.done}?tab=changes`, () => page.locator(".diff")],
    "task-review": [`/tasks/${keys.done}/review`, () => page.locator(".review-file .ln").first()],
    "task-checks": [`/tasks/${keys.done}?tab=checks`, () => page.getByText("7 is odd")],
    "task-timeline": [`/tasks/${keys.done}?tab=timeline`, () => page.locator(".story li").first()],
    "task-cost": [`/tasks/${keys.done}?tab=cost`, () => page.getByRole("cell", { name: "$0.73" }).first()],
    "task-events": [`/tasks/${keys.done}?tab=events`, () => page.locator(".events td").first()],
    "task-missing": ["/tasks/app-9999", () => page.getByText("There is no task app-9999")],
    flows: ["/flows", () => page.locator("[data-flow]").first()],
    flow: ["/flows/" + keys.flow, () => page.locator("[data-step]").first()],
    schedules: ["/schedules", () => page.getByRole("heading", { name: "No schedules yet" })],
    templates: ["/templates", () => page.getByRole("heading", { name: "No templates yet" })],
    landing: ["/landing", () => page.locator(".queue li").first()],
    issues: ["/issues", () => page.getByRole("heading", { name: "app has no tracker" })],
    notifications: ["/notifications", () => page.getByRole("heading", { name: "No notifier yet" })],
    reactions: ["/reactions", () => page.getByRole("heading", { name: "No reactions yet" })],
    locks: ["/locks", () => page.getByText("No session has locked a file")],
    graph: ["/graph", () => page.locator(".node").first()],
    timeline: ["/timeline", () => page.locator(".gantt-row").first()],
    usage: ["/usage", () => page.locator(".bars")],
    search: ["/search?q=number", () => page.locator(".hits li").first()],
    features: ["/features?project=manual", () => page.getByRole("heading", { name: "manual has no features file" })],
    agents: ["/agents", () => page.getByRole("heading", { name: "scripted" })],
    settings: ["/settings", () => page.getByRole("heading", { name: "manual" })],
    health: ["/health", () => page.locator(".verdict")],
    inbox: ["/inbox", () => page.locator(".entry").first()],
    groups: ["/groups", () => page.locator(".group-bar").first()],
    notes: ["/notes", () => page.getByRole("heading", { name: "No notes yet" })],
    group: ["/groups/" + (await api("GET", "/groups")).groups[0].id, () => page.locator(".row").first()],
    help: ["/help", () => page.getByRole("heading", { name: "Statuses" })],
  };
  for (const [name, [path, seen]] of Object.entries(pages)) {
    await step(name, async () => {
      await w.goto(path);
      await seen().waitFor();
      await w.axe(name);
      await w.shot(name);
    });
  }

  await step("axe has checked every page of the router", async () => {
    const all = await routes();
    assert.ok(all.length > 10, `the router has ${all.length} pages`);
    const checked = (route) => [...w.checked].some((path) => new RegExp(`^${route.replace(/\{\w+\}/g, "[^/]+")}$`).test(path));
    assert.deepEqual(all.filter((route) => !checked(route)), []);
  });

  await step("every form opens from the palette, above the page that is open", async () => {
    await w.goto("/tasks/" + keys.working);
    await page.getByText("until somebody stops me").waitFor();
    const forms = {
      "add a project": "Directory of a git checkout", "add a track to app": "Name", "change the tracks of app": "Name", "add a tracker to app": "Kind", "change the settings of app": "Find a key of app",
      "edit the prompt of fix in app": "The text of fix", "remove project app": "Also remove its workspaces", "send a message to": "Message to the agent",
      "change the budget and limits": "Turns of a session", "ask for changes to": "About the whole change",
    };
    for (const [command, field] of Object.entries(forms)) {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Command" }).fill(command);
      await page.locator("#palette-list li").first().click();
      await page.getByRole("dialog").getByLabel(field).first().waitFor();
      await w.axe(command);
      await w.shot("form-" + command.replaceAll(" ", "-"));
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    assert.equal(new URL(page.url()).pathname, "/tasks/" + keys.working);
  });

  await step("dialogs", async () => {
    await w.goto("/");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Command" }).fill("number");
    await page.locator("#palette-list li").first().waitFor();
    await w.axe("palette");
    await w.shot("palette");
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    await page.getByRole("dialog").getByLabel("Title").waitFor();
    await w.axe("new task");
    await w.shot("new-task");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Board" }).click();
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await w.axe("keys");
    await w.shot("keys");
    await page.keyboard.press("Escape");
  });

  await step("no text of a card is cut, and no part lies on another, with long words and times", async () => {
    const long = "Rename the incomprehensibly-long-identifier-without-any-break-in-it and everything that depends on it, everywhere";
    await create("app", { title: long, priority: 9 }, { title: "Short", priority: 9 });
    for (const width of [1280, 1600, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await w.goto("/");
      await page.locator(".card", { hasText: "Rename" }).waitFor();
      const bad = await page.evaluate(() => {
        const found = [];
        for (const card of document.querySelectorAll("a.card")) {
          const box = card.getBoundingClientRect();
          if (card.scrollWidth > card.clientWidth + 1 || card.scrollHeight > card.clientHeight + 1) found.push(`${card.dataset.key} overflows`);
          let above = box.top;
          for (const part of card.children) {
            const r = part.getBoundingClientRect();
            if (r.top < above - 1) found.push(`${part.className} of ${card.dataset.key} is on the part above it`);
            if (r.right > box.right || r.bottom > box.bottom) found.push(`${part.className} of ${card.dataset.key} leaves its card`);
            const line = parseFloat(getComputedStyle(part).lineHeight);
            if (part.textContent && part.clientHeight < line - 1) found.push(`${part.className} of ${card.dataset.key} is ${part.clientHeight} px high, a line is ${line}`);
            above = r.bottom;
          }
        }
        return found;
      });
      assert.deepEqual(bad, [], `at ${width} px`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await w.goto("/");
  });

  await step("the theme can be chosen, and stays", async () => {
    await page.getByRole("button", { name: "Theme: System" }).click();
    await page.getByRole("button", { name: "Theme: Dark" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Theme: Light" }).waitFor();
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "light");
    await page.getByRole("button", { name: "Theme: Light" }).click();
  });

  await step("an agent that nobody can use says so, until somebody says otherwise", async () => {
    const [shut] = await create("manual", { title: "Needs a login" });
    await w.goto("/agents");
    await page.getByText("not logged in").waitFor();
    await w.axe("limited agent");
    await w.shot("agents-limited");
    await api("POST", `/tasks/${shut}/stop`); // it would reach the same limit again
    await page.getByRole("button", { name: "Clear the limit" }).click();
    await page.getByText("not logged in").waitFor({ state: "detached" });
  });

  await step("a key of coppice.yaml is changed, and a wrong value is refused where it stands", async () => {
    const file = `${told.root}/app/coppice.yaml`;
    const was = await readFile(file, "utf8");
    await w.goto("/settings");
    const project = page.locator(".project").filter({ has: page.getByRole("heading", { name: "app", exact: true }) });
    await project.getByText("Every key of coppice.yaml").click();
    const key = project.locator('[data-key="limits.sessions"]');
    await key.getByText("line 3").waitFor();
    await key.getByRole("button", { name: "Change" }).click();
    await key.getByRole("textbox").fill("0");
    await key.getByRole("button", { name: "Save" }).click();
    await key.locator(".problem").waitFor();
    assert.equal(await readFile(file, "utf8"), was, "a refused change was written");
    await w.axe("settings with a wrong value");
    await key.scrollIntoViewIfNeeded();
    await w.shot("settings-keys");
    await key.getByRole("textbox").fill("7");
    await key.getByRole("button", { name: "Save" }).click();
    await page.getByText("limits.sessions is changed").waitFor();
    await project.getByText("running of 7").waitFor();
    assert.equal(await readFile(file, "utf8"), was.replace("sessions: 6", "sessions: 7"));
    const retry = project.locator('[data-key="retry.max"]');
    await retry.getByRole("button", { name: "Change" }).click();
    await retry.getByRole("button", { name: "Use the default" }).click();
    await retry.getByText("default", { exact: true }).waitFor();
    await project.getByLabel("Find a key of app").fill("land.how");
    await project.locator('[data-key="land.how"]').waitFor();
    assert.equal(await project.locator('[data-key="limits.sessions"]').count(), 0);
  });

  await step("a workspace opens in the editor of one's choice", async () => {
    await w.goto("/tasks/" + keys.working);
    const link = page.getByRole("link", { name: "Open in VS Code" });
    assert.match(await link.getAttribute("href"), /^vscode:\/\/file\/.*workspaces/);
    await page.getByText(`coppice logs -f ${keys.working}`).waitFor();
    assert.equal(await page.getByText("coppice attach").count(), 0, "a session without a screen cannot be attached to");
    await w.goto("/settings");
    await page.getByLabel("Editor").selectOption("another");
    await page.getByLabel("Its link").fill("javascript:{path}");
    await page.getByText("It cannot be used").waitFor();
    await page.getByLabel("Its link").fill("emacs://open?file={path}");
    await page.getByText("emacs://open?file=/path/to/it").waitFor();
    await w.goto("/tasks/" + keys.working);
    assert.match(await page.getByRole("link", { name: "Open in your editor" }).getAttribute("href"), /^emacs:/);
  });

  await step("a long list draws only what can be seen", async () => {
    await w.goto("/?view=table");
    await page.locator(".row").first().waitFor();
    assert.ok((await page.locator(".row").count()) < 60);
    await page.locator(".table").evaluate((el) => (el.scrollTop = el.scrollHeight));
    await page.locator(".row .s-done").first().waitFor();
    assert.ok((await page.locator(".row").count()) < 60);
  });

  await step("on a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const name of Object.keys(pages)) {
      const [path, seen] = pages[name];
      await w.goto(path);
      await seen().waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `${name} is ${wide} px wide`);
      if (["board", "task-asks", "usage", "settings", "timeline"].includes(name)) {
        await w.axe(name + " on a phone");
        await w.shot("phone-" + name);
      }
    }
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await step("what uses disk is shown", async () => {
    await w.goto("/health");
    await page.getByRole("region", { name: "Disk" }).getByRole("cell", { name: "in the database" }).first().waitFor();
    await w.axe("health with the disk");
  });

  await step("a project is removed, once that is confirmed", async () => {
    await w.goto("/settings");
    const project = page.locator(".project").filter({ has: page.getByRole("heading", { name: "manual", exact: true }) });
    await project.getByRole("button", { name: "Remove…" }).click();
    await w.axe("settings, before a project is removed");
    await page.getByRole("button", { name: "Cancel" }).click();
    await project.getByRole("button", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove manual" }).click();
    await page.getByRole("dialog").getByRole("alert").filter({ hasText: "not ended" }).waitFor(); // a click before that could miss: the dialog grows
    await page.getByLabel("First stop its tasks that have not ended").check();
    await page.getByLabel("Also remove its workspaces, trash and branches").check();
    await page.getByRole("button", { name: "Remove manual" }).click();
    await project.waitFor({ state: "detached" });
    await w.goto("/");
    assert.equal(await page.getByText(/manual-\d/).count(), 0, "its tasks are still shown");
  });

  await w.close();
});
