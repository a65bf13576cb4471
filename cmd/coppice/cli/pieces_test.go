package cli

import (
	"bytes"
	"strings"
	"testing"

	"coppice"
)

// A permission that was given is the usual case, and is not shown as a warning. The
// name of its tool is one that people use.
func TestPermissionsInTheLog(t *testing.T) {
	t.Parallel()
	shown := func(ok bool) string {
		var out bytes.Buffer
		p := &printer{env: &Env{Stdout: &out, Color: true}}
		p.event(coppice.AgentEvent{Kind: coppice.KindPermission, Name: "commandExecution", Text: "allowed", OK: ok})
		return strings.TrimSpace(out.String())
	}
	if got, want := shown(true), dim.Render("▲ run allowed"); got != want {
		t.Errorf("given: %q, want %q", got, want)
	}
	if got, want := shown(false), yellow.Render("▲ run allowed"); got != want {
		t.Errorf("refused: %q, want %q", got, want)
	}
	if shown(true) == shown(false) {
		t.Error("both look alike")
	}
}
