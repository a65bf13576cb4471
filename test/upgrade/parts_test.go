//go:build upgrade && linux

package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"coppice"
	"coppice/api"
	"coppice/test/harness"
)

// policy is the coppice.yaml of every project.
const policy = `base: main
agent: {use: scripted}
limits: {sessions: 40, memory: 100%}
retry: {max: 0, backoff: 100ms}
verify: {by: none}
`

// script is what the agent of the project app does, by the task's title. GATE
// stands for a pipe that the test opens.
const script = `cases:
  - {match: '(finish it|leave the schema alone|it is easy now|the disk is empty)', steps: [{write: {path: "${session}.txt", content: "noted\n"}}]}
  - {match: 'Keep running', steps: [{say: I am here.}, {wait_message: true}, {write: {path: running.txt, content: "${answer}\n"}}]}
  - {match: 'End without a server', steps: [{run: "cat GATE"}, {say: Nobody reads this.}, {write: {path: alone.txt, content: "alone\n"}}]}
  - {match: 'Ask a question', steps: [{ask: {text: Which colour?, options: [red, blue]}}, {write: {path: colour.txt, content: "${answer}\n"}}]}
  - {match: 'Wait for an answer', steps: [{ask: Which shape?}, {write: {path: shape.txt, content: "${answer}\n"}}]}
  - {match: 'Wait for a message', steps: [{wait_message: true}, {write: {path: message.txt, content: "${answer}\n"}}]}
  - {match: 'Wait for the next turn', steps: [{wait_message: true}, {write: {path: later.txt, content: "${answer}\n"}}]}
  - {match: 'Change the model', steps: [{wait_message: true}, {write: {path: model.txt, content: "${answer}\n"}}]}
  - {match: 'Interrupt me', steps: [{write: {path: begun.txt, content: "begun\n"}}, {hang: true}, {write: {path: other.txt, content: "${answer}\n"}}]}
  - {match: 'Stop me', steps: [{hang: true}]}
  - {match: 'Requeue me', session: 1, steps: [{write: {path: half.txt, content: "half\n"}}, {hang: true}]}
  - {match: 'Retry me', session: 1, steps: [{fail: {class: implementation, text: it is too hard}}]}
  - {match: 'Ask for help', session: 1, steps: [{fail: {class: disk, text: the disk is full}}]}
  - {match: 'Land me', steps: [{write: {path: kept.txt, content: "kept\n"}}, {commit: Keep it}, {fail: {class: implementation, text: it is too hard}}]}
  - {match: '(Take me|Give me back)', session: 1, steps: [{write: {path: "${session}.txt", content: "begun\n"}}, {wait_message: true}]}
  - {match: 'Undo me', steps: [{write: {path: gone.txt, content: "gone\n"}}, {hang: true}]}
  - {match: 'Task (\S+):', steps: [{write: {path: "$1.txt", content: "${session}\n"}}]}
`

// limited is the script of an agent whose account is limited at first.
const limited = `cases:
  - {session: 1, steps: [{fail: {class: rate_limit, text: come back later, retry_in: 20h}}]}
  - {steps: [{write: {path: limited.txt, content: "limited\n"}}]}
`

// proofScript is the script of the project whose tasks are verified.
const proofScript = `cases:
  - {role: verify, steps: [{wait_message: true}, {run: test -f proof.txt}, {say: 'STEP 1: PASS it is there'}]}
  - {steps: [{write: {path: proof.txt, content: "proof\n"}}]}
`

// featureScript is the script of the project with a features file.
const featureScript = `cases:
  - {match: 'Do first', steps: [{wait_message: true}, {write: {path: first.txt, content: "first\n"}}]}
  - {match: 'Do (\w+)', steps: [{write: {path: $1.txt, content: "$1\n"}}]}
`

// part is one task of the state, and what shall become of it.
type part struct {
	title string
	in    string                    // the project; app when empty
	flags []string                  // of coppice new; ROOT stands for the machine's root
	made  bool                      // the features file makes it
	until func(api.TaskDetail) bool // the old server takes it there
	old   func(*world, string)      // then a person does this with the old program
	ask   string                    // then the server ends, and this verb is left open
	text  string                    // of the verb
	new   func(*world, string)      // then a person does this with the new program
	ends  coppice.Outcome           // and it ends so; it does not end when empty
	after func(api.TaskDetail) bool // and is like this
}

