// @vitest-environment happy-dom
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Pull, PullComment, PullMark, Reacted, Reviewer } from "../api/schema";
import { detail, pull, reacted } from "../test/make";
import { show } from "../test/render";
import PullTab from "./pull";
import { ReactedView } from "./reacted";

const at = "2026-01-01T10:00:00Z";
const comment = (id: string, change: Partial<PullComment> = {}): PullComment => ({ id, author: "ann", text: `text ${id}`, at, ...change });

// request is a task with a pull request.
function request(report: Partial<Pull["report"]>, { mark, reactions, merge_text, ...change }: Partial<Pull> & { mark?: Partial<PullMark>; reactions?: Reacted[]; merge_text?: string } = {}) {
  const p: Pull = { number: 12, url: "https://forge.example/12", branch: "coppice/app-1", base: "main", created_at: at, report: { title: "Greet", author: "bot", ...report }, ...change };
  return detail({ id: 1, stage: "pull", status: "landing", status_text: "in review", pr: pull(mark ?? {}), pull: p, reactions, merge_text, can: ["land"] });
}

it("lists the checks, the failed ones first, with the end of their logs and links of the web only", () => {
  const checks = [
    { name: "unit", state: "passed", url: "https://forge.example/unit" },
    { name: "slow", state: "pending" },
    { name: "build", state: "failed", text: "exit code 2", url: "javascript:alert(1)", log: "\u001b[31mundefined: foo\u001b[0m\n<b>bold</b>" },
  ];
  show(<PullTab t={request({ checks }, { mark: { ci: "failed", failed: ["build"] } })} />);
  const ci = within(screen.getByRole("region", { name: "CI" }));
  expect([...document.querySelectorAll<HTMLElement>("[data-check]")].map((el) => el.dataset.check)).toEqual(["build", "slow", "unit"]);
  expect(ci.getByLabelText("Log of build").textContent).toBe("undefined: foo\n<b>bold</b>");
  expect(ci.getAllByRole("link").map((a) => a.getAttribute("href"))).toEqual(["https://forge.example/unit"]);
  expect(ci.getByText("1 check passed")).toBeTruthy();
});

it("names the reviewers, and shows open comments before resolved ones", () => {
  const comments = [
    comment("2", { author: "bob", review: "approved", text: "" }), comment("3", { path: "a.go", line: 7, text: "use **tabs** [now](javascript:alert(1)) <img src=x>" }),
    comment("4", { resolved: true }), comment("5", { author: "linter", bot: true }), comment("6", { review: "approved", text: "" }),
  ];
  const reviewers: Reviewer[] = [{ name: "ann", review: "approved", counts: true, at }, { name: "bob", review: "changes", at }];
  show(<PullTab t={{ ...request({ comments }, { mark: { review: "approved", open_comments: 2 } }), reviewers }} />);
  const reviews = within(screen.getByRole("region", { name: "Reviews" }));
  expect([...document.querySelectorAll(".pull-reviewers li")].map((li) => li.textContent)).toEqual([expect.stringMatching(/^ann ✓ approved/), expect.stringMatching(/^bob ✗ changes requested without write access/)]);
  const open = within(reviews.getByRole("list", { name: "Comments" }));
  expect(open.getAllByText(/^(ann|linter)$/).map((el) => el.textContent)).toEqual(["linter", "ann"]);
  expect(open.getByText("a.go:7")).toBeTruthy();
  expect(open.getByText("tabs").tagName).toBe("STRONG");
  expect(document.querySelectorAll("img, .pull-comments a")).toHaveLength(0);
  expect(reviews.getByText("1 resolved comment")).toBeTruthy();
});

