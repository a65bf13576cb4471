package agents

import (
	"strings"
	"syscall"
	"testing"

	"coppice"
	"coppice/agent"
)

// behaviours are what several agents show, by the name of the test.
var behaviours = map[string]func(*testing.T, *bench){
	"resume":            resume,
	"fork":              func(t *testing.T, b *bench) { b.forks(t) },
	"question":          question,
	"interrupt":         interrupt,
	"stop":              func(t *testing.T, b *bench) { b.ends(t, coppice.ClassCancelled, (*pump).stop) },
	"sigterm":           func(t *testing.T, b *bench) { b.ends(t, coppice.ClassLost, (*pump).terminate) },
	"large":             func(t *testing.T, b *bench) { b.wantCommit(t, b.run(t, large(1<<20), nil), "foo.txt", "hello\n") },
	"permission-rule":   permissionRule,
	"permission-always": permissionAlways,
	"hook-closed":       noDecision,
	"mcp":               func(t *testing.T, b *bench) { b.echoes(t, coppice.PermissionPolicy{}) },

	"401":     fails("FAIL401", coppice.ClassAuth),
	"403":     fails("FAIL403", coppice.ClassAuth),
	"429":     fails("FAIL429", coppice.ClassRateLimit),
	"reset":   fails("FAILRESET", coppice.ClassRateLimit),
	"500":     fails("FAIL500", coppice.ClassOverload),
	"503":     fails("FAIL503", coppice.ClassOverload),
	"529":     fails("FAIL529", coppice.ClassOverload),
	"long":    fails("FAILLONG", coppice.ClassContext),
	"cut":     fails("CUT", coppice.ClassOverload),
	"dropped": fails("DROP", ""),
	"login":   func(t *testing.T, b *bench) { b.logOut(t); fails("SAY hi", coppice.ClassAuth)(t, b) },
	"unknown": func(t *testing.T, b *bench) {
		f := b.run(t, agent.Request{Prompt: "SAY hi", Resume: "00000000-0000-4000-8000-000000000099"}, nil)
		wantClass(t, f, coppice.ClassUnknown)
	},
}

// show runs one test per behaviour.
func show(t *testing.T, prefix string, setup func(*testing.T) *bench, names string) {
	t.Helper()
	for name := range strings.FieldsSeq(names) {
		t.Run(prefix+name, func(t *testing.T) {
			t.Parallel()
			behaviours[name](t, setup(t))
		})
	}
}

// fails returns a behaviour: a run ends with a failure of a class. Without a
// class the agent recovers and continues.
func fails(prompt string, class coppice.Class) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		f := b.run(t, agent.Request{Prompt: prompt}, nil)
		if class != "" {
			wantClass(t, f, class)
		} else {
			f.wantSummary(t, "continued")
		}
		if t.Failed() {
			b.logRun(t, f)
		}
	}
}

func resume(t *testing.T, b *bench) {
	first := b.run(t, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
	second := b.run(t, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Spent: first.Usage}, nil)
	b.wantCommit(t, second, "b.txt", "2\n")
	b.wantResumed(t, first, second)
}

// forks continues a copy of a conversation.
func (b *bench) forks(t *testing.T) (first, copied finished) {
	t.Helper()
	first = b.run(t, agent.Request{Prompt: "WRITE a.txt=1"}, nil)
	copied = b.run(t, agent.Request{Prompt: "WRITE b.txt=2", Resume: first.Conversation, Fork: true, Spent: first.Usage}, nil)
	b.wantCommit(t, copied, "b.txt", "2\n")
	if copied.Conversation == "" || copied.Conversation == first.Conversation {
		t.Errorf("conversations %q and %q, want two", first.Conversation, copied.Conversation)
	}
	b.wantLonger(t)
	return first, copied
}

func question(t *testing.T, b *bench) {
	given := map[string]string{"Which colour?": "blue", "Which size?": "neither, take medium"}
	f := b.run(t, agent.Request{Prompt: "ASK"}, func(pm *pump, e coppice.AgentEvent) {
		if e.Kind == coppice.KindQuestion {
			pm.send(given[e.Text], e.Ref)
		}
	})
	if f.Failure != nil || !strings.Contains(f.Summary, "blue") || !strings.Contains(f.Summary, "take medium") {
		t.Errorf("failure %v, summary %q, want both answers in it; events %+v", f.Failure, f.Summary, f.events)
	}
}

func interrupt(t *testing.T, b *bench) {
	b.interrupted(t, agent.Request{Prompt: "HANG"}, coppice.KindInit)
}

// interrupted interrupts the first turn at the first event of a kind, and asks
// for something else in the next.
func (b *bench) interrupted(t *testing.T, r agent.Request, at coppice.AgentEventKind) {
	t.Helper()
	asked := false
	f := b.run(t, r, func(pm *pump, e coppice.AgentEvent) {
		switch {
		case e.Kind == at && !asked:
			asked = true
			pm.interrupt()
		case e.Kind == coppice.KindState && e.State == coppice.SessionIdle && !pm.closed:
			pm.send("SAY after", "")
		}
	})
	f.wantSummary(t, "after")
}

// ends ends an agent that works.
func (b *bench) ends(t *testing.T, class coppice.Class, end func(*pump)) {
	t.Helper()
	f := b.run(t, agent.Request{Prompt: "HANG"}, func(pm *pump, e coppice.AgentEvent) {
		if e.Kind == coppice.KindInit {
			end(pm)
		}
	})
	wantClass(t, f, class)
}

// terminate ends the agent's processes.
func (p *pump) terminate() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM) }

// large makes a request of a prompt of a size.
func large(size int) agent.Request {
	const task = " WRITE foo.txt=hello"
	return agent.Request{Prompt: strings.Repeat("x", size-len(task)) + task}
}

func permissionRule(t *testing.T, b *bench) {
	deny := rules(coppice.Rule{Tool: "run", Match: "git commit*", Do: coppice.RuleDeny, Why: "Coppice commits"})
	f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: deny}, nil)
	f.wantPermission(t, "", false, "Coppice commits")
	b.wantNoCommit(t)
}

// A person who allowed an edit always is not asked again.
func permissionAlways(t *testing.T, b *bench) {
	again, answer := false, answers(t, "allow always")
	f := b.run(t, agent.Request{Prompt: "WRITE src/a.txt=1", Permissions: askEdit}, func(pm *pump, e coppice.AgentEvent) {
		answer(pm, e)
		if e.Kind == coppice.KindTool && e.Tool == coppice.ToolRun && !again {
			again = true
			pm.send("WRITE src/b.txt=2", "")
		}
	})
	b.wantCommit(t, f, "src/b.txt", "2\n")
	if n := f.questions(); n != 1 {
		t.Errorf("%d questions, want 1; events %+v", n, f.events)
	}
}

// If the answer to a question is an error, the agent does nothing.
func noDecision(t *testing.T, b *bench) {
	f := b.run(t, agent.Request{Prompt: "WRITE foo.txt=hello", Permissions: askEdit}, func(pm *pump, e coppice.AgentEvent) {
		if e.Kind == coppice.KindQuestion {
			pm.failRequest(t, b.asksBy)
		}
	})
	b.wantNo(t, "foo.txt")
	if f.questions() == 0 {
		t.Errorf("no questions; events %+v", f.events)
	}
}
