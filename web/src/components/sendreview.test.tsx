// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { Review } from "../api/schema";
import { keepTyped } from "../state/typed";
import { serve, show } from "../test/render";
import { sendFormName } from "./comment";
import { DraftBar, SendReview } from "./sendreview";

const review = (change: Partial<Review>): Review => ({ task: "app-1", base: "b", head: "h", files: [], comments: [], checks: [], viewed: 0, drafts: 0, ...change });
const send = () => screen.getByRole("button", { name: "Send to the agent", hidden: true }) as HTMLButtonElement;

afterEach(() => keepTyped(sendFormName("app-1")));

it("sends the drafts and the text one time", async () => {
  const sent = serve({ "POST /api/v1/tasks/app-1/comments/send": { id: 1 } });
  const close = vi.fn();
  show(<SendReview r={review({ drafts: 2, follows: "the task continues with the message" })} onClose={close} />);
  expect(document.body.textContent).toContain("2 drafts and your text become one message. If you send it now, the task continues with the message.");
  fireEvent.change(screen.getByRole("textbox", { hidden: true }), { target: { value: "nearly" } });
  fireEvent.submit(document.querySelector("form")!);
  fireEvent.submit(document.querySelector("form")!);
  await waitFor(() => expect(close).toHaveBeenCalledTimes(1));
  expect(sent).toMatchObject([{ method: "POST", body: { text: "nearly" } }]);
});

it("needs a draft or a text", () => {
  show(<SendReview r={review({})} onClose={() => {}} />);
  expect(send().disabled).toBe(true);
  fireEvent.change(screen.getByRole("textbox", { hidden: true }), { target: { value: "start again" } });
  expect(send().disabled).toBe(false);
});

it("says why it is refused, before and after it was sent", async () => {
  const { rerender } = show(<SendReview r={review({ drafts: 1, refused: "app-1 is being checked; wait" })} onClose={() => {}} />);
  expect(send().disabled).toBe(true);
  expect(document.body.textContent).toContain("app-1 is being checked; wait");
  rerender(<></>);
  serve({ "POST /api/v1/tasks/app-1/comments/send": { code: "conflict", title: "", status: 409, detail: "it lands now" } });
  show(<SendReview r={review({ drafts: 1 })} onClose={() => {}} />);
  fireEvent.submit(document.querySelector("form")!);
  expect((await screen.findByRole("alert", { hidden: true })).textContent).toContain("it lands now");
  expect(send().disabled).toBe(false);
});

it("counts the drafts", () => {
  const { rerender } = show(<DraftBar r={review({ drafts: 0 })} onSend={() => {}} />);
  expect(screen.queryByRole("region")).toBeNull();
  rerender(<DraftBar r={review({ drafts: 1 })} onSend={() => {}} />);
  expect(screen.getByRole("region").textContent).toContain("1 draft");
});
