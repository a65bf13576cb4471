package agents

import (
	"slices"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/agent/profiles"
	"coppice/cmd/coppice/protocols"
)

// Every built-in profile names a protocol that this program has, can be started
// with a model and a conversation, and keeps the prompt out of the arguments.
func TestProfiles(t *testing.T) {
	t.Parallel()
	set, err := profiles.Load()
	if err != nil {
		t.Fatal(err)
	}
	all := protocols.All()
	for name, p := range set {
		protocol, ok := all[p.Protocol]
		if !ok {
			t.Errorf("%s: there is no protocol %q", name, p.Protocol)
			continue
		}
		r := agent.Request{Session: "app-1.1", Role: coppice.RoleImplement, Prompt: "the prompt", Private: "/x/private", Model: "some-model", Resume: "conv-1", Dir: "/repo"}
		l, err := protocol.Launch(p, r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if args := strings.Join(l.Argv, " "); strings.Contains(args, r.Prompt) || strings.Contains(args, "{prompt_file}") || strings.Contains(args, "{model}") {
			t.Errorf("%s is started with %q", name, args)
		}
		if p.Prompt == "file" && !slices.Contains(l.Argv, "/x/private/prompt") {
			t.Errorf("%s does not get its prompt: %q", name, l.Argv)
		}
		if got := string(l.Files["prompt"]); (p.Prompt == "file") != (got == r.Prompt) {
			t.Errorf("%s: the file of the prompt has %q", name, got)
		}
	}
}
