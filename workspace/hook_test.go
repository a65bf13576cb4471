package workspace

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
)

// A hook gets its input and its variables, runs in the checkout, and its output is
// bounded.
func TestHook(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.env = append(b.env, "SECRET_TOKEN=x")
	spec := coppice.HookSpec{
		Key: "h1-1", Event: coppice.HookLanded, Dir: b.root, Timeout: coppice.Duration(time.Minute), Input: []byte(`{"id":"h1-1"}`),
		Env: []string{"COPPICE_HOOK_ID=h1-1"}, Run: `cat; echo "$COPPICE_HOOK_ID $SECRET_TOKEN$PWD"; exit 3`,
	}
	got := must[coppice.HookResult](t)(b.Hook(b.ctx, spec))
	if want := "{\"id\":\"h1-1\"}\nh1-1 " + b.root + "\n"; got.Output != want || got.Exit != 3 {
		t.Errorf("%+v, want %q", got, want)
	}
	spec.Run = "yes 0123456789 | head -c 1000000" // it reads no input
	if got := must[coppice.HookResult](t)(b.Hook(b.ctx, spec)); len(got.Output) > coppice.MaxHookOutput+100 || !strings.Contains(got.Output, "bytes left out") || got.Exit != 0 {
		t.Errorf("%d bytes of output, exit %d", len(got.Output), got.Exit)
	}
	spec.Dir = filepath.Join(b.root, "none")
	if _, err := b.Hook(b.ctx, spec); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("without its directory: %v", err)
	}
}

// A hook that takes too long is killed with its children.
func TestHookTimeoutKillsItsChildren(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fifo, ended := heldPipe(t)
	got := must[coppice.HookResult](t)(b.Hook(b.ctx, coppice.HookSpec{
		Key: "h2-1", Dir: b.root, Timeout: coppice.Duration(2 * time.Second), Input: []byte("{}"), Run: "sleep 1000 > " + fifo + " & sleep 1000",
	}))
	if !got.TimedOut || !strings.Contains(got.Output, "stopped after 2s") {
		t.Errorf("%+v", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
