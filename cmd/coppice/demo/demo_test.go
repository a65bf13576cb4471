package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/api"
	"coppice/test/harness"
)

var program string // the coppice program, built once

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "coppice-demo-test-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "coppice")
	if err := harness.Build(program); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func options(t *testing.T, out *bytes.Buffer) (context.Context, Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx, Options{Self: program, Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, Stdout: out}
}

// The demo runs all of Coppice: six tasks land, one after its checks refused it
// and one after a conflict.
func TestDemo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ctx, o := options(t, &out)
	o.JSON = true
	if err := Run(ctx, o); err != nil {
		t.Fatal(err)
	}
	var s Summary
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatalf("%v in:\n%s", err, out.String())
	}
	if s.Landed != 6 || s.Fixed != 1 || s.Conflicts != 1 || s.Questions != 1 {
		t.Errorf("%d landed, %d fixed, %d conflicts, %d questions", s.Landed, s.Fixed, s.Conflicts, s.Questions)
	}
	if len(s.Log) != 7 || s.Log[6] == "" {
		t.Errorf("the base branch has %d commits:\n%s", len(s.Log), strings.Join(s.Log, "\n"))
	}
	if s.CostUSD <= 0 || s.Took <= 0 || s.Folder != "" {
		t.Errorf("cost %v, took %v, folder %q", s.CostUSD, s.Took, s.Folder)
	}
	for _, task := range tasks {
		if n := strings.Count(strings.Join(s.Log, "\n"), task.Title); n != 1 {
			t.Errorf("%q landed %d times", task.Title, n)
		}
	}
}

// The output for people has the progress and the outcome.
func TestDemoOutput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ctx, o := options(t, &out)
	if err := Run(ctx, o); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"✓ sample-1", "✓ sample-6", "6 tasks landed in", "1 after a fix round", "1 after a question", "main now:", "coppice init"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is missing in:\n%s", part, out.String())
		}
	}
}

func TestDemoIsInterrupted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ctx, o := options(t, &out)
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if err := Run(ctx, o); err == nil {
		t.Error("a demo that was interrupted says it went well")
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	task := api.Task{Status: "working", Reason: "a\x1b[31mb"}
	task.Key, task.Title = "app-1", "Say\x07 hello"
	s := &screen{o: Options{Width: 40, Color: true}, seen: map[string]string{}}
	got := s.line(task)
	if strings.ContainsAny(got, "\x07\x1b") || len([]rune(got)) > 40 {
		t.Errorf("line %q", got)
	}
	task.Status = "done"
	if got := s.line(task); !strings.HasPrefix(got, "\x1b[32m✓") || !strings.HasSuffix(got, "\x1b[0m") {
		t.Errorf("line %q", got)
	}
}

// For a person the agents are slower, and each event is explained one time.
func TestLive(t *testing.T) {
	t.Parallel()
	if got := string(slow([]byte("- sleep: 300ms\n- sleep: 1500ms\n"))); got != "- sleep: 2400ms\n- sleep: 12000ms\n" {
		t.Errorf("slower: %q", got)
	}
	s := &screen{o: Options{Live: true}, explained: map[string]bool{}}
	fixing := api.Task{Status: coppice.StatusFixing}
	fixing.Key, fixing.Title = "sample-2", "Count the arguments"
	conflict := fixing
	conflict.Key, conflict.Title = "sample-4", conflicting
	asks := api.Task{Question: &api.Question{ID: 1}}
	asks.Key = "sample-5"
	for range 2 {
		s.explain(fixing)
		s.explain(conflict)
		s.explain(asks)
	}
	all := strings.Join(s.notes, "\n")
	for _, part := range []string{"sample-2 failed the check", "sample-4 changed the same line", "sample-5 asks you"} {
		if strings.Count(all, part) != 1 {
			t.Errorf("%q is not there one time:\n%s", part, all)
		}
	}
	// Enter ends the demo.
	linger(t.Context(), Options{Stdout: &bytes.Buffer{}, Stdin: strings.NewReader("\n")})
}
