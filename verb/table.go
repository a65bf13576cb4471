package verb

import "coppice"

// Table describes every verb, in the order in which the dashboard shows them.
var Table = []Info{
	{
		Verb: coppice.VerbLand, Event: coppice.EventTaskLandAsked, Fits: fitsLand, Hidden: hideLand,
		Route: Route{"land-task", "Land a task that waits for a word"},
		Command: Command{
			Use: "land KEY", Short: "Land a task that waits for your word",
			Long:    "Land a task whose checks passed and whose project lands nothing by itself. The merged result is checked once more if the base has moved.\nA landing that waits, for example because its checks were killed, is tried at once.",
			Example: "  coppice land app-4", Done: "will be landed",
		},
		Button: Button{Name: "Land", About: "Land what passed its checks, or try a landing that waits at once", Done: "lands"},
	},
	{
		Verb: coppice.VerbContinue, Event: coppice.EventTaskRetried, Text: "text", Fits: fitsContinue, Check: checkContinue,
		Route: Route{"continue-task", "Go on with an ended task, in its last conversation"},
		Command: Command{
			Use: "continue KEY [TEXT]", Short: "Go on with an ended task in its conversation",
			Long: `Go on with a task that is done, failed or was stopped, in its last conversation. One
that is done needs a text that says what it should do now, and begins from the
base, which has its work; any other goes on where its branch stands.`,
			Example: "  coppice continue app-4 \"now also the German texts\"\n  coppice continue app-5", Done: "goes on",
		},
		Button: Button{Name: "Continue", About: "Go on with it, in its last conversation", Prompt: "What should it do now?", Done: "goes on"},
	},
	{
		Verb: coppice.VerbRetry, Event: coppice.EventTaskRetried, Text: "note", Fits: fitsRetry, Check: checkRetry,
		By:    []coppice.ActorKind{coppice.ActorFile, coppice.ActorEngine},
		Route: Route{"retry-task", "Begin an ended or stuck task anew"},
		Command: Command{
			Use: "retry KEY", Short: "Begin a task anew", Note: "told to the agent",
			Long:    "Begin a failed, stopped or stuck task anew, on the branch it has. A note is told to the agent.\nWhere only the landing waits, for example because its checks were killed, it is tried at once, and no session begins.",
			Example: "  coppice retry app-4\n  coppice retry app-4 --note \"the service is up again\"", Done: "will be tried again",
		},
		Button: Button{Name: "Retry", About: "Begin it anew", Prompt: "What should it do differently? (may stay empty)", Bare: true, Done: "begins anew"},
	},
	{
		Verb: coppice.VerbRequeue, Event: coppice.EventTaskRequeued, Text: "note", Staff: true, Fits: fitsRequeue, Hidden: ended,
		Withdraws: []coppice.Verb{coppice.VerbStop, coppice.VerbContinue, coppice.VerbLand, coppice.VerbTake, coppice.VerbGive},
		Route:     Route{"requeue-task", "End what runs of a task and begin it anew, in the workspace it has"},
		Command: Command{
			Use: "requeue KEY…", Short: "End what runs of a task and begin it anew", Many: true, Note: "what to do differently, told to the agent",
			Long: `Send tasks back to the queue, whatever they are doing: a session, a check, a wait.
What runs is ended, and a new session begins in the same workspace and branch. It
keeps the work so far and is told what was done and your note; its tries count
from zero. With --agent or --model another one takes over. A task that has landed
is refused, and so is one at the very moment of landing.`,
			Example: "  coppice requeue app-4 --note \"leave the schema alone\"\n  coppice requeue app-4 app-5 --agent other\n  coppice requeue app-4 --model opus",
			Done:    "begins anew",
		},
		Button: Button{
			Name: "Requeue", About: "End what runs and begin it anew, in the workspace it has",
			Prompt: "What should it do differently? (may stay empty)", Bare: true, Done: "goes back to the queue",
		},
	},
	{
		Verb: coppice.VerbStop, Event: coppice.EventTaskStopAsked, Fits: fitsStop,
		By:        []coppice.ActorKind{coppice.ActorFile, coppice.ActorEngine},
		Withdraws: []coppice.Verb{coppice.VerbRequeue, coppice.VerbRetry, coppice.VerbContinue, coppice.VerbTake, coppice.VerbLand},
		Route:     Route{"stop-task", "Stop a task and its session"},
		Command: Command{
			Use: "stop KEY", Short: "Stop a task and its session",
			Long:    "Stop a task: its session is asked to end, then made to. Its workspace goes to the trash: undo brings it back, and retry goes on in it.",
			Example: "  coppice stop app-4", Done: "will be stopped",
		},
		Button: Button{Name: "Stop", About: "Stop it and its session", Danger: true, Done: "stops"},
	},
	{
		Verb: coppice.VerbGive, Event: coppice.EventTaskChanged, Reason: "a person gives it back", Text: "text", Fits: fitsGive,
		Withdraws: []coppice.Verb{coppice.VerbTake},
		Route:     Route{"give-task", "Give a task back that was taken"},
		Command: Command{
			Use: "give KEY [TEXT]", Short: "Give a task back that you took",
			Long:    "Give a task back: its screen is closed, and the agent goes on by itself in the same conversation. A text is told to it.",
			Example: "  coppice give app-4 \"the tests pass again; now finish\"", Done: "is given back",
		},
		Button: Button{
			Name: "Give back", About: "Give it back to Coppice, which goes on in the same conversation",
			Prompt: "What did you do? (may stay empty)", Done: "goes on by itself",
		},
	},
	{
		Verb: coppice.VerbTake, Event: coppice.EventTaskChanged, Reason: "a person takes over", Fits: fitsTake, Hidden: hideTake,
		Withdraws: []coppice.Verb{coppice.VerbGive},
		Route:     Route{"take-task", "Go on with a task on the agent's own screen"},
		Command: Command{
			Use: "take KEY", Short: "Take a task over on the agent's own screen",
			Long: `Take a task over: its session ends its turn, and the same conversation opens on the
agent's own interactive screen, for you to attach to. Nothing stops it for taking
long. Leave the screen, or say ` + "`coppice give`" + `, to give it back.`,
			Example: "  coppice take app-4\n  coppice attach app-4", Done: "will be yours; then: coppice attach",
		},
		Button: Button{
			Name: "Take over", About: "Go on with it yourself on the agent's own screen", More: true,
			Done: "is yours: open its terminal, or run coppice attach with its key",
		},
	},
	{
		Verb: coppice.VerbUndo, Event: coppice.EventUndoAsked, Fits: fitsUndo,
		Button: Button{Name: "Undo removal", About: "Bring its removed workspace back", More: true},
	},
}
