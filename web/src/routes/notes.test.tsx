// @vitest-environment happy-dom
// The page of notes, and the form of a note.
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { happened } from "../api/cache";
import type { Event, Note } from "../api/schema";
import { NoteDialog } from "../components/notedialog";
import { useDialog } from "../state/dialog";
import { project } from "../test/make";
import { serve, show } from "../test/render";
import NotesPage from "./notes";

const note = (change: Partial<Note> = {}): Note => ({ project: "app", scope: "project", key: "plan/a", value: "first", version: 1, size: 5, by: "session:app-1.1", updated_at: "2026-01-01T10:00:00Z", ...change });
const path = "/api/v1/projects/app/notes";
const one = `${path}/plan%2Fa`;
const projects = { "GET /api/v1/projects": { projects: [project({ prefix: "app" })] }, "GET /api/v1/status": { projects: [{ prefix: "app" }], counts: {} } };
const changed = (subject: string) => ({ seq: 9, at: "", kind: "note.changed", by: "person", subject }) as Event;
const text = () => screen.getByLabelText<HTMLTextAreaElement>(/ext$/).value;
const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name, hidden: true });

function Open() {
  return <output>{JSON.stringify(useDialog())}</output>;
}

it("lists notes, filters them, follows changes, and opens one", async () => {
  const answers: Record<string, unknown> = { ...projects, [`GET ${path}`]: { notes: [note(), note({ key: "b", task: "app-3", scope: "task/3" })], total: 2, bytes: 2048, next: "task/3 b" } };
  serve(answers);
  history.replaceState(null, "", "/notes");
  show(<><NotesPage /><Open /></>);
  expect(await screen.findByText("plan/a")).toBeTruthy();
  expect(screen.getByText(/^2 notes, /)).toBeTruthy();
  expect(screen.getByText("app-3")).toBeTruthy();
  fireEvent.click(screen.getByText("b"));
  expect(screen.getByText(JSON.stringify({ form: "note", project: "app", task: "app-3", note: "b" }))).toBeTruthy();
  fireEvent.click(screen.getByText("New note"));
  expect(screen.getByText(JSON.stringify({ form: "note", project: "app" }))).toBeTruthy();
  answers[`GET ${path}`] = { notes: [note({ key: "c" })], total: 1, bytes: 6 };
  act(() => happened(changed("c")));
  expect(await screen.findByText("c")).toBeTruthy();
  answers[`GET ${path}`] = { notes: [], total: 1, bytes: 6 };
  fireEvent.change(screen.getByLabelText("Beginning of keys"), { target: { value: "plan/" } });
  expect(location.search).toBe("?prefix=plan%2F");
  expect(await screen.findByText("No match")).toBeTruthy();
});

it("asks for the next page", async () => {
  const asked: string[] = [];
  serve({ ...projects, [`GET ${path}`]: { notes: [note()], total: 200, bytes: 1, next: "project plan/a" } });
  const answer = fetch;
  globalThis.fetch = ((r: Request) => (asked.push(new URL(r.url).search), answer(r))) as typeof fetch;
  history.replaceState(null, "", "/notes");
  show(<NotesPage />);
  fireEvent.click(await screen.findByText("More notes"));
  await waitFor(() => expect(asked.some((a) => a.includes("after=project%20plan%2Fa") || a.includes("after=project+plan%2Fa"))).toBe(true));
  fireEvent.click(screen.getByText("First page"));
  expect(location.search).toBe("");
});

it("writes a new note that must not exist", async () => {
  const sent = serve({ [`PUT ${one}`]: note() });
  let closed = false;
  show(<NoteDialog project="app" onClose={() => (closed = true)} />);
  fireEvent.change(screen.getByLabelText("Key"), { target: { value: "plan/a" } });
  fireEvent.change(screen.getByLabelText("Text"), { target: { value: "mine" } });
  fireEvent.click(button("Save"));
  await waitFor(() => expect(closed).toBe(true));
  expect(sent).toContainEqual({ method: "PUT", path: one, body: { value: "mine", if_version: 0 } });
});

it("shows both texts if somebody else was faster, and replaces only what the person has seen", async () => {
  const answers: Record<string, unknown> = { [`GET ${one}`]: note(), [`PUT ${one}`]: { code: "conflict", title: "Conflict", status: 409, detail: "the note plan/a has version 2, not 1" } };
  const sent = serve(answers);
  show(<NoteDialog project="app" note="plan/a" onClose={() => {}} />);
  await waitFor(() => expect(text()).toBe("first"));
  fireEvent.change(screen.getByLabelText("Text"), { target: { value: "mine" } });
  answers[`GET ${one}`] = note({ value: "theirs", version: 2, by: "session:app-2.1" });
  fireEvent.click(button("Save"));
  expect(await screen.findByText(/session:app-2\.1 changed this note while you had it open/)).toBeTruthy();
  expect(screen.getByText("theirs")).toBeTruthy();
  expect(text()).toBe("mine");
  expect(button("Save").disabled).toBe(true);
  fireEvent.click(button("Keep my text"));
  answers[`PUT ${one}`] = note({ version: 3 });
  fireEvent.click(button("Save"));
  await waitFor(() => expect(sent.filter((s) => s.method === "PUT").map((s) => s.body)).toEqual([{ value: "mine", if_version: 1 }, { value: "mine", if_version: 2 }]));
});

it("takes the other text, and notices a deletion", async () => {
  const answers: Record<string, unknown> = { [`GET ${one}`]: note() };
  serve(answers);
  show(<NoteDialog project="app" note="plan/a" onClose={() => {}} />);
  await waitFor(() => expect(text()).toBe("first"));
  answers[`GET ${one}`] = note({ value: "theirs", version: 2 });
  act(() => happened(changed("plan/a")));
  fireEvent.click(await screen.findByText("Use this text"));
  expect(text()).toBe("theirs");
  delete answers[`GET ${one}`];
  act(() => happened(changed("plan/a")));
  expect(await screen.findByText(/was deleted while you had it open/)).toBeTruthy();
});

it("deletes the version that the person has read", async () => {
  const asked: string[] = [];
  const sent = serve({ [`GET ${one}`]: note({ version: 7 }), [`DELETE ${one}`]: note() });
  const answer = fetch;
  globalThis.fetch = ((r: Request) => (asked.push(new URL(r.url).search), answer(r))) as typeof fetch;
  show(<NoteDialog project="app" note="plan/a" onClose={() => {}} />);
  await waitFor(() => expect(text()).toBe("first"));
  fireEvent.click(button("Delete"));
  await waitFor(() => expect(sent.some((s) => s.method === "DELETE")).toBe(true));
  expect(asked).toContain("?if_version=7");
});
