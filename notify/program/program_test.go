package program_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/notify"
	"coppice/notify/program"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var message = notify.Message{
	ID: "n-1", Priority: coppice.PriorityAction, Title: "app-4 asks `id` $(id)\nagain", Text: "Which one?\n\x00\"quoted\"",
	Link: "http://127.0.0.1:4040/a", Answer: "http://127.0.0.1:4040/b", Project: "app", Count: 2, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Test: true,
}

func target(run string) notify.Target {
	return notify.Target{Name: "page", Notifier: coppice.Notifier{Kind: "program", Run: run}}
}

// A command gets the message, and nothing of Coppice's own environment that it needs not
// have.
func TestWhatACommandGets(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := program.Sender{Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "A_KEY=secret"}}
	if err := s.Send(t.Context(), target(`cat > stdin; env > env; printf %s "$COPPICE_TITLE" > title`), message); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var got notify.Payload
	if err := json.Unmarshal([]byte(read("stdin")), &got); err != nil {
		t.Fatal(err)
	}
	want := notify.Payload{Type: "coppice.notification", Timestamp: message.At, Data: notify.PayloadData{
		ID: "n-1", Notifier: "page", Priority: "action", Title: "app-4 asks `id` $(id) again", Text: "Which one?\n\"quoted\"",
		Link: message.Link, Answer: message.Answer, Project: "app", Count: 2, Test: true,
	}}
	if got != want {
		t.Errorf("%+v", got)
	}
	if read("title") != want.Data.Title {
		t.Errorf("the title is %q", read("title"))
	}
	env := read("env")
	for _, v := range []string{"COPPICE_ID=n-1\n", "COPPICE_NOTIFIER=page\n", "COPPICE_PRIORITY=action\n", "COPPICE_LINK=" + message.Link, "COPPICE_ANSWER=" + message.Answer, "COPPICE_PROJECT=app\n", "COPPICE_COUNT=2\n", "COPPICE_TEST=true\n"} {
		if !strings.Contains(env, v) {
			t.Errorf("%q is missing", v)
		}
	}
	if strings.Contains(env, "A_KEY") {
		t.Error("the command has the key")
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	s := program.Sender{Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}}
	for what, c := range map[string]struct {
		run   string
		class coppice.Class
		text  string
	}{
		"exit":        {"echo first; echo why >&2; exit 3", coppice.ClassEnvironment, "exited with 3: first\nwhy"},
		"silent":      {"exit 1", coppice.ClassEnvironment, "exited with 1"},
		"not found":   {"coppice-no-such-program", coppice.ClassCapability, "exited with 127"},
		"killed":      {"kill -9 $$", coppice.ClassEnvironment, "killed by signal 9"},
		"much output": {"i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; exit 2", coppice.ClassEnvironment, "line 2999"},
	} {
		var f *coppice.Failure
		err := s.Send(t.Context(), target(c.run), message)
		if !errors.As(err, &f) || f.Class != c.class || !strings.Contains(f.Text, c.text) || f.Fix == "" || len(f.Text) > 1000 {
			t.Errorf("%s: %v", what, err)
		}
	}
	late := errors.New("it is late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, late)
	defer cancel()
	if err := s.Send(ctx, target("sleep 60 & wait"), message); !errors.Is(err, late) {
		t.Errorf("%v", err)
	}
}
