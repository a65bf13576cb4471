package engine

import (
	"testing"
	"time"

	"coppice"
)

// said adds a message that is still to be delivered.
func said(kind, text string, changes ...func(*coppice.Message)) change {
	return func(v *View) {
		m := coppice.Message{ID: int64(len(v.Messages) + 1), TaskID: v.Task.ID, Kind: kind, Text: text, SentAt: noon}
		for _, c := range changes {
			c(&m)
		}
		v.Messages = append(v.Messages, m)
	}
}

// delivered adds a message that a session got.
func delivered(session int64, kind, text string) change {
	return func(v *View) {
		at := noon.Add(time.Duration(len(v.Delivered)) * time.Second)
		v.Delivered = append(v.Delivered, coppice.Message{ID: int64(50 + len(v.Delivered)), SessionID: session, Kind: kind, Text: text, DeliveredAt: at})
	}
}

func tried(session int64) func(*coppice.Message) {
	return func(m *coppice.Message) { m.SessionID, m.Failed = session, "it slept" }
}

func idle(s *coppice.Session) { live(s); s.State = coppice.SessionIdle }

func stopping(s *coppice.Session) { live(s); s.StopAt = noon }

func TestTalkByKind(t *testing.T) {
	t.Parallel()
	offer := func(n string) string {
		return "talk: work.offered; offer session.send message/" + n + "/11 to local"
	}
	at := func(state func(*coppice.Session), c ...change) *View {
		return viewOf(coppice.StageSession, append([]change{space(), ran("", state), taken(coppice.WorkRun)}, c...)...)
	}
	run(t, talk, []decision{
		{"now, during a turn", at(live, said(coppice.MessageNow, "hi")), offer("1")},
		{"next is held during a turn", at(live, said(coppice.MessageNext, "then")), "nothing"},
		{"next goes when the turn is over", at(idle, said(coppice.MessageNext, "then")), offer("1")},
		{"what is held delays nobody", at(live, said(coppice.MessageNext, "then"), said(coppice.MessageNow, "hi")), offer("2")},
		{"an interrupt goes at once", at(live, said(coppice.MessageNext, "then"), said(coppice.MessageInterrupt, "")), offer("2")},
		{"a model goes at once", at(live, said(coppice.MessageModel, "big")), offer("1")},
		{"what this session did not get waits for the next", at(live, said(coppice.MessageNow, "hi", tried(11))), "nothing"},
		{"a session that is being stopped gets nothing", at(stopping, said(coppice.MessageNow, "hi")), "nothing"},
		{"one at a time", at(live, said(coppice.MessageNow, "hi"), offered(coppice.WorkSend)), "nothing"},
	})
}

func TestUndeliverable(t *testing.T) {
	t.Parallel()
	over := ran("head1")
	run(t, undeliverable, []decision{
		{"text waits for the next session", viewOf(coppice.StageSession, space(), over, said(coppice.MessageNow, "hi"), said(coppice.MessageNext, "then")), "nothing"},
		{"an interrupt with a text as well", viewOf(coppice.StageSession, space(), over, said(coppice.MessageInterrupt, "no")), "nothing"},
		{"an interrupt without one fails", viewOf(coppice.StageSession, space(), over, said(coppice.MessageInterrupt, "")),
			"talk: message.failed; message 1 delivered=false the session ended first"},
		{"not while its result is to come", viewOf(coppice.StageSession, space(), over, said(coppice.MessageInterrupt, ""),
			work(coppice.WorkSend, coppice.WorkTaken, 1, func(w *coppice.Work) { w.Key = "message/1/11" })), "nothing"},
		{"a model is kept for the next session", viewOf(coppice.StageSession, space(), over, said(coppice.MessageModel, "big")),
			"talk: message.failed; model big; message 1 delivered=false the session ended first; the next session uses big"},
		{"auto is not a model to change to", viewOf(coppice.StageSession, space(), ran("", live), said(coppice.MessageModel, "auto")),
			"talk: message.failed; model auto; message 1 delivered=false a model is chosen when a session starts; the next session uses auto"},
		{"a fallback's model is not kept", viewOf(coppice.StageSession, space(), ran("head1", by("bob")), said(coppice.MessageModel, "big")),
			"talk: message.failed; message 1 delivered=false the session ended first; bob is the fallback for ann, so the model is not kept"},
		{"a task that has ended says so", viewOf(coppice.StageEnded, task(func(t *coppice.Task) { t.Outcome = coppice.OutcomeCancelled }), said(coppice.MessageNow, "hi")),
			"talk: message.failed; message 1 delivered=false the task ended first; it is delivered if the task continues"},
		{"and says so once", viewOf(coppice.StageEnded, task(func(t *coppice.Task) { t.Outcome = coppice.OutcomeCancelled }), said(coppice.MessageNow, "hi", tried(11))), "nothing"},
	})
}

