// Every dialog shows its error inside the window and moves the focus to it. The
// palette runs what the buttons of a task run. An image reaches a task. The tracks and
// the prompts of a project are edited, and the user's notifiers.
import assert from "node:assert/strict";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { api, create, main, step, told, World } from "./lib.mjs";

await main(async () => {
  const w = await World.signedIn(["app", "manual"]);
  const { page } = w;
  const [key] = await create("app", { title: "Add a note about landing" });
  await w.goto("/tasks/" + key);
  await w.status("done");
  const [held] = await create("manual", { title: "Do it by hand" });
  await w.goto("/tasks/" + held);
  await w.status("needs you");
  await writeFile(`${told.root}/manual/features.json`, JSON.stringify([{ id: 1, name: "Log in", category: "core", status: "passed" }, { id: 2, name: "A rather long name of a feature that goes on and on, with everything that it should do for everybody", status: "failed", failure_reason: "its checks failed" }], null, 2));
  await api("PATCH", "/projects/manual/config", { key: "features", value: "features.json" });

  const dialog = page.getByRole("dialog");
  const submit = (name) => dialog.getByRole("button", { name, exact: true }).click();
  const forms = {
    "new task": async () => {
      await w.goto("/");
      await page.keyboard.press("n");
      await dialog.getByLabel("Title").fill("Do it");
      await dialog.getByLabel("Model").fill("not a model!");
      await submit("Create");
    },
    continue: async () => {
      await w.goto("/tasks/" + key);
      await page.locator(".actions").getByRole("button", { name: "Continue" }).click();
      await submit("Continue");
    },
    requeue: async () => {
      await w.goto("/tasks/" + held);
      await page.locator(".task-side").getByRole("button", { name: "Change…" }).click();
      await dialog.getByLabel("Model").fill("not a model!");
      await submit("Requeue");
    },
    "remove a project": async () => {
      await w.goto("/settings");
      await page.locator(".project", { has: page.getByRole("heading", { name: "manual", exact: true }) }).getByRole("button", { name: "Remove…" }).click();
      await submit("Remove manual");
    },
    "new feature": async () => {
      await w.goto("/features?project=manual");
      await page.getByRole("button", { name: "Add a feature" }).click();
      await dialog.getByLabel("Name").fill("Log out");
      await dialog.getByLabel("Depends on").fill("99");
      await submit("Add");
    },
    image: async () => {
      await w.goto("/");
      await page.keyboard.press("n");
      await dialog.locator("input[type=file]").setInputFiles({ name: "notes.png", mimeType: "image/png", buffer: Buffer.from("not a picture") });
    },
  };
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    await page.setViewportSize({ width, height });
    for (const [name, fail] of Object.entries(forms)) {
      await step(`the error of "${name}" at ${width}×${height}`, async () => {
        await fail();
        const alert = dialog.getByRole("alert");
        await alert.waitFor();
        const box = await alert.boundingBox();
        assert.ok(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, `the error is at ${JSON.stringify(box)}`);
        assert.ok(await page.evaluate(() => document.activeElement?.matches(".form-problem") && document.activeElement.querySelector("[role=alert]") !== null), "the focus is not on the error");
        if (width === 1280) await w.axe(name);
        await w.shot(`form-${name.replaceAll(" ", "-")}-${width}`);
      });
    }
  }

  await page.setViewportSize({ width: 1280, height: 800 });
  await step("an image of the form reaches the task", async () => {
    await w.goto("/");
    await page.keyboard.press("n");
    await dialog.getByLabel("Title").fill("Choose a number");
    const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/HwADAgH/p9i6qQAAAABJRU5ErkJggg==", "base64");
    await dialog.locator("input[type=file]").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: png });
    await dialog.getByAltText("dot.png").waitFor();
    await w.axe("new task with an image");
    await w.shot("new-task-image");
    await submit("Create");
    await page.locator(".task-side").getByAltText("Image 1").waitFor();
    await page.locator(".blocks").getByText("sees an image: image/png").first().waitFor();
    await w.shot("task-image");
  });

  await step("the features page adds, edits and shows mistakes by line", async () => {
    await w.goto("/features?project=manual");
    await page.locator("[data-feature='2']").waitFor();
    await page.getByRole("button", { name: "Edit feature 1" }).click();
    await dialog.getByLabel("Name").fill("Sign in");
    await submit("Save");
    await page.locator("[data-feature='1']").getByText("Sign in").waitFor();
    await w.axe("features");
    await w.shot("features");
    await page.setViewportSize({ width: 390, height: 844 });
    await w.shot("features-390");
    await page.setViewportSize({ width: 1280, height: 800 });
    await writeFile(`${told.root}/manual/features.json`, "[\n  {\n]\n");
    await w.goto("/features?project=manual");
    await page.getByText("line 3").first().waitFor();
    await w.shot("features-broken");
  });

  await step("the palette runs what the buttons of a task run", async () => {
    await w.goto("/tasks/" + key);
    await w.status("done");
    const bar = page.locator(".actions");
    await bar.getByRole("button", { name: "More" }).click();
    const names = [...(await bar.locator("> button").allTextContents()), ...(await page.getByRole("menuitem").allTextContents())].filter((n) => !n.startsWith("More"));
    await page.keyboard.press("Escape");
    assert.ok(names.length > 2, `the buttons are ${names}`);
    await page.keyboard.press("Control+k");
    const options = page.locator("#palette-list li");
    await options.filter({ hasText: `${names[0]} ${key}` }).waitFor();
    const found = await options.locator("span").allTextContents();
    for (const name of names) assert.ok(found.includes(`${name} ${key}`), `the palette has no “${name}”: ${found}`);
    await page.getByRole("combobox", { name: "Command" }).fill("archive " + key);
    await page.getByRole("option", { name: `Archive ${key} this task` }).click();
    await page.getByText(`${key} is archived`).waitFor();
    assert.ok((await api("GET", "/tasks/" + key)).archived);
  });

  await step("tracks are edited: a wrong name is refused at its field, the change is shown, then written", async () => {
    const file = `${told.root}/app/coppice.yaml`;
    const was = await readFile(file, "utf8");
    await w.goto("/settings");
    const project = page.locator(".project").filter({ has: page.getByRole("heading", { name: "app", exact: true }) });
    await project.getByText("Tracks", { exact: true }).click();
    const form = page.getByRole("form", { name: "Tracks of app" });
    await form.getByRole("button", { name: "Add a track" }).click();
    const added = form.getByRole("listitem").last();
    await added.getByLabel("Name", { exact: true }).fill("no name");
    await form.getByRole("button", { name: "Show the change" }).click();
    await added.locator(".problem").waitFor();
    assert.equal(await added.getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true");
    await w.axe("tracks with a wrong name");
    await added.getByLabel("Name", { exact: true }).fill("site");
    await added.getByLabel("Limit", { exact: true }).fill("2");
    await added.getByLabel("Categories", { exact: true }).fill("site, texts");
    await form.getByRole("button", { name: "Show the change" }).click();
    await form.getByLabel("The change").getByText("name: site").waitFor();
    assert.equal(await readFile(file, "utf8"), was, "the change was written before it was saved");
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await form.scrollIntoViewIfNeeded();
      await w.shot(`settings-tracks-${width}`);
      await w.layout(`tracks at ${width} px`);
    }
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("The tracks of app are changed").waitFor();
    const now = await readFile(file, "utf8");
    assert.match(now, /name: site, limit: 2, categories: \[site, texts\]/);
    assert.deepEqual(was.match(/#.*/g), now.match(/#.*/g), "a comment is gone");
  });

  await step("a tracker is added: what is wrong is shown in the form, the change is shown, written, edited and removed", async () => {
    const file = `${told.root}/app/coppice.yaml`;
    const was = await readFile(file, "utf8");
    await w.goto("/settings");
    const project = page.locator(".project").filter({ has: page.getByRole("heading", { name: "app", exact: true }) });
    await project.getByText("Trackers", { exact: true }).click();
    const form = page.getByRole("form", { name: "Trackers of app" });
    const show = () => form.getByRole("button", { name: "Show the change" }).click();
    const change = form.getByLabel("The change");
    const field = (name) => form.getByLabel(name, { exact: true });
    await form.getByRole("button", { name: "Add a tracker" }).click();
    await field("Kind").selectOption("github");
    await field("Repository").fill("not a repository");
    await show();
    await form.getByRole("listitem").locator(".problem").getByText("not a repository").waitFor();
    assert.equal(await field("Repository").getAttribute("aria-invalid"), "true");
    await w.axe("a tracker with a mistake");
    await field("Repository").fill("acme/app");
    await field("Address of the API").fill("http://127.0.0.1:1/api");
    await field("Secret with the token").fill("HUB_TOKEN");
    await field("Labels").fill("agent\nready");
    await field("Most active tasks").fill("many");
    await show();
    await form.getByRole("listitem").locator(".problem").waitFor();
    assert.equal(await field("Most active tasks").getAttribute("aria-invalid"), "true");
    await field("Most active tasks").fill("2");
    await field("Close the issue when its task is done").uncheck();
    await form.getByText("Labels by status").click();
    await field("done").fill("finished");
    await show();
    await change.getByText("acme/app").first().waitFor();
    assert.equal(await readFile(file, "utf8"), was, "the change was written before it was saved");
    await w.axe("the change of a tracker");
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await form.scrollIntoViewIfNeeded();
      await w.shot(`settings-trackers-${width}`);
      await w.layout(`trackers at ${width} px`);
    }
    await writeFile(file, was + "# somebody else wrote this\n"); // the change was shown for another file
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("alert").waitFor();
    assert.ok(!(await readFile(file, "utf8")).includes("acme/app"), "the change of a file was written that nobody has seen");
    await writeFile(file, was);
    await show();
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("The trackers of app are changed").waitFor();
    const typed = { kind: "github", repo: "acme/app", url: "http://127.0.0.1:1/api", token: "HUB_TOKEN", import: { labels: ["agent", "ready"] }, active: 2, write: { close: false, labels: { done: "finished" } } };
    const key = async () => (await api("GET", "/projects/app/config")).keys.find((k) => k.key === "tracker").value;
    const has = (kept, want, at) => {
      for (const [name, v] of Object.entries(want)) {
        if (Array.isArray(v) || typeof v !== "object") assert.deepEqual(kept?.[name], v, `${at}${name} is ${JSON.stringify(kept)}`);
        else has(kept?.[name], v, `${at}${name}.`);
      }
    };
    has([await key()].flat()[0], typed, "");
    const now = await readFile(file, "utf8");
    for (const text of ["kind: github", "repo: acme/app", "http://127.0.0.1:1/api", "token: HUB_TOKEN", "labels: [agent, ready]", "active: 2", "close: false", "done: finished"]) assert.ok(now.includes(text), `${text} is not in\n${now}`);
    assert.deepEqual(was.match(/#.*/g), now.match(/#.*/g), "a comment is gone");
    assert.ok(now.startsWith(was), now);

    await field("Repository").waitFor();
    assert.equal(await field("Repository").inputValue(), "acme/app");
    await field("Secret with the token").fill("");
    await show();
    await form.getByRole("button", { name: "Save" }).click();
    await change.waitFor({ state: "detached" });
    assert.ok(!(await readFile(file, "utf8")).includes("HUB_TOKEN"));
    await form.getByRole("button", { name: "Remove tracker 1" }).click();
    await show();
    await form.getByRole("button", { name: "Save" }).click();
    await change.waitFor({ state: "detached" });
    assert.equal(await readFile(file, "utf8"), was);
  });

  await step("a prompt is edited: a mistake is shown with its line, the change is shown, written and in effect, then removed", async () => {
    const file = `${told.root}/app/.coppice/prompts/answer.md`;
    const text = () => readFile(file, "utf8").catch(() => undefined);
    await w.goto("/settings");
    const project = page.locator(".project").filter({ has: page.getByRole("heading", { name: "app", exact: true }) });
    await project.getByText("Prompts", { exact: true }).click();
    const row = project.locator("[data-role=answer]");
    await row.locator(".tag").getByText("built-in", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Edit the prompt of answer" }).click();
    const form = page.getByRole("form", { name: "The prompt of answer" });
    const area = form.getByLabel("The text of answer");
    await area.fill("Answer in one word.\n\n{{.Titel}}\n");
    await form.getByRole("button", { name: "Show the change" }).click();
    await form.locator(".problem").getByText("Titel").waitFor();
    await w.axe("a prompt with a mistake");
    await form.getByRole("button", { name: "Go to line 3" }).click();
    assert.equal(await area.evaluate((a) => a.value.slice(a.selectionStart, a.selectionEnd)), "{{.Titel}}");
    await form.getByText("Fields and functions").click();
    await form.getByRole("button", { name: "Insert Title" }).click();
    assert.equal(await area.inputValue(), "Answer in one word.\n\n{{.Title}}\n");
    await form.getByRole("button", { name: "Show the change" }).click();
    await form.getByLabel("The change").getByText("+Answer in one word.").waitFor();
    assert.equal(await text(), undefined, "the change was written before it was saved");
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await form.scrollIntoViewIfNeeded();
      await w.shot(`settings-prompts-${width}`);
      await w.layout(`prompts at ${width} px`);
    }
    await w.axe("the change of a prompt");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("The prompt of answer is changed").waitFor();
    assert.equal(await text(), "Answer in one word.\n\n{{.Title}}\n");
    await row.getByText(".coppice/prompts/answer.md").waitFor();
    assert.equal((await api("GET", "/projects/app")).policy.prompts.answer, await text());
    await row.getByRole("button", { name: "Edit the prompt of answer" }).click();
    await form.getByRole("button", { name: "Use the built-in prompt…" }).click();
    await dialog.getByLabel("The change").getByText("-Answer in one word.").waitFor();
    await w.axe("the removal of a prompt");
    await w.shot("settings-prompt-removal");
    await submit("Remove the file");
    await row.locator(".tag").getByText("built-in", { exact: true }).waitFor();
    assert.equal(await text(), undefined, "the file still exists");
    assert.equal((await api("GET", "/projects/app")).policy.prompts, undefined);
  });

  await step("a notifier is added, its mistake is shown at its field, it is written, tested, routed, changed and removed", async () => {
    const file = `${told.root}/home/.config/coppice/config.yaml`;
    const text = () => readFile(file, "utf8").catch(() => undefined);
    const show = () => submit("Show the change");
    const change = dialog.getByLabel("The change");
    const look = async (name) => {
      await w.axe(name);
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await w.shot(`${name.replaceAll(" ", "-")}-${width}`);
        await w.layout(`${name} at ${width} px`);
      }
    };
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, "# mine\nkeep: {tasks_most: 1000} # enough\n", { mode: 0o600 });
    await w.goto("/notifications");
    await page.getByRole("button", { name: "New notifier" }).first().click();
    await dialog.getByLabel("Name").fill("team");
    await dialog.getByLabel("Kind").selectOption("slack");
    await dialog.getByLabel("Url").fill("https://hooks.example.org/x");
    await show();
    await dialog.locator(".field", { has: page.getByLabel("Url") }).getByText("is a secret").waitFor();
    await look("a notifier with a mistake");
    await dialog.getByLabel("Url").fill("${secret:SLACK_URL}");
    await show();
    await change.getByText("${secret:SLACK_URL}").waitFor();
    assert.ok(!(await text()).includes("notify"), "the change was written before it was saved");
    await submit("Save");
    await dialog.getByText("coppice secret set SLACK_URL").waitFor();
    await look("a saved notifier");
    await submit("Done");

    await page.getByRole("button", { name: "New notifier" }).click();
    await dialog.getByLabel("Name").fill("log");
    await dialog.getByLabel("Kind").selectOption("program");
    await dialog.getByLabel("Run").fill('echo "$COPPICE_TITLE" >> "$HOME/messages"');
    await show();
    await submit("Save");
    await submit("Test");
    await submit("Done");
    await page.locator("[data-notifier=log]").getByText("sent", { exact: true }).waitFor();
    assert.equal(await readFile(join(dirname(file), "../../messages"), "utf8"), "Test message from Coppice\n");

    await page.getByRole("button", { name: "Routes" }).click();
    await dialog.getByRole("button", { name: "Add a route" }).click();
    await dialog.getByLabel("To", { exact: true }).fill("log, team");
    await dialog.getByLabel("Priority").fill("urgent, action, warning");
    await dialog.getByLabel("Hours").fill("8-18");
    await show();
    await dialog.locator(".field", { has: page.getByLabel("Hours") }).locator(".problem").waitFor();
    await look("routes with a mistake");
    await dialog.getByLabel("Hours").fill("08:00-18:00");
    await show();
    await submit("Save");
    await page.locator("[data-notifier=team]").getByText("urgent, action, warning · at 08:00-18:00").waitFor();
    await page.getByRole("button", { name: "Change the notifier team" }).click();
    await submit("Remove…");
    await dialog.getByText("in route 1").waitFor();
    await submit("Cancel");

    await page.getByRole("button", { name: "Pause and address" }).click();
    await dialog.getByRole("button", { name: "Change notify.pause" }).click();
    await dialog.getByLabel("notify.pause", { exact: true }).fill("5m");
    await look("pause and address");
    await submit("Save");
    await dialog.locator("[data-key='notify.pause']").getByText("5m", { exact: true }).waitFor();
    await submit("Close");
    await look("notifications");
    const now = await text();
    assert.ok(now.startsWith("# mine\nkeep: {tasks_most: 1000} # enough\n"), now);
    assert.match(now, /pause: 5m/);
    for (const typed of ["kind: slack", "url: ${secret:SLACK_URL}", "kind: program", 'echo "$COPPICE_TITLE" >> "$HOME/messages"', "priority: [urgent, action, warning]", "to: [log, team]"]) {
      assert.ok(now.replaceAll('\\"', '"').replace(/"(\$\{.*?\})"/, "$1").includes(typed), `${typed} is not in\n${now}`);
    }
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  await w.close();
});
