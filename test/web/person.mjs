// A person answers the question of a task with one of its options. The tests of
// real agents run it.
import { main, told, World } from "./lib.mjs";

await main(async () => {
  const w = await World.open();
  await w.signIn();
  await w.goto("/tasks/" + told.task);
  const question = w.page.getByRole("form", { name: "Question" });
  await question.getByRole("button", { name: told.answer }).click();
  await question.waitFor({ state: "detached" });
  await w.close();
});