func stage(s coppice.Stage) func(api.TaskDetail) bool {
	return func(d api.TaskDetail) bool { return d.Stage == s }
}

func works(d api.TaskDetail) bool { return session(d, coppice.SessionWorking) }
func idle(d api.TaskDetail) bool  { return session(d, coppice.SessionIdle) }
func asks(d api.TaskDetail) bool  { return d.Question != nil && session(d, coppice.SessionWaiting) }

// wrote waits until a session has written a file.
func wrote(file string) func(api.TaskDetail) bool {
	return func(d api.TaskDetail) bool {
		if !works(d) {
			return false
		}
		_, err := os.Stat(filepath.Join(d.Workspace.Path, file))
		return err == nil
	}
}

func session(d api.TaskDetail, s coppice.SessionState) bool {
	return len(d.History) > 0 && !d.History[len(d.History)-1].StartedAt.IsZero() && d.History[len(d.History)-1].State == s
}

func sessions(n int) func(api.TaskDetail) bool {
	return func(d api.TaskDetail) bool { return len(d.History) == n }
}

func onScreen(d api.TaskDetail) bool {
	return len(d.History) == 2 && d.History[1].Screen && session(d, coppice.SessionIdle)
}

func says(args ...string) func(*world, string) {
	return func(w *world, key string) {
		words := append([]string{}, args...)
		for i, a := range words {
			words[i] = strings.ReplaceAll(a, "KEY", key)
		}
		w.cli(words...)
	}
}

