// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { Builder } from "../lib/conversation";
import { agentEvent } from "../test/make";
import { show } from "../test/render";
import { BlockView } from "./block";

// blocks shows events as a conversation does.
function blocks(...events: Parameters<typeof agentEvent>[0][]): Element[] {
  const b = new Builder();
  b.add(events.map((e) => agentEvent(e)));
  const { container } = show(<>{b.blocks.map((x) => <BlockView key={x.id} b={x} session="app-1.1" marked={false} relative={(s) => s} />)}</>);
  return [...container.querySelectorAll(".block")];
}

it("names the type of a protocol in words", () => {
  blocks({ kind: "tool", ref: "1", name: "commandExecution", input: { command: "go test" } });
  expect(screen.getByText("run")).toBeTruthy();
  expect(screen.queryByText(/commandExecution/)).toBeNull();
});

it("marks only what asks the person, not each call that was allowed", () => {
  const all = blocks({ kind: "tool", ref: "1", name: "Write" }, { kind: "permission", ref: "1", name: "Write", text: "allowed" }, { kind: "question", text: "may it run: ls", rule: {}, options: ["allow", "deny"] });
  expect(all.map((el) => el.className)).toEqual(["block b-tool", "block b-permission", "block b-question"]);
  expect(all[2]!.querySelector(".tag")!.textContent).toBe("permission");
  expect(all[2]!.querySelector("ol")).toBeNull(); // its answers are above the conversation
});

it("shows the options of a question, and the class of an error in words", () => {
  const [question, error] = blocks({ kind: "question", text: "Which?", options: ["this", "that"], descriptions: ["the first"] }, { kind: "error", class: "implementation", text: "`a.go` does not exist" });
  expect([...question!.querySelectorAll("li")].map((el) => el.textContent)).toEqual(["this: the first", "that"]);
  expect(error!.querySelector("p")!.textContent).toBe("error work not done: a.go does not exist");
  expect(error!.querySelector("code")!.textContent).toBe("a.go");
});