func TestSettleMessage(t *testing.T) {
	t.Parallel()
	sent := func(result any) change {
		return finished(coppice.WorkSend, result, func(w *coppice.Work) { w.Key = "message/1/11" })
	}
	yes, no := coppice.SendResult{Delivered: true}, coppice.SendResult{Why: "this agent cannot"}
	at := func(kind, text string, result any, c ...change) *View {
		return viewOf(coppice.StageSession, append([]change{space(), ran("", live), said(kind, text), sent(result)}, c...)...)
	}
	run(t, settle, []decision{
		{"delivered", at(coppice.MessageNow, "hi", yes), "settle: message.delivered; message 1 delivered=true; settled"},
		{"not delivered", at(coppice.MessageNow, "hi", no), "settle: message.failed; message 1 delivered=false this agent cannot; settled"},
		{"the work failed", at(coppice.MessageNow, "hi", coppice.Failf(coppice.ClassEnvironment, "no luck", "")), "settle: message.failed; message 1 delivered=false no luck; settled"},
		{"no reason was given", at(coppice.MessageNow, "hi", coppice.SendResult{}), "settle: message.failed; message 1 delivered=false it did not arrive; settled"},
		{"its agent ended before it read it", at(coppice.MessageNow, "hi", yes, func(v *View) { tried(11)(&v.Messages[0]) }),
			"settle: message.failed; message 1 delivered=false it slept; settled"},
		{"another model", at(coppice.MessageModel, "big", yes), "settle: message.delivered; model big; session working; message 1 delivered=true; settled"},
		{"a model it cannot change to", at(coppice.MessageModel, "big", no),
			"settle: message.failed; model big; message 1 delivered=false this agent cannot; the next session uses big; settled"},
	})
	v := at(coppice.MessageModel, "big", yes)
	if d := settle(v); d.Session.Model != "big" {
		t.Errorf("the session continues with %q", d.Session.Model)
	}
}

