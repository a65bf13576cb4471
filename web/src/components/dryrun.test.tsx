// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { show } from "../test/render";
import { Preview, useDryRun } from "./dryrun";

function Form({ send, done }: { send: (change: string, dry: boolean) => Promise<{ diff?: string }>; done: (change: string) => void }) {
  const { preview, problem, run, reset } = useDryRun(send, done);
  return (
    <>
      <button onClick={() => void run("new", true)}>Show</button>
      <button onClick={() => void run("new", false)}>Save</button>
      <button onClick={reset}>Edit</button>
      {preview && <Preview diff={preview.diff} what="file" />}
      {problem && <p role="alert">{problem.detail}</p>}
    </>
  );
}

it("previews a change, and makes it then", async () => {
  const send = vi.fn(async (_: string, dry: boolean) => (dry ? { diff: "@@\n-old\n+new\n" } : {}));
  const done = vi.fn();
  show(<Form send={send} done={done} />);
  fireEvent.click(screen.getByText("Show"));
  expect((await screen.findByLabelText("The change")).textContent).toContain("+new");
  fireEvent.click(screen.getByText("Edit"));
  expect(screen.queryByLabelText("The change")).toBeNull();
  fireEvent.click(screen.getByText("Save"));
  await waitFor(() => expect(done).toHaveBeenCalledWith("new", {}));
  expect(send.mock.calls).toEqual([["new", true], ["new", false]]);
});

it("says that nothing would change", () => {
  show(<Preview diff="" what="text" />);
  expect(screen.getByRole("status").textContent).toBe("The text would stay as it is.");
});
