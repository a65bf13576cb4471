package verb

import (
	"slices"
	"sync"

	"coppice"
)

// Requests to a task that are not verbs: a message to its session, its preview, a
// copy of it, and its place in the archive.
const (
	Interrupt   coppice.Verb = "interrupt"
	Preview     coppice.Verb = "preview"
	StopPreview coppice.Verb = "stop-preview"
	Model       coppice.Verb = "model"
	Fork        coppice.Verb = "fork"
	Archive     coppice.Verb = "archive"
	Unarchive   coppice.Verb = "unarchive"
)

// others describes these requests. Each is shown after an action of the
// dashboard. They have their own routes and commands.
var others = []struct {
	after coppice.Verb
	Info
}{
	{coppice.VerbRetry, Info{
		Verb: Interrupt, Text: "text", Fits: fitsInterrupt, Hidden: Facts.taken,
		Button: Button{Name: "Interrupt", About: "Interrupt the agent's turn, but keep its session", Prompt: "What should it do instead? (optional)", Bare: true, Done: "is interrupted"},
	}},
	{coppice.VerbTake, Info{
		Verb: Preview, Fits: fitsPreview, Hidden: Facts.previews,
		Button: Button{Name: "Start preview", About: "Start the app of its workspace, to look at it", More: true, Done: "starts its app"},
	}},
	{Preview, Info{
		Verb: StopPreview, Fits: fitsStopPreview,
		Button: Button{Name: "Stop preview", About: "Stop the app of its workspace", Method: "DELETE", Path: "preview", More: true, Done: "stops its app"},
	}},
	{coppice.VerbTake, Info{
		Verb: Model, Text: "model", Fits: always, Hidden: ended,
		Button: Button{Name: "Change the model", About: "Continue with another model, immediately if the agent can", Prompt: "Name of the model, or auto", Required: true, More: true, Done: "changes its model"},
	}},
	{Model, Info{
		Verb: Fork, Text: "text", Fits: fitsFork,
		Button: Button{Name: "Fork", About: "Create a new task that continues with a copy of this conversation and branch", Prompt: "What should the copy do? (optional)", More: true, Done: "was forked"},
	}},
	{coppice.VerbUndo, Info{
		Verb: Archive, Fits: fitsArchive, Hidden: archived, Command: Command{Many: true},
		Button: Button{Name: "Archive", About: "Remove it from the board; it stays in search, usage and history", More: true, Done: "is archived", Undo: Unarchive},
	}},
	{Archive, Info{
		Verb: Unarchive, Fits: always, Hidden: func(f Facts) bool { return !archived(f) }, Command: Command{Many: true},
		Button: Button{Name: "Unarchive", About: "Show it on the board again", More: true, Done: "is back on the board", Undo: Archive},
	}},
}

// Actions describes everything that the dashboard offers for a task, in the
// order in which it is shown: the verbs, and the requests that are not verbs.
var Actions = sync.OnceValue(func() (all []Info) {
	var follow func(v coppice.Verb)
	follow = func(v coppice.Verb) {
		for _, o := range others {
			if o.after == v {
				all = append(all, o.Info)
				follow(o.Verb)
			}
		}
	}
	for _, i := range Table {
		all = append(all, i)
		follow(i.Verb)
	}
	return all
})

// Refuses says why a request that is not a verb does not apply to a task now;
// nil if it does.
func Refuses(v coppice.Verb, f Facts) error {
	for _, o := range others {
		if o.Verb == v {
			return o.Fits(f)
		}
	}
	return coppice.Errorf(coppice.EInternal, "%s is not a request", v)
}

// Can lists the actions that the dashboard offers for a task, in order.
func Can(f Facts) []coppice.Verb {
	var can []coppice.Verb
	for _, i := range Actions() {
		if i.Fits(f) == nil && (i.Hidden == nil || !i.Hidden(f)) {
			can = append(can, i.Verb)
		}
	}
	return can
}

// Primary returns the one of the actions that a person most likely wants; empty if
// there is none.
func Primary(f Facts, can []coppice.Verb) coppice.Verb {
	for _, i := range Actions() {
		if i.Primary != nil && i.Primary(f) && slices.Contains(can, i.Verb) {
			return i.Verb
		}
	}
	return ""
}

func always(Facts) error { return nil }

func archived(f Facts) bool { return !f.Task.Archived.IsZero() }

// taken reports whether a person has the session, or soon will.
func (f Facts) taken() bool {
	s := f.live()
	return s != nil && s.Screen || f.asked(coppice.VerbTake)
}

func fitsInterrupt(f Facts) error {
	if f.live() == nil {
		return coppice.Errorf(coppice.EConflict, "no session of %s runs; there is nothing to interrupt", f.Task.Key).WithFix("see `coppice show %s`", f.Task.Key)
	}
	return nil
}

// previews reports whether the app of the task runs, or is about to.
func (f Facts) previews() bool { return f.Preview != nil && f.Preview.Live() }

func fitsPreview(f Facts) error {
	switch t := f.Task; {
	case f.previews() && !f.Preview.StopAt.IsZero():
		return coppice.Errorf(coppice.EConflict, "the preview of %s is being stopped", t.Key).WithFix("start it again in a moment")
	case !f.Serves:
		return coppice.Errorf(coppice.EConflict, "the project of %s does not say how its app is served: workspace.serve is missing", t.Key).
			WithFix("add it to coppice.yaml, for example: workspace: {serve: {run: \"npm run dev -- --port $COPPICE_PORT\"}}; see docs/verification.md")
	case !f.Workspace:
		return coppice.Errorf(coppice.EConflict, "%s has no workspace, or it is being removed", t.Key).
			WithFix("wait until its session starts; if it has ended, restore its workspace with `coppice trash restore %s`", t.Key)
	}
	return nil
}

func fitsStopPreview(f Facts) error {
	if !f.previews() || !f.Preview.StopAt.IsZero() {
		return coppice.Errorf(coppice.EConflict, "no preview of %s runs", f.Task.Key).WithFix("start one with `coppice preview %s`", f.Task.Key)
	}
	return nil
}

func fitsFork(f Facts) error {
	switch t := f.Task; {
	case t.Wants == coppice.WantsAnswer:
		return coppice.Errorf(coppice.EConflict, "%s wants an answer; there is no work to fork", t.Key).
			WithFix("ask more with `coppice continue %s`, or create a new task", t.Key)
	case !f.Conversation:
		return coppice.Errorf(coppice.EConflict, "%s has no conversation to fork", t.Key).
			WithFix("wait until its session has started, or create a new task")
	}
	return nil
}

func fitsArchive(f Facts) error {
	if t := f.Task; !t.Ended() {
		return coppice.Errorf(coppice.EConflict, "%s has not ended, and only ended tasks can be archived", t.Key).
			WithFix("wait for it, or stop it with `coppice stop %s`", t.Key)
	}
	return nil
}
