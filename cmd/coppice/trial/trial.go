// Package trial tries what a project needs before anybody relies on it: one turn of
// its agent, and its checks on the base. Nothing that it does reaches the person's
// repository.
package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/cmd/coppice/server"
	"coppice/config"
	"coppice/verb"
	"coppice/workspace"
	"coppice/workspace/git"
)

// Trial tries parts of a project.
type Trial struct {
	Self    string // path of the coppice program
	Environ []string
	State   string // the person's state directory
	Root    string // of the project's checkout
	Policy  coppice.Policy
}

// Limits of a turn.
const (
	turnTime   = 3 * time.Minute
	turnBudget = 1 // USD; the price of an unknown model is the highest of its vendor
)

// Check is the result of a check on the base.
type Check struct {
	Command string
	Took    time.Duration
	Problem string // empty if it passed
	Log     string // its output
}

// Checks runs each check one time on the newest commit of the base, as a landing
// would, in a temporary workspace. An error means that none could run.
func (t Trial) Checks(ctx context.Context) ([]Check, error) {
	if len(t.Policy.Checks) == 0 {
		return nil, nil
	}
	temporary, err := os.MkdirTemp("", "coppice-try-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	dir := temporary
	runner, err := git.New(git.Config{Env: t.Environ})
	if err != nil {
		return nil, err
	}
	if t.Policy.Workspace.Docker.Set() {
		dir = t.State // the service mounts only the folder of the real workspaces
	}
	spaces, err := workspace.New(workspace.Config{Dir: filepath.Join(dir, "workspaces"), Trash: filepath.Join(dir, "trash"), Git: runner, Env: t.Environ})
	if err != nil {
		return nil, err
	}
	at, err := spaces.Inspect(ctx, t.Root, t.Policy.Base)
	if err != nil {
		return nil, err
	}
	tree, err := runner.Run(ctx, t.Root, "rev-parse", "--verify", at.BaseCommit+"^{tree}")
	if err != nil {
		return nil, err
	}
	res, err := spaces.Check(ctx, coppice.CheckSpec{
		Repo: t.Root, Commit: at.BaseCommit, Tree: tree, Commands: t.Policy.Checks, Timeout: t.Policy.Health.Check, Policy: t.Policy.Workspace,
	})
	if err != nil {
		return nil, err
	}
	checks := make([]Check, len(res.Checks))
	for i, c := range res.Checks {
		checks[i] = Check{Command: c.Command, Took: c.Took, Problem: problem(c), Log: c.Log}
	}
	return checks, nil
}

// problem says why a check did not pass.
func problem(c coppice.Check) string {
	switch {
	case c.TimedOut:
		return "took too long"
	case c.Signal != "":
		return "was killed by " + c.Signal
	case c.Exit == 126 || c.Exit == 127:
		return fmt.Sprintf("exited with %d: the command cannot be run", c.Exit)
	case c.Exit != 0:
		return fmt.Sprintf("exited with %d", c.Exit)
	}
	return ""
}

// Turn is the result of one turn of an agent.
type Turn struct {
	Took  time.Duration
	Usage coppice.Usage
	Text  string // what it answered
}

// question is the cheapest task that shows that an agent works.
var question = coppice.NewTask{
	Title:  "Reply with the word ready",
	Body:   "This is a test of the connection. Reply with the single word ready. Do not read files and do not use tools.",
	Answer: true, Budget: turnBudget,
}

// Agent lets an agent answer one question, in a copy of the repository, with a
// separate server. An error says why there was no answer.
func (t Trial) Agent(ctx context.Context, name string) (turn Turn, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, turnTime, errLate)
	defer cancel()
	dir, err := os.MkdirTemp("", "coppice-try-")
	if err != nil {
		return turn, err
	}
	defer os.RemoveAll(dir)
	scratch := filepath.Join(dir, "scratch")
	if err := t.copy(ctx, scratch, name); err != nil {
		return turn, err
	}
	state := filepath.Join(dir, "state")
	s, err := server.New(server.Config{State: state, Self: t.Self, Environ: t.Environ, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return turn, err
	}
	if err := s.Start(ctx); err != nil {
		return turn, err
	}
	defer s.Stop()
	began := time.Now()
	turn, err = ask(ctx, client.New(state), scratch)
	turn.Took = time.Since(began)
	return turn, err
}

var errLate = coppice.Errorf(coppice.EUnavailable, "the agent did not answer within %s", turnTime).WithFix("run the agent's own program and see what it waits for")

// copy makes a repository that has the objects of the person's, with settings
// that let the agent answer and do nothing else.
func (t Trial) copy(ctx context.Context, scratch, name string) error {
	runner, err := git.New(git.Config{Env: t.Environ})
	if err != nil {
		return err
	}
	spaces, err := workspace.New(workspace.Config{Dir: scratch + "-workspaces", Trash: scratch + "-trash", Git: runner, Env: t.Environ})
	if err != nil {
		return err
	}
	at, err := spaces.Inspect(ctx, t.Root, t.Policy.Base)
	if err != nil {
		return err
	}
	// The agent works in a workspace, so nothing is checked out here.
	_, err = runner.Run(ctx, filepath.Dir(scratch), "clone", "--quiet", "--shared", "--no-checkout", "--single-branch", "--branch", at.Base, t.Root, scratch)
	if err != nil {
		return fmt.Errorf("copying the repository: %w", err)
	}
	text, err := t.settings(at.Base, name)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(scratch, config.File), text, 0o644)
}