// parts is the whole state. Later ones may name earlier ones as app-1, app-2, …
var parts = []part{
	{title: "Keep running", until: idle, new: says("send", "KEY", "continue"), ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Come after that one", flags: []string{"--after", "app-1"}, until: func(d api.TaskDetail) bool { return d.Reason != "" && d.Stage == coppice.StageWaiting }, ends: coppice.OutcomeDone},
	{title: "End without a server", until: works, ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Ask a question", until: asks, new: says("answer", "KEY", "blue"), ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Wait for an answer", until: asks, ask: "answer", text: "round", ends: coppice.OutcomeDone, after: func(d api.TaskDetail) bool {
		return len(d.History) == 1 && d.Questions[0].Answer == "round"
	}},
	{title: "Wait for a message", until: idle, ask: "send", text: "a word", ends: coppice.OutcomeDone, after: func(d api.TaskDetail) bool {
		return len(d.History) == 1 && !d.Messages[0].DeliveredAt.IsZero()
	}},
	{title: "Wait for the next turn", until: idle, ask: "next", text: "a later word", ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Change the model", until: idle, ask: "model", text: "big", new: func(w *world, key string) {
		w.await(key, "word that the agent cannot change its model", func(d api.TaskDetail) bool { return d.Messages[0].Failed != "" })
		w.cli("send", key, "continue")
	}, ends: coppice.OutcomeDone, after: func(d api.TaskDetail) bool { return d.Model == "big" && len(d.History) == 1 }},
	{title: "Interrupt me", until: wrote("begun.txt"), ask: "interrupt", new: func(w *world, key string) {
		w.await(key, "a person's turn", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
		w.cli("send", key, "the other file")
	}, ends: coppice.OutcomeDone},
	{title: "Wait for its time", flags: []string{"--not-before", "3d"}, until: stage(coppice.StageWaiting), new: says("stop", "KEY"), ends: coppice.OutcomeCancelled},
	{title: "Stop me", until: works, ask: "stop", ends: coppice.OutcomeCancelled, after: sessions(1)},
	{title: "Requeue me", until: wrote("half.txt"), ask: "requeue", text: "leave the schema alone", ends: coppice.OutcomeDone, after: sessions(2)},
	{title: "Retry me", until: stage(coppice.StageEnded), ask: "retry", text: "it is easy now", ends: coppice.OutcomeDone, after: sessions(2)},
	{title: "Ask for help", until: func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou }, ask: "retry", text: "the disk is empty", ends: coppice.OutcomeDone, after: sessions(2)},
	{title: "Land me", until: stage(coppice.StageEnded), ask: "land", ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Take me", until: idle, ask: "take", new: func(w *world, key string) {
		w.await(key, "a session on a screen", onScreen)
		w.cli("give", key, "finish it")
	}, ends: coppice.OutcomeDone, after: sessions(3)},
	{title: "Give me back", until: idle, old: func(w *world, key string) {
		w.cli("take", key)
		w.await(key, "a session on a screen", onScreen)
	}, ask: "give", text: "finish it", ends: coppice.OutcomeDone, after: sessions(3)},
	{title: "Continue me", until: stage(coppice.StageEnded), ask: "continue", text: "finish it", ends: coppice.OutcomeDone, after: func(d api.TaskDetail) bool {
		return len(d.History) == 2 && d.History[1].Resume == d.History[0].Conversation
	}},
	{title: "Undo me", until: wrote("gone.txt"), old: func(w *world, key string) {
		w.cli("stop", key)
		w.await(key, "its workspace in the trash", inTrash)
	}, ask: "undo", ends: coppice.OutcomeCancelled, after: func(d api.TaskDetail) bool { return d.Workspace.Ready() }},
	{title: "Leave this in the trash", old: func(w *world, key string) {
		w.await(key, "its workspace in the trash", inTrash)
	}, until: stage(coppice.StageEnded), ends: coppice.OutcomeDone, after: inTrash},
	{title: "Wait for the account", flags: []string{"--agent", "other"}, until: func(d api.TaskDetail) bool {
		return len(d.History) == 1 && d.Status == coppice.StatusWaiting && strings.Contains(d.Reason, "other")
	}, new: func(w *world, key string) {
		if out := w.cli("limits"); !strings.Contains(out, "other") {
			w.T.Errorf("the limit is forgotten:\n%s", out)
		}
		w.cli("limits", "clear", "other")
	}, ends: coppice.OutcomeDone, after: sessions(2)},
	{title: "Check me", flags: []string{"--check", "until test -e ROOT/open; do sleep 0.1; done"}, until: stage(coppice.StageChecking), new: func(w *world, _ string) {
		w.Write(w.Root, harness.Files{"open": ""})
	}, ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Verify me", in: "proof", flags: []string{"--step", "The proof is there"}, until: func(d api.TaskDetail) bool {
		return d.Status == coppice.StatusVerifying && len(d.History) == 2 && idle(d)
	}, new: says("send", "KEY", "continue"), ends: coppice.OutcomeDone, after: sessions(2)},
	{title: "Hold me", in: "held", until: stage(coppice.StageHeld), new: says("land", "KEY"), ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Hold me until I say so", in: "held", until: stage(coppice.StageHeld), ask: "land", ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Wait for the project", in: "paused", until: func(d api.TaskDetail) bool { return strings.Contains(d.Reason, "paused") }, new: func(w *world, key string) {
		if d := w.task(key); d.Status != coppice.StatusWaiting || !strings.Contains(d.Reason, "paused") {
			w.T.Errorf("%s is %s: %s", key, d.Status, d.Reason)
		}
		w.cli("project", "resume", "paused")
	}, ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Ask for permission", in: "asks", until: asks, old: func(w *world, key string) {
		w.cli("answer", key, "allow", "always")
		w.await(key, "the question that no rule answers", func(d api.TaskDetail) bool { return asks(d) && strings.Contains(d.Question.Text, "rm -r build") })
	}, new: says("answer", "KEY", "allow"), ends: coppice.OutcomeDone, after: func(d api.TaskDetail) bool { return len(d.Questions) == 2 && len(d.History) == 1 }},
	{title: "Do first", in: "feat", made: true, until: idle, new: says("send", "KEY", "continue"), ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Do the issue", in: "issues", made: true, until: idle, new: says("send", "KEY", "continue"), ends: coppice.OutcomeDone, after: sessions(1)},
	{title: "Do second", in: "feat", made: true, until: stage(coppice.StageWaiting), ends: coppice.OutcomeDone, after: sessions(1)},
	// The last one: its message is tried again only a few times before the old server ends.
	{title: "Ask at the end", in: "notices", until: idle, old: leavesMessage, new: receivesMessage, ends: coppice.OutcomeDone, after: sessions(1)},
}

func inTrash(d api.TaskDetail) bool {
	return d.Workspace != nil && !d.Workspace.RemovedAt.IsZero() && d.Workspace.RemovedAt.Before(time.Now())
}
