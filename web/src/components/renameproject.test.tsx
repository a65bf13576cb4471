// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Project } from "../api/schema";
import { serve, show } from "../test/render";
import { AddProject } from "./addproject";
import { RenameDialog, RenameProject } from "./renameproject";

const project = { prefix: "app", path: "/app", last_task: 0, running: 0 } as unknown as Project;

it("renames a project", async () => {
  const sent = serve({ "POST /api/v1/projects/app/rename": { ...project, prefix: "shop" } });
  show(<RenameDialog p={project} close={() => {}} />);
  fireEvent.change(await screen.findByLabelText("Prefix"), { target: { value: "shop" } });
  fireEvent.click(screen.getByRole("button", { name: "Rename", hidden: true }));
  await waitFor(() => expect(sent.find((s) => s.path.endsWith("/rename"))?.body).toEqual({ prefix: "shop" }));
});

it("offers to rename a project only if the server does", () => {
  serve({});
  show(<RenameProject p={project} />);
  expect(screen.queryByRole("button")).toBeNull();
  show(<RenameProject p={{ ...project, can: ["rename"] }} />);
  expect(screen.getByRole("button").textContent).toBe("Rename…");
});

it("adds a project with a prefix", async () => {
  const sent = serve({ "POST /api/v1/projects": { ...project, prefix: "shop" } });
  show(<AddProject />);
  fireEvent.change(screen.getByLabelText("Directory of a git checkout on this machine"), { target: { value: "/app" } });
  fireEvent.change(screen.getByLabelText("Prefix of its keys"), { target: { value: "shop" } });
  fireEvent.click(screen.getByRole("button", { name: "Add project" }));
  await waitFor(() => expect(sent.find((s) => s.path === "/api/v1/projects")?.body).toEqual({ path: "/app", prefix: "shop" }));
});
