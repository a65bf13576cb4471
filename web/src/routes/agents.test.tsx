// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Agent } from "../api/schema";
import { serve, show } from "../test/render";
import AgentsPage from "./agents";

const agent = (change: Partial<Agent>): Agent => ({ name: "robot", path: "/bin/robot", installed: true, shown: true, version: "1.2", tested: "1.1", state: "ready", suggest: [], choices: ["auto"], efforts: [], warnings: [], can: [], scores: { lead: 0, implement: 0 }, tasks: { all: 0, running: 0, done: 0, failed: 0 }, ...change });

const page = (...agents: Agent[]) => {
  serve({ "GET /api/v1/projects": { projects: [{ prefix: "app" }] }, "GET /api/v1/agents": { agents, choices: ["auto"], at: "2026-01-01T10:00:00Z" } });
  return show(<AgentsPage />);
};

it("says one time that nobody is logged in, and what helps", async () => {
  page(agent({ login: "no", login_env: ["ROBOT_KEY"], warnings: ["log in with its own program, or set ROBOT_KEY", "not tested with this version, only with 1.1"] }));
  expect(await screen.findByText("not logged in")).toBeTruthy();
  expect(screen.getAllByText(/log in with its own program/i)).toHaveLength(1);
  expect(screen.getAllByText(/1\.1/)).toHaveLength(1);
});

it("does not call an agent logged out that works by its own settings", async () => {
  page(agent({ login: "unknown", login_by: "~/.robot/config", settings: "~/.robot/config" }));
  expect((await screen.findByText("uses its own settings")).className).toBe("tag");
  expect(screen.queryByText("not logged in")).toBeNull();
});

it("marks an agent whose profile no test has run", async () => {
  page(agent({ tested: undefined, unproven: true }));
  expect((await screen.findByText("unproven")).title).toContain("No test");
});

it("marks it among those that are not installed, and shows the version of the others", async () => {
  page(agent({ shown: false, path: undefined, installed: false, version: undefined, tested: undefined, unproven: true, install: "get robot" }), agent({ name: "other", shown: false, path: undefined, installed: false, version: undefined, install: "get other" }));
  expect(await screen.findAllByText("unproven")).toHaveLength(1);
  expect(screen.getByText("1.1")).toBeTruthy();
});