it("shows the first comments and reactions of many, and all on request", () => {
  const many = Array.from({ length: 25 }, (_, i) => i);
  show(<PullTab t={request({ comments: many.map((i) => comment(String(i))) }, { reactions: many.map((i) => reacted({ id: i + 1, text: `event ${i}` })) })} />);
  expect(document.querySelectorAll(".pull-comments > li")).toHaveLength(10);
  expect([...document.querySelectorAll(".reacted")].map((el) => el.textContent)[0]).toContain("event 24");
  for (const button of screen.getAllByText("Show 15 more")) fireEvent.click(button);
  expect(document.querySelectorAll(".pull-comments > li, .reacted")).toHaveLength(50);
});

// What the head of a request says, by what is known of it.
const heads: [string, Partial<Pull> & { mark?: Partial<PullMark>; merge_text?: string }, (string | RegExp)[], (string | RegExp)[]?][] = [
  ["it can be merged", {}, ["Land merges it on the forge.", "open"]],
  ["a draft with conflicts", { mark: { draft: true, conflicts: true } }, ["draft", /It has conflicts with/]],
  ["somebody asked to merge it", { merge_text: "Ada wants it merged." }, ["Ada wants it merged."], [/Land merges/]],
  ["only the server says that it is merged", { merge_by: "ada", merge_head: "abc", mark: { merging: true } }, ["Land merges it on the forge."], [/requested/]],
  ["the forge refuses", { blocked: "2 approvals are missing" }, [/The forge does not merge it: /, /2 approvals are missing/]],
  ["a step failed", { failure: { class: "environment", text: "there is no token", fix: "run `coppice secret set`" } }, ["environment", "there is no token", "coppice secret set"]],
  ["a person decides", { escalate: { event: "ci-failed", text: "ci-failed: build.\n- send-to-agent, try 1: pushed abc\n", at } }, ["A person has to decide: ci-failed", /try 1: pushed abc/]],
  ["it was merged", { ended_at: at, mark: { state: "merged" }, blocked: "old" }, ["merged", /^Merged/], [/old/]],
];

it.each(heads)("%s", (_, change, shown, hidden = []) => {
  show(<PullTab t={request({}, change)} />);
  for (const text of shown) expect(screen.getAllByText(text).length).toBeGreaterThan(0);
  for (const text of hidden) expect(screen.queryByText(text)).toBeNull();
  expect(screen.getByText(/Nothing has happened that a rule follows/)).toBeTruthy();
});

it("says what a reaction did, or why it did nothing", () => {
  show(
    <>
      <ReactedView now={0} r={reacted({ id: 1, try: 2, result: "pushed abc", ended_at: at, message: "<b>fix it</b>", head: "f".repeat(40) })} />
      <ReactedView now={0} r={reacted({ id: 2, do: "nothing", try: 2, why: "set `trust: unsandboxed`" })} />
      <ReactedView now={0} r={reacted({ id: 3, do: "task", task: "app-9" })} />
      <ReactedView now={0} r={reacted({ id: 4, do: "run", run: "./deploy.sh" })} />
      <ReactedView now={0} r={reacted({ id: 5, waits: true })} />
      <ReactedView now={0} r={reacted({ id: 6 })} />
    </>,
  );
  const [sent, nothing, task, run, waits] = [...document.querySelectorAll<HTMLElement>(".reacted")].map((el) => within(el));
  for (const text of ["sent to the agent", "try 2", "pushed abc", "ffffffffff", "<b>fix it</b>"]) expect(sent!.getByText(text)).toBeTruthy();
  expect(nothing!.getByText("nothing done")).toBeTruthy();
  expect(nothing!.getByText("trust: unsandboxed").tagName).toBe("CODE");
  expect(nothing!.queryByText("try 2")).toBeNull();
  expect(task!.getByRole("link", { name: "app-9" }).getAttribute("href")).toBe("/tasks/app-9");
  expect(run!.getByText("./deploy.sh")).toBeTruthy();
  expect(waits!.getByText("no result yet")).toBeTruthy();
  expect(screen.getAllByText("no result yet")).toHaveLength(1); // the server says which one waits
});
