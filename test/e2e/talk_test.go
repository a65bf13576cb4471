//go:build linux

package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
)

func TestSendReachesTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - steps:
      - wait_message: true
      - write: {path: message.txt, content: "${answer}\n"}
`})
	w.serve()
	key := w.new("Listen")
	w.working(key, coppice.SessionIdle)
	w.cli("send", key, "use", "tabs & <spaces>")
	d := w.landed(key)[0]
	w.wantOnBase("message.txt", "use tabs & <spaces>")
	if len(d.Messages) != 1 || d.Messages[0].DeliveredAt.IsZero() {
		t.Errorf("messages: %+v", d.Messages)
	}
}

func TestAQuestionWaitsForItsAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - steps:
      - ask: {text: Which colour?, options: [red, blue]}
      - write: {path: colour.txt, content: "${answer}\n"}
`})
	w.serve()
	key := w.new("Paint it")
	w.await(key, "a question", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
	s := decode[api.Status](t, w.cli("status", "--json"))
	if len(s.NeedsYou) != 1 || s.NeedsYou[0].Key != key || s.NeedsYou[0].Question == nil || s.NeedsYou[0].Question.Text != "Which colour?" {
		t.Errorf("status says %+v", s.NeedsYou)
	}
	if out := w.cli("status"); !strings.Contains(strings.ToLower(out), "needs you") || !strings.Contains(out, "Which colour?") {
		t.Errorf("status shows\n%s", out)
	}
	w.cli("answer", key, "blue")
	w.landed(key)
	w.wantOnBase("colour.txt", "blue")
	if r := w.try(w.repo, "", "answer", key, "red"); r.code != 1 {
		t.Errorf("a second answer: %+v", r)
	}
}

func TestStopAndUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".gitignore": ".env*\n", ".coppice/scripted.yaml": `cases:
  - session: 1
    steps:
      - write: {path: done.txt, content: "committed\n"}
      - commit: Half of it
      - write: {path: sub/left.bin, content: "not\0committed"}
      - append: {path: README.md, content: "changed\n"}
      - write: {path: .env.local, content: "KEY=1\n"}
      - run: "sleep 1000 & ln -s README.md link && chmod +x done.txt"
      - hang: true
  - steps:
      - run: test -f sub/left.bin
      - write: {path: rest.txt, content: "rest\n"}
`})
	w.serve()
	key := w.new("Never finish")
	w.said(key+".1", "hanging")
	before := w.task(key)
	snapshot := tree(t, before.Workspace.Path)

	w.cli("stop", key)
	d := w.await(key, "its workspace in the trash", func(d api.TaskDetail) bool {
		return d.Outcome == coppice.OutcomeCancelled && d.Workspace != nil && !d.Workspace.RemovedAt.IsZero()
	})
	if d.Status != coppice.StatusCancelled || last(d.History).State != coppice.SessionCancelled || d.Landed != "" {
		t.Errorf("%s, session %s, landed %q", d.Status, last(d.History).State, d.Landed)
	}
	w.quiet(t)
	if tree(t, before.Workspace.Path) == snapshot {
		t.Error("the workspace is still there")
	}

	w.cli("trash", "restore", key)
	d = w.await(key, "its workspace back", func(d api.TaskDetail) bool { return d.Workspace.Ready() })
	if got := tree(t, d.Workspace.Path); got != snapshot {
		t.Errorf("it came back as\n%s\nand was\n%s", got, snapshot)
	}
	if w.gitIn(d.Workspace.Path, "rev-parse", "--abbrev-ref", "HEAD") != "coppice/"+key {
		t.Error("it is on another branch")
	}

	w.cli("retry", key)
	w.await(key, "another round", func(now api.TaskDetail) bool { return now.Round > d.Round })
	w.landed(key)
	w.wantOnBase("done.txt", "committed")
	w.wantOnBase("rest.txt", "rest")
}

// tree describes every file below a directory but git's own: path, mode and
// content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || e.Name() == ".git" {
			if e.IsDir() && err == nil {
				return fs.SkipDir
			}
			return err
		}
		info, err := e.Info()
		if err != nil || e.IsDir() {
			return err
		}
		var data []byte
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			data = []byte(to)
		} else if data, err = os.ReadFile(path); err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %x\n", rel, info.Mode(), sha256.Sum256(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRetryWithANote(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": `cases:
  - session: 1
    steps:
      - fail: {class: auth, text: the key was refused}
  - steps:
      - write: {path: a.txt, content: "a\n"}
`})
	w.serve()
	key := w.new("Log in")
	d := w.await(key, "a person's turn", func(d api.TaskDetail) bool { return d.Status == coppice.StatusNeedsYou })
	if !strings.Contains(d.Reason, "the key was refused") || d.Fix == "" {
		t.Errorf("reason %q, way out %q", d.Reason, d.Fix)
	}
	w.cli("retry", key, "--note", "the staging key works")
	w.landed(key)
	if p := w.session(key + ".2").Prompt; !strings.Contains(p, "the staging key works") || !strings.Contains(p, "the key was refused") {
		t.Errorf("the second session has the prompt\n%s", p)
	}
}
