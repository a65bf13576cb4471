package upgrade

import (
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// facts are what the store has of a task.
type facts struct {
	coppice.Task
	sessions  []coppice.Session
	workspace *coppice.Workspace
	question  *coppice.Question
	received  []coppice.SendSpec // since the upgrade
}

// last is the newest session.
func (f facts) last() coppice.Session {
	if len(f.sessions) == 0 {
		return coppice.Session{}
	}
	return f.sessions[len(f.sessions)-1]
}

// look reads the task with a title.
func (m *machine) look(title string) (f facts) {
	m.t.Helper()
	m.view(func(r store.Reader) error {
		all, err := r.Tasks.List(store.TaskFilter{})
		i := slices.IndexFunc(all, func(t coppice.Task) bool { return t.Title == title })
		if err != nil || i < 0 {
			m.t.Fatalf("no task %q: %v", title, err)
		}
		f.Task = all[i]
		if f.workspace, err = r.Workspaces.Of(f.ID); err != nil {
			return err
		}
		if f.question, err = r.Questions.Open(f.ID); err != nil {
			return err
		}
		list, err := r.Sessions.Of(f.ID)
		for _, s := range list {
			whole, err := r.Sessions.Get(s.ID) // with its prompt
			if err != nil {
				return err
			}
			f.sessions = append(f.sessions, whole)
			f.received = append(f.received, m.sent[s.Key]...)
		}
		return err
	})
	return f
}

// runsOn is a task that received nothing and whose one session still runs.
func runsOn(f facts) bool {
	return len(f.sessions) == 1 && f.last().State.Live() && len(f.received) == 0
}

// prompted is a task whose session number n runs, with a text in its prompt.
func prompted(n int, text string) func(facts) bool {
	return func(f facts) bool {
		return len(f.sessions) == n && f.last().State.Live() && !f.last().Screen && strings.Contains(f.last().Prompt, text)
	}
}

// received is a task whose session runs and received one message.
func received(kind, text string) func(facts) bool {
	return func(f facts) bool {
		return len(f.sessions) == 1 && len(f.received) == 1 && f.received[0].Kind == kind && f.received[0].Text == text
	}
}

func ended(o coppice.Outcome) func(facts) bool { return func(f facts) bool { return f.Outcome == o } }

func waitsFor(kind coppice.WaitKind) func(facts) bool {
	return func(f facts) bool { return f.Wait != nil && f.Wait.On == kind && len(f.sessions) == 0 }
}

// follows is what must follow from each task of the dump, before any session
// ends by itself.
var follows = []struct {
	title, what string
	is          func(facts) bool
}{
	{"Keep running", "runs on", runsOn},
	{"End without a server", "runs on", runsOn},
	{"Come after that one", "waits for the other", waitsFor(coppice.WaitDependency)},
	{"Wait for its time", "waits for its time", waitsFor(coppice.WaitSchedule)},
	{"Ask a question", "its question is open", func(f facts) bool { return runsOn(f) && f.question != nil && f.question.Text == "Which colour?" }},
	{"Ask for permission", "its permission question is open, and the one that was answered is not sent again", func(f facts) bool {
		return runsOn(f) && f.question != nil && f.question.Kind == coppice.QuestionPermission && strings.Contains(f.question.Text, "rm -r build")
	}},
	{"Wait for an answer", "the agent receives the answer", func(f facts) bool {
		return received("", "round")(f) && f.received[0].Question != "" && f.question == nil
	}},
	{"Wait for a message", "the agent receives the message", received("", "a word")},
	{"Wait for the next turn", "the agent receives the message", received(coppice.MessageNext, "a later word")},
	{"Change the model", "the agent receives the model, and the task keeps it", func(f facts) bool {
		return received(coppice.MessageModel, "big")(f) && f.Model == "big"
	}},
	{"Interrupt me", "the agent is interrupted", received(coppice.MessageInterrupt, "")},
	{"Stop me", "is cancelled", func(f facts) bool {
		return f.Outcome == coppice.OutcomeCancelled && f.last().State == coppice.SessionCancelled
	}},
	{"Requeue me", "a new round runs with the note", func(f facts) bool {
		return prompted(2, "leave the schema alone")(f) && f.Round == 1 && f.sessions[0].State == coppice.SessionCancelled
	}},
	{"Retry me", "a new round runs with the note", func(f facts) bool { return prompted(2, "it is easy now")(f) && f.Round == 1 }},
	{"Ask for help", "continues in its round with the note", func(f facts) bool { return prompted(2, "the disk is empty")(f) && f.Round == 0 }},
	{"Land me", "its branch has landed", func(f facts) bool { return f.Outcome == coppice.OutcomeDone && f.Landed != "" && len(f.sessions) == 1 }},
	{"Take me", "its conversation is on a screen", func(f facts) bool {
		return len(f.sessions) == 2 && f.last().State.Live() && f.last().Screen && f.sessions[0].StopWhy == coppice.StopTaken
	}},
	{"Give me back", "continues off the screen with the note", func(f facts) bool {
		return prompted(3, "finish it")(f) && f.sessions[1].StopWhy == coppice.StopGiven
	}},
	{"Continue me", "continues its conversation with the text", func(f facts) bool {
		return prompted(2, "finish it")(f) && f.Round == 1 && f.last().Resume != "" && f.last().Resume == f.sessions[0].Conversation
	}},
	{"Undo me", "its workspace is back", func(f facts) bool { return f.Outcome == coppice.OutcomeCancelled && f.workspace.Ready() }},
	{"Leave this in the trash", "stays done, and its workspace in the trash", func(f facts) bool {
		return f.Outcome == coppice.OutcomeDone && !f.workspace.RemovedAt.IsZero() && len(f.sessions) == 1
	}},
	{"Wait for the account", "is not started while its account is limited", func(f facts) bool {
		return f.Stage == coppice.StageQueued && len(f.sessions) == 1
	}},
	{"Check me", "its check runs again, and it lands", func(f facts) bool { return f.Outcome == coppice.OutcomeDone && len(f.sessions) == 1 }},
	{"Verify me", "its verifier runs on", func(f facts) bool {
		return len(f.sessions) == 2 && f.last().Role == coppice.RoleVerify && f.last().State.Live() && len(f.received) == 0
	}},
	{"Hold me", "is held", func(f facts) bool { return f.Stage == coppice.StageHeld }},
	{"Hold me until I say so", "has landed", ended(coppice.OutcomeDone)},
	{"Wait for the project", "is not started while its project is paused", func(f facts) bool { return f.Stage == coppice.StageQueued && len(f.sessions) == 0 }},
	{"Do first", "runs on", func(f facts) bool { return runsOn(f) && f.Feature == "first" }},
	{"Do the issue", "runs on", runsOn},
	{"Ask at the end", "its question is open", func(f facts) bool { return runsOn(f) && f.question != nil && f.question.Text == "Which size?" }},
	{"Do second", "waits for the other", waitsFor(coppice.WaitDependency)},
}

// TestState opens the state that an earlier release left with everything open,
// and has the engine continue with it.
func TestState(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.settle()
	m.expect()
	moves := m.moves
	m.settle() // nothing is done twice
	if m.expect(); m.moves != moves {
		t.Errorf("the base was moved %d times, and then %d times", moves, m.moves)
	}
	m.view(func(r store.Reader) error {
		n, err := r.Tasks.Count(store.TaskFilter{})
		if n != len(follows) {
			t.Errorf("the state has %d tasks; the table says what follows for %d", n, len(follows))
		}
		p, err2 := r.Projects.ByPrefix("asks")
		if len(p.Rules) != 1 || p.Rules[0].Match != "npm test *" {
			t.Errorf("remembered rules: %+v", p.Rules)
		}
		if err != nil {
			return err
		}
		return err2
	})
	m.rest()
}

func (m *machine) expect() {
	m.t.Helper()
	for _, f := range follows {
		if got := m.look(f.title); !f.is(got) {
			m.t.Errorf("%s (%s) should be so that: %s; it is %s %s, round %d, wait %+v, %d sessions, the last %s (prompt %.300q), received %+v",
				f.title, got.Key, f.what, got.Stage, got.Outcome, got.Round, got.Wait, len(got.sessions), got.last().State, got.last().Prompt, got.received)
		}
	}
}

// rest has people answer what is open, and everything end.
func (m *machine) rest() {
	m.t.Helper()
	ctx, must := m.t.Context(), func(err error) {
		m.t.Helper()
		if err != nil {
			m.t.Fatal(err)
		}
	}
	for title, answer := range map[string]string{"Ask a question": "blue", "Ask for permission": "allow", "Ask at the end": "large"} {
		_, err := m.intake.Answer(ctx, m.look(title).Key, 0, answer)
		must(err)
		m.settle()
		if got := m.look(title); len(got.received) != 1 || got.received[0].Text != answer || got.received[0].Question == "" {
			m.t.Errorf("%s: the agent received %+v, want one answer %q", title, got.received, answer)
		}
	}
	_, err := m.intake.Ask(ctx, m.look("Hold me").Key, coppice.VerbLand, verb.Request{})
	must(err)
	_, err = m.intake.Pause(ctx, "paused", "", false)
	must(err)
	must(m.intake.ClearLimit(ctx, "other"))
	_, err = m.intake.Ask(ctx, m.look("Take me").Key, coppice.VerbGive, verb.Request{Text: "finish it"})
	must(err)
	m.settle()
	if got := m.look("Take me"); !prompted(3, "finish it")(got) {
		m.t.Errorf("Take me: %d sessions, the last %s", len(got.sessions), got.last().State)
	}
	m.now = m.look("Wait for its time").NotBefore // the account's limit would have ended, too
	for range 3 {                                 // those that come after others begin when these have landed
		m.endAll()
	}
	for _, f := range follows {
		want := coppice.OutcomeDone
		if f.title == "Stop me" || f.title == "Undo me" {
			want = coppice.OutcomeCancelled
		}
		if got := m.look(f.title); got.Outcome != want && f.title != "Interrupt me" {
			m.t.Errorf("%s ended as %q: %+v", f.title, got.Outcome, got.Failure)
		}
	}
	if got := m.look("Interrupt me"); got.Wait == nil || got.Wait.On != coppice.WaitPerson {
		m.t.Errorf("Interrupt me waits for %+v", got.Wait)
	}
}
