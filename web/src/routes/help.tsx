// Help: the states of tasks in words, the most useful commands, and all keys.
import { Keys } from "../components/keys";
import { Link } from "../router";
import { StatusBadge } from "../ui/parts";

const states: [string, string][] = [
  ["needs you", "It waits for you: it asked something, it is ready to land, or something failed that only a person can fix. The inbox lists what helps."],
  ["working", "A session of its agent works on it."],
  ["verifying", "Another session checks each of its steps on the merged result."],
  ["fixing", "A session fixes what a check, a verifier or a merge refused."],
  ["checking", "Its work is merged with the base, and the checks run on the result."],
  ["landing", "It is in the landing queue, and moves the base next."],
  ["ready", "It starts when a session is free."],
  ["waiting", "It waits for what its reason names: another task, a time, an account, or a free session."],
  ["failed", "Its tries are used up, or nothing could be done. Retry it, continue it, or archive it."],
  ["done", "Its work has landed, or its answer is available."],
  ["cancelled", "A person stopped it."],
];

const commands: [string, string][] = [
  ["coppice new \"…\"", "creates a task in the project of the current directory"],
  ["coppice status", "shows what needs you, what is running and what is waiting"],
  ["coppice inbox", "lists what needs you, with the command that helps"],
  ["coppice logs -f app-4", "follows the sessions and checks of a task"],
  ["coppice answer app-4 \"…\"", "answers a question"],
  ["coppice land app-4", "lands a task that waits for your approval"],
  ["coppice attach app-4", "opens the terminal of a task that you took over"],
  ["coppice doctor", "checks this machine, the agents and the projects"],
  ["coppice help", "lists all commands; every command has --help"],
];

export default function HelpPage() {
  return (
    <div className="page help">
      <div className="page-head"><h1>Help</h1></div>
      <p>You describe tasks. Agents work on them, each in a separate workspace. Coppice merges, checks and lands the results, and asks you if it needs a decision: see the <Link href="/inbox">inbox</Link>.</p>
      <h2>Statuses</h2>
      <dl className="help-list">{states.map(([s, what]) => <div key={s}><dt><StatusBadge status={s} /></dt><dd>{what}</dd></div>)}</dl>
      <h2>Commands</h2>
      <dl className="help-list">{commands.map(([c, what]) => <div key={c}><dt><code>{c}</code></dt><dd>{what}</dd></div>)}</dl>
      <h2>Keys</h2>
      <Keys />
      <h2>Documents</h2>
      <p>The directory <code>docs</code> of Coppice's repository has them: <code>concepts.md</code> for the words, <code>configuration.md</code> for every key of <code>coppice.yaml</code>, <code>reactions.md</code> and <code>forges.md</code> for pull requests, <code>states.md</code> for what follows what, and <code>troubleshooting.md</code>.</p>
    </div>
  );
}