func TestInterruptedWaitsForAPerson(t *testing.T) {
	t.Parallel()
	waits := "pipeline: task.stage; to waiting; waits on person: was interrupted [to continue, run: coppice retry app-7 --note \"…\"]; next implement by ann resuming talk1"
	run(t, pipeline, []decision{
		{"without a text", viewOf(coppice.StageSession, space(), ran("head1"), delivered(11, coppice.MessageInterrupt, "")), waits},
		{"even when its agent calls that a failure", viewOf(coppice.StageSession, space(), ran("", fails(coppice.ClassUnknown)), delivered(11, coppice.MessageInterrupt, "")), waits},
		{"with a text it continues", viewOf(coppice.StageSession, space(), ran("head1"), delivered(11, coppice.MessageInterrupt, "no, that")),
			"pipeline: landing.opened; to checking; landing of head1"},
		{"got a message since", viewOf(coppice.StageSession, space(), ran("head1"), delivered(11, coppice.MessageInterrupt, ""), delivered(11, coppice.MessageNow, "continue")),
			"pipeline: landing.opened; to checking; landing of head1"},
		{"another session was", viewOf(coppice.StageSession, space(), ran("head1"), delivered(9, coppice.MessageInterrupt, "")),
			"pipeline: landing.opened; to checking; landing of head1"},
		{"a message waits", viewOf(coppice.StageSession, space(), ran("head1"), delivered(11, coppice.MessageInterrupt, ""), said(coppice.MessageNow, "hi")),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1"},
	})
}

func onScreen(s *coppice.Session) { s.Screen = true }

// brief makes a session last two seconds.
func brief(s *coppice.Session) { s.StartedAt = s.EndedAt.Add(-2 * time.Second) }

func why(c coppice.StopReason) func(*coppice.Session) {
	return func(s *coppice.Session) { s.StopWhy, s.StopTries, s.StopAt = c, 1, noon.Add(-time.Hour) }
}

func TestHandover(t *testing.T) {
	t.Parallel()
	take, give := say(coppice.VerbTake), say(coppice.VerbGive)
	next := task(func(t *coppice.Task) { t.Next = &coppice.Next{Role: coppice.RoleFix, Agent: "ann", Resume: "talk1"} })
	word := task(func(t *coppice.Task) { t.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: "log in"} })
	dep := task(func(t *coppice.Task) { t.Wait = &coppice.Wait{On: coppice.WaitDependency, Text: "waits for app-1"} })
	nothing := "handover: task.changed"
	run(t, handover, []decision{
		{"nobody asked", viewOf(coppice.StageSession, space(), ran("", live), taken(coppice.WorkRun)), "nothing"},
		{"take stops the session", viewOf(coppice.StageSession, space(), take, ran("", live), taken(coppice.WorkRun)),
			"handover: work.offered; session working; stop 1 for taken; offer session.stop session/11/stop/1 to local"},
		{"one that starts is stopped later", viewOf(coppice.StageSession, space(), take, ran("", starting), offered(coppice.WorkRun)), "nothing"},
		{"one without work yet as well", viewOf(coppice.StageSession, take, ran("", starting), offered(coppice.WorkPrepare)), "nothing"},
		{"it is taken already", viewOf(coppice.StageSession, space(), take, ran("", live, onScreen), taken(coppice.WorkRun)), nothing},
		{"give stops the screen", viewOf(coppice.StageSession, space(), give, ran("", live, onScreen), taken(coppice.WorkRun)),
			"handover: work.offered; session working; stop 1 for given; offer session.stop session/11/stop/1 to local"},
		{"it is given already", viewOf(coppice.StageSession, space(), give, ran("", live), taken(coppice.WorkRun)), nothing},
		{"the pipeline judges an ended one", viewOf(coppice.StageSession, space(), take, ran("head1")), "nothing"},
		{"a queued task gets a screen", viewOf(coppice.StageQueued, take, next), nothing + "; next fix by ann resuming talk1 on a screen"},
		{"one that waits for a person as well", viewOf(coppice.StageWaiting, take, next, word), nothing + "; next fix by ann resuming talk1 on a screen"},
		{"not one that waits for another task", viewOf(coppice.StageWaiting, take, next, dep), nothing + "; waits on dependency: waits for app-1"},
		{"too late", viewOf(coppice.StageChecking, take), nothing},
	})
	screened := "pipeline: task.stage; to queued; next implement by ann resuming talk1 on a screen"
	run(t, pipeline, []decision{
		{"taken", viewOf(coppice.StageSession, space(), ran("head1", why(coppice.StopTaken))), screened},
		{"taken, and it had failed", viewOf(coppice.StageSession, space(), ran("", fails(coppice.ClassLost), why(coppice.StopTaken))), screened},
		{"ended before it was stopped", viewOf(coppice.StageSession, space(), take, ran("head1")), screened},
		{"given", viewOf(coppice.StageSession, space(), say(coppice.VerbGive, "continue"), ran("head1", onScreen, why(coppice.StopGiven))),
			"pipeline: task.stage; to queued; next implement by ann resuming talk1 with \"continue\""},
		{"left", viewOf(coppice.StageSession, space(), ran("head1", onScreen)), "pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"left without a change after a minute", viewOf(coppice.StageSession, space(), ran("base1", onScreen)), "pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"left after a moment, with a change", viewOf(coppice.StageSession, space(), ran("head1", onScreen, brief)), "pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"given after a moment", viewOf(coppice.StageSession, space(), say(coppice.VerbGive), ran("base1", onScreen, brief)), "pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"its screen did not start", viewOf(coppice.StageSession, space(), ran("base1", onScreen, brief)),
			"pipeline: task.stage; to waiting; fails: capability; waits on person: the screen of ann ended after 2s, before anything was done " +
				"[start ann one time in a terminal and complete its setup, then run `coppice take app-7`; or continue without a screen: `coppice retry app-7`]; next implement by ann resuming talk1"},
		{"left by a signal", viewOf(coppice.StageSession, space(), ran("", onScreen, fails(coppice.ClassUnknown))), "pipeline: task.stage; to queued; next implement by ann resuming talk1"},
		{"nobody knows its conversation", viewOf(coppice.StageSession, space(), ran("head1", onScreen, func(s *coppice.Session) { s.Conversation, s.Resume = "", "talk0" })),
			"pipeline: task.stage; to queued; next implement by ann resuming talk0"},
		{"it had no screen", viewOf(coppice.StageSession, space(), ran("", onScreen, fails(coppice.ClassCapability))),
			"pipeline: task.stage; to waiting; fails: capability; waits on person: it broke [fix the problem, then retry the task]; next implement by ann resuming talk1"},
	})
}
