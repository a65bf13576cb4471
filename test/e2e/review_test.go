//go:build linux

package e2e

import (
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

// A person reviews a change: comments become one message, the agent changes what
// they ask for, the comments are resolved, and the approved work lands. The server
// restarts in between, and nothing of the review is lost.
func TestReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": policy + "checks: [test -f greet.go]\nland: {how: review}\n",
		".coppice/scripted.yaml": `cases:
  - {match: return an error, steps: [{replace: {path: greet.go, old: "panic(1)", new: "return err"}}, {say: It returns an error now.}]}
  - {steps: [{write: {path: greet.go, content: "package greet\n\nfunc Greet() error {\n\tpanic(1)\n}\n"}}, {say: It greets.}]}
`})
	server := w.serve()
	key := w.new("Greet")
	d := w.await(key, "a review", func(d api.TaskDetail) bool { return d.Stage == coppice.StageReview })
	if d.Status != coppice.StatusNeedsYou || d.Reason != "waiting for your review" {
		t.Errorf("%s: %q", d.Status, d.Reason)
	}
	w.cli("review", key, "--comment", "greet.go:4", "return an error instead")
	w.cli("review", key, "--comment", "greet.go:3-5", "and say in a comment what it does")
	server.Kill()
	server = w.serve()
	if out := w.cli("review", key); !strings.Contains(out, "greet.go:4 (draft)") || !strings.Contains(out, "It greets.") || !strings.Contains(out, "viewed 0 of 1") {
		t.Errorf("the review is\n%s", out)
	}
	w.cli("review", key, "--send", "Nearly there.")
	d = w.await(key, "another review", func(d api.TaskDetail) bool { return d.Stage == coppice.StageReview && len(d.Landings) == 2 })
	want(t, "landings", outcomes(d), []coppice.LandingOutcome{coppice.LandingDropped, ""})
	w.wantPrompt(key+".2", "Nearly there.", "Comment 1 on greet.go, line 4:", "\tpanic(1)\n", "return an error instead", "Comment 2 on greet.go, lines 3 to 5:")
	if len(d.Messages) != 1 || d.Messages[0].DeliveredAt.IsZero() || d.History[1].Resume != d.History[0].Conversation {
		t.Errorf("messages %+v, session %+v", d.Messages, d.History[1])
	}
	r := decode[api.Review](t, w.cli("review", key, "--json"))
	if len(r.Comments) != 2 || !r.Comments[0].Outdated || r.Comments[0].Code != "\tpanic(1)\n" || r.Comments[0].MessageID != d.Messages[0].ID {
		t.Errorf("comments: %+v", r.Comments)
	}
	if len(r.Files) != 1 || len(r.Files[0].Hunks) != 1 || !strings.HasPrefix(r.Files[0].Hunks[0].Lines[0].Text, "package ") {
		t.Errorf("files: %+v", r.Files)
	}
	w.cli("review", key, "--resolve", "1")
	w.cli("review", key, "--resolve", "2")
	server.Stop(t)
	w.serve()
	w.cli("land", key)
	w.landed(key)
	w.wantOnBase("greet.go", "package greet\n\nfunc Greet() error {\n\treturn err\n}")
	if out := w.cli("show", key); !strings.Contains(out, "landed, approved by person") {
		t.Errorf("show says\n%s", out)
	}
}

// With land.ask, only the changes that a rule names wait for a person.
func TestLandAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml": policy + "land: {ask: {paths: [db/migrations], lines: 20}}\n",
		".coppice/scripted.yaml": `cases:
  - {match: schema, steps: [{write: {path: db/migrations/1.sql, content: "drop table x;\n"}}]}
  - {match: long, steps: [{run: "seq 21 > numbers"}]}
  - {steps: [{run: "seq 20 > few"}]}
`})
	w.serve()
	schema, long, few := w.new("Change the schema"), w.new("Write a long file"), w.new("Write a file")
	w.landed(few)
	for key, reason := range map[string]string{
		schema: "waiting for your review: it changes db/migrations/1.sql (land.ask.paths)", long: "waiting for your review: it changes 21 lines (land.ask.lines is 20)",
	} {
		d := w.await(key, "a review", func(d api.TaskDetail) bool { return d.Stage == coppice.StageReview })
		if d.Reason != reason {
			t.Errorf("%s waits: %q", key, d.Reason)
		}
		w.cli("land", key)
	}
	w.landed(schema, long)
	w.wantOnBase("db/migrations/1.sql", "drop table x;")
}
