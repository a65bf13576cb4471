// Package demo runs the whole of Coppice on a sample repository: a real server,
// real workspaces, hosts, checks, merges and landings, with the built-in
// scripted agent in the place of a paid one.
package demo

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/cmd/coppice/server"
	"coppice/workspace/git"
)

//go:embed all:sample
var sample embed.FS

// Options configures the demo.
type Options struct {
	Self    string // path of the coppice program
	Environ []string
	Stdout  io.Writer
	Color   bool
	Width   int  // of the terminal; 0 without a terminal
	Keep    bool // leave the folder behind
	JSON    bool

	// Live shows the demo to a person: slowly, with explanations, on the dashboard
	// too. A question waits for the person, and the dashboard stays open at the end.
	Live  bool
	Stdin io.Reader                                       // a line ends the demo; nil if nobody can write one
	Open  func(ctx context.Context, address string) error // opens a browser; can be nil
}

// How a demo for a person differs from one that only runs.
const (
	slower     = 8                // the agents are this much slower
	answerWait = 12 * time.Second // then the demo answers the question itself
	openFor    = 10 * time.Minute // then the demo ends by itself
)

// conflicting is the task that changes the same line as another one, which lands
// first.
const conflicting = "Greet with an exclamation mark"

// tasks are the tasks of the demo. The script refers to their titles.
var tasks = []coppice.NewTask{
	{Ref: "bye", Title: "Say goodbye as well", Priority: 2},
	{Title: "Count the arguments"},
	{Title: "Greet in capitals"},
	{Title: conflicting},
	{Ref: "docs", Title: "Explain the program"},
	{Title: "Mention goodbye in the README", After: []string{"bye", "docs"}},
}

// Summary describes how the demo ended.
type Summary struct {
	Landed    int           `json:"landed"`
	Fixed     int           `json:"fixed"`     // after a check failed
	Conflicts int           `json:"conflicts"` // after a merge conflict was handed back
	Questions int           `json:"questions"` // that were answered
	Took      time.Duration `json:"took"`
	CostUSD   float64       `json:"cost_usd"`
	Tasks     []api.Task    `json:"tasks"`
	Log       []string      `json:"log"` // of the base branch, newest first
	Folder    string        `json:"folder,omitempty"`
}

// Run runs the demo. It fails unless every task landed.
func Run(ctx context.Context, o Options) error {
	dir, err := os.MkdirTemp("", "coppice-demo-")
	if err != nil {
		return err
	}
	if !o.Keep {
		defer os.RemoveAll(dir)
	}
	repo := filepath.Join(dir, "sample")
	runner, err := makeSample(ctx, repo, o)
	if err != nil {
		return err
	}
	state := filepath.Join(dir, "state")
	s, err := server.New(server.Config{
		State: state, Self: o.Self, Environ: o.Environ,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		return err
	}
	if err := s.Start(ctx); err != nil {
		return err
	}
	defer s.Stop()
	c := client.New(state)
	defer c.Close()
	if o.Live {
		introduce(ctx, o, c)
	}
	sum, err := play(ctx, o, c, repo)
	if err != nil {
		return err
	}
	out, err := runner.Run(ctx, repo, "log", "--format=%h %s", "main")
	if err != nil {
		return err
	}
	sum.Log = strings.Split(out, "\n")
	if o.Keep {
		sum.Folder = dir
	}
	if err := printSummary(o, sum); err != nil {
		return err
	}
	if sum.Landed != len(tasks) {
		return coppice.Errorf(coppice.EInternal, "%d of %d tasks landed", sum.Landed, len(tasks))
	}
	if o.Live {
		linger(ctx, o)
	}
	return nil
}

// play creates the tasks and shows them until all have ended.
func play(ctx context.Context, o Options, c *client.Client, repo string) (Summary, error) {
	began := time.Now()
	p, err := c.AddProject(ctx, repo)
	if err != nil {
		return Summary{}, err
	}
	made, err := c.CreateTasks(ctx, p.Prefix, tasks)
	if err != nil {
		return Summary{}, err
	}
	if err := watch(ctx, o, c, p.Prefix, len(made)); err != nil {
		return Summary{}, err
	}
	sum := Summary{Took: time.Since(began)}
	for _, t := range made {
		d, err := c.Task(ctx, t.Key)
		if err != nil {
			return sum, err
		}
		sum.add(d)
	}
	return sum, nil
}

func (s *Summary) add(d api.TaskDetail) {
	s.Tasks = append(s.Tasks, d.Task)
	for _, q := range d.Questions {
		if !q.AnsweredAt.IsZero() {
			s.Questions++
		}
	}
	s.CostUSD += d.Usage.CostUSD
	if d.Landed == "" {
		return
	}
	s.Landed++
	fixed, conflict := false, false
	for _, l := range d.Landings {
		fixed = fixed || l.Outcome == coppice.LandingRefused
		conflict = conflict || l.Outcome == coppice.LandingConflict
	}
	if fixed {
		s.Fixed++
	}
	if conflict {
		s.Conflicts++
	}
}

// makeSample creates the repository.
func makeSample(ctx context.Context, repo string, o Options) (*git.Runner, error) {
	err := fs.WalkDir(sample, "sample", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(repo, filepath.FromSlash(strings.TrimPrefix(path.Clean(name), "sample")))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		b, err := sample.ReadFile(name)
		if err != nil {
			return err
		}
		if o.Live && path.Base(name) == "scripted.yaml" {
			b = slow(b)
		}
		return os.WriteFile(to, b, 0o644)
	})
	if err != nil {
		return nil, err
	}
	runner, err := git.New(git.Config{})
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "Coppice demo"},
		{"config", "user.email", "demo@coppice.localhost"},
		{"add", "--all"},
		{"commit", "--quiet", "--message=A program that greets"},
	} {
		if _, err := runner.Run(ctx, repo, args...); err != nil {
			return nil, err
		}
	}
	return runner, nil
}

// printSummary prints the summary.
func printSummary(o Options, s Summary) error {
	if o.JSON {
		e := json.NewEncoder(o.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(s)
	}
	fmt.Fprintf(o.Stdout, "\n%d tasks landed in %.1f s: %d after a fix round, %d after a merge conflict was handed back, %d after a question. $%.3f of scripted cost.\n",
		s.Landed, s.Took.Seconds(), s.Fixed, s.Conflicts, s.Questions, s.CostUSD)
	fmt.Fprintf(o.Stdout, "\nmain now:\n")
	for _, l := range s.Log {
		fmt.Fprintf(o.Stdout, "  %s\n", l)
	}
	if s.Folder != "" {
		fmt.Fprintf(o.Stdout, "\nkept in %s\n  COPPICE_STATE=%s coppice serve   continues with it\n", s.Folder, filepath.Join(s.Folder, "state"))
	}
	fmt.Fprint(o.Stdout, "\nNext, with your own code and an agent CLI that is logged in:\n  cd your-repository && coppice init\n")
	return nil
}