// settings returns a coppice.yaml for one turn of an agent.
func (t Trial) settings(base, name string) ([]byte, error) {
	choice := map[string]any{"use": name}
	if c := t.Policy.Agent; c.Use == name {
		if c.Model != "" {
			choice["model"] = c.Model
		}
		if c.Effort != "" {
			choice["effort"] = c.Effort
		}
	}
	all := map[string]any{
		"base": base, "agent": choice, "retry": map[string]any{"max": 0}, "health": map[string]any{"timeout": turnTime.String(), "long": turnTime.String()},
		"workspace": map[string]any{"pass_env": t.Policy.Workspace.PassEnv},
	}
	if len(t.Policy.Workspace.PassEnv) == 0 {
		delete(all, "workspace")
	}
	if len(t.Policy.Prices) > 0 {
		all["prices"] = t.Policy.Prices
	}
	if own, ok := t.Policy.Agents[name]; ok {
		fields := map[string]any{}
		if err := json.Unmarshal(coppice.Raw(own), &fields); err != nil {
			return nil, err
		}
		for key, v := range fields { // what the project does not set
			if text := string(coppice.Raw(v)); text == "null" || text == `""` || text == "{}" {
				delete(fields, key)
			}
		}
		all["agents"] = map[string]any{name: fields}
	}
	return coppice.Raw(all), nil // JSON is YAML
}

// ask creates the task and waits for its end.
func ask(ctx context.Context, c *client.Client, repo string) (turn Turn, err error) {
	defer c.Close()
	p, err := c.AddProject(ctx, repo)
	if err != nil {
		return turn, err
	}
	made, err := c.CreateTasks(ctx, p.Prefix, []coppice.NewTask{question})
	if err != nil {
		return turn, err
	}
	key := made[0].Key
	var last api.TaskDetail
	settled := errors.New("settled")
	look := func() error {
		if last, err = c.Task(ctx, key); err != nil {
			return err
		}
		if last.Outcome != "" || last.Status == coppice.StatusNeedsYou {
			return settled
		}
		return nil
	}
	err = look()
	if err == nil {
		err = c.FollowEvents(ctx, client.EventQuery{Project: p.Prefix}, func(api.Event) error { return look() }, nil)
	}
	turn.Usage = last.Usage
	switch {
	case ctx.Err() != nil:
		_ = end(ctx, c, key) // the cause is what matters
		return turn, context.Cause(ctx)
	case !errors.Is(err, settled):
		return turn, errors.Join(err, end(ctx, c, key))
	case last.Outcome == coppice.OutcomeDone && last.Answer != nil:
		turn.Text = last.Answer.Text
		return turn, nil
	}
	if err := end(ctx, c, key); err != nil {
		return turn, err
	}
	return turn, unanswered(last)
}

// unanswered says why an agent did not answer. A fix about the task of the trial
// helps nobody, because the task is gone.
func unanswered(d api.TaskDetail) error {
	failed := coppice.Errorf(coppice.EUnavailable, "%s", strings.TrimSuffix(d.Reason, "."))
	switch {
	case d.Failure != nil && d.Failure.Class == coppice.ClassBudget:
		return coppice.Errorf(coppice.EUnavailable, "one turn cost %.2f USD, more than the %.2f USD that this test can cost", d.Usage.CostUSD, float64(turnBudget)).
			WithFix("see the price of its model with `coppice prices`; if it is wrong, set it under prices in coppice.yaml")
	case d.Fix != "" && d.Outcome == "" && !strings.Contains(d.Fix, d.Key):
		return failed.WithFix("%s", d.Fix)
	}
	return failed
}

// end stops the task, so that no session is left behind.
func end(ctx context.Context, c *client.Client, key string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	t, err := c.Task(ctx, key)
	if err != nil || t.Outcome != "" {
		return err
	}
	if _, err := c.Ask(ctx, key, coppice.VerbStop, verb.Request{}); err != nil {
		return err
	}
	ended := errors.New("ended")
	err = c.FollowEvents(ctx, client.EventQuery{}, func(api.Event) error {
		t, err := c.Task(ctx, key)
		if err == nil && t.Outcome != "" {
			return ended
		}
		return err
	}, nil)
	if errors.Is(err, ended) {
		return nil
	}
	return err
}
