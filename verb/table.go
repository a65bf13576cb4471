package verb

import (
	"slices"

	"coppice"
)

// open are the statuses of tasks that have not ended.
var open = slices.DeleteFunc(slices.Clone(coppice.Statuses), func(s coppice.Status) bool {
	return s == coppice.StatusDone || s == coppice.StatusFailed || s == coppice.StatusCancelled
})

// Table describes every verb, in the order in which the dashboard shows them.
var Table = []Info{
	{
		Verb: coppice.VerbLand, Event: coppice.EventTaskLandAsked, Head: true, Fits: notPlanned(fitsLand), Check: checkLand, Hidden: hideLand, Primary: landsNext,
		Withdraws: []coppice.Verb{coppice.VerbUnstop},
		Route:     Route{"land-task", "Land a task that waits for your approval"},
		Command: Command{
			Use: "land KEY…", Short: "Land tasks that wait for your approval", Many: true, All: []coppice.Status{coppice.StatusNeedsYou},
			Long:    "Land tasks whose checks passed and whose project does not land automatically. The merged result is checked once more if the base has moved.\nA landing that waits, for example because its checks were killed, is retried immediately.\nWith --head the request is refused if the change is no longer at the commit that you have read.\nWith --all, land every task of a project that waits for your approval.",
			Example: "  coppice land app-4 app-5\n  coppice land app-4 --head 3f2a91c\n  coppice land --project app --all", Done: "will be landed",
		},
		Button: Button{Name: "Land", About: "Land it after its checks have passed, or retry a landing that waits", Done: "lands", Undo: coppice.VerbRevert},
	},
	{
		Verb: coppice.VerbDone, Event: coppice.EventTaskChanged, Reason: "a person decides that it is done as it is", Fits: FitsDone,
		Withdraws: []coppice.Verb{coppice.VerbRetry, coppice.VerbContinue, coppice.VerbTake},
		Route:     Route{"done-task", "End a task whose session changed nothing, as done"},
		Command: Command{
			Use: "done KEY", Short: "End a task whose session changed nothing, as done",
			Long: `End a task whose session ended without changing anything. The session's final
message is its answer, and nothing lands. Tasks that depend on it can start.`,
			Example: "  coppice show app-4\n  coppice done app-4", Done: "is done as it is",
		},
		Button: Button{Name: "Done as it is", About: "End it as done: nothing has to be changed", Done: "is done"},
	},
	{
		Verb: coppice.VerbSkipCheck, Event: coppice.EventTaskChanged, Text: "text", Fits: fitsSkipCheck, Check: checkSkipCheck,
		Withdraws: []coppice.Verb{coppice.VerbRetry, coppice.VerbContinue, coppice.VerbTake, coppice.VerbUnskipCheck},
		Route:     Route{"skip-check", "Leave a check out that the base fails as well, for one task"},
		Command: Command{
			Use: "skip-check KEY [CHECK]", Short: "Leave a check out that the base fails as well, for one task",
			Long: `Leave checks out for a task that waits because the base fails them as well, or
because their command is missing. The task then lands without them if its other
checks pass. Without CHECK, all checks that block the task are left out. The task
and the commit that lands name the checks that were left out.`,
			Example: "  coppice skip-check app-4\n  coppice skip-check app-4 \"make lint\"", Done: "lands without the check",
		},
		Button: Button{Name: "Leave the check out", About: "Land it without the check that the base fails as well", Done: "lands without the check"},
	},
	{
		Verb: coppice.VerbUnskipCheck, Event: coppice.EventTaskChanged, Reason: "checks that were left out are put back", Text: "text", Fits: fitsUnskipCheck, Check: checkUnskipCheck,
		Withdraws: []coppice.Verb{coppice.VerbSkipCheck},
		Route:     Route{"unskip-check", "Put a check back that was left out for a task"},
		Command: Command{
			Use: "unskip-check KEY [CHECK]", Short: "Put a check back that was left out for a task",
			Long: `Put checks back that ` + "`coppice skip-check`" + ` left out for a task. Without CHECK, all of
them are put back. Work that waits for your approval is merged and checked again. A
task that is landing, or has landed, keeps its checks as they are.`,
			Example: "  coppice unskip-check app-4\n  coppice unskip-check app-4 \"make lint\"", Done: "has its checks back",
		},
		Button: Button{Name: "Put the check back", About: "Land it only if the checks that were left out pass", More: true, Done: "has its checks back"},
	},
	{
		Verb: coppice.VerbContinue, Event: coppice.EventTaskRetried, Text: "text", Images: true, Fits: notPlanned(fitsContinue), Check: checkContinue,
		Withdraws: []coppice.Verb{coppice.VerbLand},
		Route:     Route{"continue-task", "Continue an ended task in its last conversation"},
		Command: Command{
			Use: "continue KEY [TEXT]", Short: "Continue an ended task in its conversation",
			Long: `Continue a task that is done, failed or was stopped, in its last conversation. A
task that is done needs a text that says what it should do now. It starts from
the base, which has its work. If nothing has to be changed, it stays done. Any
other task continues on its branch. A task that waits for your approval continues
too: the text says what to change, and its candidate is dropped. So does a task
whose session changed nothing. If the base fails a check of the task as well, a fix
session starts anyway.`,
			Example: "  coppice continue app-4 \"now also the German texts\"\n  coppice continue app-5", Done: "continues",
		},
		Button: Button{Name: "Continue", About: "Continue it in its last conversation", Prompt: "What should it do now?", Done: "continues"},
	},
	{
		Verb: coppice.VerbRetry, Event: coppice.EventTaskRetried, Text: "note", Staff: true, Images: true, Fits: fitsRetry, Check: checkRetry, Primary: failed,
		By:    []coppice.ActorKind{coppice.ActorFile, coppice.ActorEngine},
		Route: Route{"retry-task", "Retry a failed, stopped or stuck task"},
		Command: Command{
			Use: "retry KEY…", Short: "Retry failed, stopped or stuck tasks", Note: "a message for the agent", Many: true, All: []coppice.Status{coppice.StatusFailed},
			Long:    "Retry failed, stopped or stuck tasks on their branches. The agent gets the note.\nWith --agent or --model another one takes over.\nIf only the landing waits, for example because its checks were killed, the landing is retried immediately, and no session starts.\nSo is the landing of a task whose base failed a check as well: run it when you have fixed the base.\nWith --all, retry every failed task of a project that is not archived.",
			Example: "  coppice retry app-4 app-5\n  coppice retry --project app --all --yes\n  coppice retry app-4 --note \"the service is up again\"", Done: "will be retried",
		},
		Button: Button{Name: "Retry", About: "Retry it", Prompt: "What should it do differently? (optional)", Bare: true, Done: "is retried"},
	},
	{
		Verb: coppice.VerbRequeue, Event: coppice.EventTaskRequeued, Text: "note", Staff: true, Images: true, Fits: notPlanned(fitsRequeue), Hidden: ended,
		Withdraws: []coppice.Verb{coppice.VerbStop, coppice.VerbContinue, coppice.VerbLand, coppice.VerbTake, coppice.VerbGive, coppice.VerbDone, coppice.VerbSkipCheck},
		Route:     Route{"requeue-task", "Stop the running session of a task and restart the task in its workspace"},
		Command: Command{
			Use: "requeue KEY…", Short: "Stop the running session of a task and restart the task", Many: true, Note: "what to do differently, a message for the agent",
			Long: `Send tasks back to the queue, whatever they are doing: a session, a check, a wait.
The running session is stopped, and a new one starts in the same workspace and
branch. It keeps the work so far, and gets a summary of it and your note. Its
tries count from zero. With --agent or --model another one takes over. A task
that has landed, or is landing at this moment, is refused.`,
			Example: "  coppice requeue app-4 --note \"leave the schema alone\"\n  coppice requeue app-4 app-5 --agent other\n  coppice requeue app-4 --model opus",
			Done:    "is restarted",
		},
		Button: Button{
			Name: "Requeue", About: "Stop the running session and restart it in its workspace",
			Prompt: "What should it do differently? (optional)", Bare: true, Done: "goes back to the queue",
		},
	},
	{
		Verb: coppice.VerbStop, Event: coppice.EventTaskStopAsked, Fits: fitsStop,
		By:        []coppice.ActorKind{coppice.ActorFile, coppice.ActorEngine, coppice.ActorSession},
		Withdraws: []coppice.Verb{coppice.VerbRequeue, coppice.VerbRetry, coppice.VerbContinue, coppice.VerbTake, coppice.VerbLand, coppice.VerbUnstop, coppice.VerbDone, coppice.VerbSkipCheck, coppice.VerbPause, coppice.VerbResume, coppice.VerbWrapUp},
		Route:     Route{"stop-task", "Stop a task and its session"},
		Command: Command{
			Use: "stop KEY…", Short: "Stop tasks and their sessions", Many: true, All: open,
			Long:    "Stop tasks: the session of each is asked to exit, then killed. Its workspace goes to the trash. `coppice undo` continues a task as it was, and `coppice retry` starts it again on its branch.\nWith --all, stop every task of a project that has not ended.",
			Example: "  coppice stop app-4 app-5\n  coppice stop --project app --all", Done: "will be stopped",
		},
		Button: Button{Name: "Stop", About: "Stop it and its session", Danger: true, Done: "stops", Undo: coppice.VerbUnstop},
	},
	{
		Verb: coppice.VerbResume, Event: coppice.EventFlowAsked, Reason: "resume", Text: "from", Fits: fitsResume,
		Withdraws: []coppice.Verb{coppice.VerbPause, coppice.VerbWrapUp},
		Route:     Route{"resume-flow", "Continue a flow that is paused, blocked or has ended, from a step if one is named"},
		Button:    Button{Name: "Resume", About: "Continue it: steps that failed run again", Prompt: "From which step? (optional)", Bare: true, Done: "continues"},
	},
	{
		Verb: coppice.VerbPause, Event: coppice.EventFlowAsked, Reason: "pause", Fits: fitsPause,
		Withdraws: []coppice.Verb{coppice.VerbResume},
		Route:     Route{"pause-flow", "Start no further step of a flow"},
		Button:    Button{Name: "Pause", About: "Start no further step; steps that run continue", More: true, Done: "is paused"},
	},
	{
		Verb: coppice.VerbWrapUp, Event: coppice.EventFlowAsked, Reason: "wrap up", Fits: fitsWrapUp,
		Withdraws: []coppice.Verb{coppice.VerbPause, coppice.VerbResume},
		Route:     Route{"wrap-up-flow", "End a flow with what is proven: its branch lands"},
		Button:    Button{Name: "Wrap up", About: "Stop its open steps, and land what is proven", More: true, Done: "is wrapped up"},
	},
	{
		Verb: coppice.VerbGive, Event: coppice.EventTaskChanged, Reason: "a person gives it back", Text: "text", Images: true, Fits: fitsGive, Primary: Facts.taken,
		Withdraws: []coppice.Verb{coppice.VerbTake},
		Route:     Route{"give-task", "Give a task back that was taken"},
		Command: Command{
			Use: "give KEY [TEXT]", Short: "Give a task back that you took",
			Long:    "Give a task back: its screen is closed, and the agent continues alone in the same conversation. The agent gets the text.",
			Example: "  coppice give app-4 \"the tests pass again; now finish\"", Done: "is given back",
		},
		Button: Button{
			Name: "Give back", About: "Give it back to Coppice, which continues in the same conversation",
			Prompt: "What did you do? (optional)", Done: "continues",
		},
	},
	{
		Verb: coppice.VerbTake, Event: coppice.EventTaskChanged, Reason: "a person takes over", Fits: fitsTake, Hidden: hideTake,
		Withdraws: []coppice.Verb{coppice.VerbGive},
		Route:     Route{"take-task", "Continue a task on the agent's own screen"},
		Command: Command{
			Use: "take KEY", Short: "Take a task over on the agent's own screen",
			Long: `Take a task over: its session ends its turn, and the same conversation opens on
the agent's own interactive screen. It has no time limit. In a terminal, the command
waits for the screen and attaches to it, like ` + "`coppice attach`" + `. To give the task
back, leave the screen, or run ` + "`coppice give`" + `.`,
			Example: "  coppice take app-4\n  coppice take app-4 --no-attach", Done: "will be yours; then run: coppice attach",
		},
		Button: Button{
			Name: "Take over", About: "Continue it yourself on the agent's own screen", More: true,
			Done: "is yours: open its terminal, or run coppice attach with its key",
		},
	},
	{
		Verb: coppice.VerbRevert, Event: coppice.EventTaskRevert, Fits: fitsRevert,
		Route: Route{"revert-task", "Take the landing of a task off its branch"},
		Command: Command{
			Use: "revert KEY", Short: "Take the landing of a task off its branch",
			Long: `Take the landing of a task off its branch. If nothing else builds on its commit, the
branch moves back, and checkouts of the branch follow. Files that you changed stay:
if they are in the way, the revert waits for you. If the commit was pushed, or the
branch, another branch or another task has it, a commit that reverts it is merged,
checked and queued, like any other landing. The task is then cancelled. To land its
work again, run ` + "`coppice retry KEY`" + `.`,
			Example: "  coppice revert app-4", Done: "will be reverted",
		},
		Button: Button{Name: "Revert", About: "Take its landing off the branch: the branch moves back, or a commit reverts it", Danger: true, Done: "is reverted"},
	},
	{
		Verb: coppice.VerbUnstop, Event: coppice.EventTaskUnstop, Fits: fitsUnstop, Hidden: hideUnstop,
		Withdraws: []coppice.Verb{coppice.VerbLand},
		Route:     Route{"unstop-task", "Continue a stopped task as it was, in its workspace and conversation"},
		Button:    Button{Name: "Undo stop", About: "Continue it as it was, in its workspace and conversation", More: true, Done: "continues as it was"},
	},
	{
		Verb: coppice.VerbDropBranches, Event: coppice.EventTaskChanged, Reason: "its stray branches are to be removed", Fits: FitsDropBranches,
		Route: Route{"drop-branches", "Remove the branches that agents created in a task's workspace besides the task's"},
		Command: Command{
			Use: "drop-branches KEY", Short: "Remove the branches that agents created besides the task's",
			Long: `Remove the branches that agents created in the workspace of a task besides the task's
own branch. ` + "`coppice show KEY`" + ` lists them. The trash keeps those that have commits which
no other branch has. Your repository has none of them, and your branches stay as they
are.`,
			Example: "  coppice show app-4\n  coppice drop-branches app-4", Done: "loses its stray branches",
		},
		Button: Button{Name: "Remove stray branches", About: "Remove the branches that its agents created besides its own; the trash keeps their commits", More: true, Done: "loses its stray branches"},
	},
	{
		Verb: coppice.VerbOpenPull, Event: coppice.EventTaskChanged, Reason: "its work goes into a pull request", Fits: notPlanned(FitsOpenPull),
		Route:   Route{"open-pull", "Put the work of a task into a pull request, whatever the project's landing method is"},
		Command: Command{Name: "pr open", Many: true},
		Button:  Button{Name: "Open a pull request", About: "Put its work into a pull request on the forge, instead of landing it here", More: true, Done: "gets a pull request"},
	},
	{
		Verb: coppice.VerbComments, Event: coppice.EventTaskChanged, Reason: "the comments on its pull request go to the agent", Text: "text", Fits: fitsComments,
		Withdraws: []coppice.Verb{coppice.VerbLand},
		Route:     Route{"resolve-comments", "Send all comments on a task's pull request that are not resolved to its agent"},
		Command:   Command{Name: "pr resolve-comments"},
		Button:    Button{Name: "Resolve comments", About: "Send all comments on its pull request that are not resolved to the agent", Prompt: "A note for the agent (optional)", Bare: true, Done: "gets the comments"},
	},
	{
		Verb: coppice.VerbUndo, Event: coppice.EventUndoAsked, Fits: fitsUndo,
		Button: Button{Name: "Undo removal", About: "Restore its removed workspace", More: true},
	},
}
