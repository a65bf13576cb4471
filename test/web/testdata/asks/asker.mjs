// An agent of the Agent Client Protocol that asks before every command. What it
// is told besides its task, it repeats.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\n");
const update = (u) => send({ method: "session/update", params: { sessionId: "s1", update: u } });
const say = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const waiting = new Map();
let asked = 0;

function may(command) {
  const id = 100 + ++asked;
  send({
    id, method: "session/request_permission",
    params: {
      sessionId: "s1",
      toolCall: { toolCallId: `call-${asked}`, title: command, kind: "execute", status: "pending", rawInput: { command } },
      options: [{ optionId: "yes", name: "Allow", kind: "allow_once" }, { optionId: "no", name: "Reject", kind: "reject_once" }],
    },
  });
  return new Promise((resolve) => waiting.set(id, (r) => {
    const ok = r?.outcome?.optionId === "yes";
    update({ sessionUpdate: "tool_call_update", toolCallId: `call-${asked}`, status: ok ? "completed" : "failed" });
    resolve(ok);
  }));
}

let turns = 0;

async function turn(prompt) {
  if (turns++ > 0) {
    say(`I was told: ${prompt}`);
    return;
  }
  say("I ask before I run anything.\n");
  for (const command of ["npm test first", "npm test second", "npm test third", "rm -r build"]) say(`${command}: ${(await may(command)) ? "I may" : "I may not"}.\n`);
  writeFileSync("asked.txt", "all was asked\n");
  execFileSync("git", ["add", "asked.txt"]);
  execFileSync("git", ["commit", "--quiet", "--message=Ask for everything"]);
}

for await (const line of createInterface({ input: process.stdin })) {
  const m = JSON.parse(line);
  if (m.method === undefined) {
    waiting.get(m.id)?.(m.result);
    waiting.delete(m.id);
    continue;
  }
  if (m.method === "initialize") send({ id: m.id, result: { protocolVersion: 1, agentInfo: { name: "asker", version: "1.0.0" }, agentCapabilities: {}, authMethods: [] } });
  else if (m.method === "session/new") send({ id: m.id, result: { sessionId: "s1" } });
  else if (m.method === "session/prompt") {
    const text = m.params.prompt.map((p) => p.text ?? "").join("");
    turn(text).then(() => send({ id: m.id, result: { stopReason: "end_turn" } }));
  } else if (m.id !== undefined) send({ id: m.id, error: { code: -32601, message: "no such method" } });
}
