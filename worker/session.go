package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"

	"coppice"
	"coppice/agent"
	"coppice/host"
	"coppice/internal/environ"
	"coppice/workspace"
)

func (w *Worker) sessionDir(id int64) string {
	return filepath.Join(w.cfg.Sessions, strconv.FormatInt(id, 10))
}

// run runs a session to its end. It starts the host or finds it, follows its
// output, and then checks the workspace.
func (w *Worker) run(ctx context.Context, l coppice.Lease) (any, error) {
	spec, err := coppice.DecodeSpec[coppice.RunSpec](l.Work)
	if err != nil {
		return nil, coppice.Failf(coppice.ClassUnknown, fmt.Sprintf("the session cannot be read: %v", err), "")
	}
	f := &follower{w: w, id: spec.Session.ID, dir: w.sessionDir(spec.Session.ID), locks: coppice.EnforcesLocks(spec.Locks)}
	defer f.close()
	phase, _, _, err := host.Inspect(f.dir)
	if err != nil {
		return nil, err
	}
	if phase != host.PhaseNone {
		w.learn(ctx, spec)
	} else if err := w.start(ctx, f, spec); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		before := f.at.Cursor
		res, err := w.attend(ctx, f, spec)
		if err == nil || ctx.Err() != nil {
			return res, err
		}
		if f.at.Cursor > before {
			try = 1
		}
		if try == mostAttends {
			return nil, errors.Join(err, w.abandon(ctx, f.dir))
		}
		w.cfg.Logger.Error("following a session failed; it continues", "session", spec.Session.Key, "try", try, "error", err)
		if err := w.pause(ctx, try); err != nil {
			return nil, err
		}
	}
}

// mostAttends is how often in a row following a session can fail, without
// progress in between, before the session is ended. A session whose output
// cannot be stored is useless.
const mostAttends = 6

// attend follows a session from the ledger's cursor to its end.
func (w *Worker) attend(ctx context.Context, f *follower, spec coppice.RunSpec) (any, error) {
	if err := f.begin(ctx, spec.Session.From); err != nil {
		return nil, err
	}
	if err := f.follow(ctx); err != nil {
		return nil, err
	}
	return w.conclude(ctx, f, spec)
}

// abandon ends a session that will be reported as failed: no worker looks after
// its processes any more.
func (w *Worker) abandon(ctx context.Context, dir string) error {
	c, err := host.Dial(ctx, dir)
	if err == nil {
		defer c.Close()
		if err = c.Stop(ctx, stopGrace); err == nil {
			err = c.Follow(ctx, func(int64) {})
		}
	}
	if errors.Is(err, host.ErrGone) {
		err = host.Kill(ctx, dir)
	}
	return err
}

// screenProtocol is the protocol of an agent's own screen, whatever protocol its
// profile names.
const screenProtocol = "terminal"

// tokenPrefix starts the token of a session for tool servers, so that tokens can be
// found and masked in output.
const tokenPrefix = "cop_"

// start starts the session's host. It first records the branch's head and that
// the session has begun. A crash in between is safe: a host that never started
// is started again.
func (w *Worker) start(ctx context.Context, f *follower, spec coppice.RunSpec) error {
	profile, err := w.cfg.Profile(spec.Session.Agent, spec.Profile)
	if err != nil {
		e := coppice.Public(err)
		return coppice.Failf(coppice.ClassCapability, e.Cause, e.Fix)
	}
	ahead, err := w.launched(spec.Session.ID)
	if err != nil {
		return err
	}
	defer ahead.Drop()
	servers, err := w.servers(spec, profile, f.dir)
	if err != nil {
		return err
	}
	servers, secrets, err := w.secrets(ctx, spec, profile, servers)
	if err != nil {
		return err
	}
	head, err := w.headBefore(ctx, spec)
	if err != nil {
		return err
	}
	if err := f.begin(ctx, head); err != nil {
		return err
	}
	prompt, err := w.cfg.Ledger.Prompt(ctx, f.id)
	if err != nil {
		return err
	}
	if err := w.bringImages(ctx, f.dir, spec.Images); err != nil {
		return err
	}
	if err := w.cfg.Workspaces.Hide(ctx, spec.Path, spec.Progress); err != nil {
		return err
	}
	app, address, err := w.app(spec)
	if err != nil {
		return err
	}
	env := agentEnv(w.cfg.Environ, profile, spec.PassEnv...)
	own := workspace.Env(spec.Task, spec.Path, spec.Branch, spec.Ports)
	if !spec.Checkout { // there the person's own settings of git apply
		author, err := w.cfg.Workspaces.Author(ctx, spec.Path, spec.Identity)
		if err != nil {
			return err
		}
		maps.Copy(env, author)
		own = append(own, workspace.GitConfig(env["GIT_CONFIG_COUNT"])...)
	}
	maps.Copy(env, environ.Map(own))
	env["COPPICE_BASE"], env["COPPICE_ROLE"] = spec.Base, string(spec.Session.Role)
	if address != "" {
		env[urlVar] = address
	}
	env[agent.TokenVar] = tokenPrefix + rand.Text()
	protocol := profile.Protocol
	if spec.Session.Screen {
		if !profile.Screen.Set() {
			return coppice.Failf(coppice.ClassCapability, spec.Session.Agent+" has no screen for a person to take over", "give it back, or describe a screen in the agent's profile")
		}
		protocol = screenProtocol
	}
	return ahead.Start(ctx, host.Spec{
		Session: spec.Session.Key, Protocol: protocol, Profile: profile, Env: env, Grace: coppice.Duration(stopGrace), App: app, Output: spec.Output, Secrets: secrets, Images: spec.Images, Tools: true,
		Request: agent.Request{
			Session: spec.Session.Key, Role: spec.Session.Role, Model: spec.Session.Model, Effort: spec.Effort, Resume: spec.Session.Resume,
			Spent: f.at.Spent, Dir: spec.Path, Fork: spec.Session.Fork, Screen: spec.Session.Screen,
			Permissions: spec.Permissions, Locks: spec.Locks, MCP: servers, Budget: float64(spec.Budget), Schema: spec.Schema,
		},
	}, prompt)
}

// headBefore returns the commit from which the session starts. It first commits
// what a person or an interrupted session left uncommitted, as the person. A workspace
// that was created for this session has no such changes.
func (w *Worker) headBefore(ctx context.Context, spec coppice.RunSpec) (string, error) {
	if spec.Session.From != "" {
		return spec.Session.From, nil
	}
	switch {
	case spec.Checkout:
		commit, _, err := w.cfg.Workspaces.SnapCheckout(ctx, spec.Repo, spec.Session.Key, "")
		return commit, err
	case spec.ReadOnly:
		head, _, err := w.cfg.Workspaces.Changed(ctx, spec.Path)
		return head, err
	}
	head, _, err := w.cfg.Workspaces.Save(ctx, spec.Path, saveMessage(spec), coppice.Identity{}, nil)
	// A session that was ended during a merge leaves the merge to this one,
	// whose prompt says so.
	var fail *coppice.Failure
	if unfinished := errors.As(err, &fail) && fail.Class == coppice.ClassImplementation && head != ""; unfinished {
		return head, nil
	}
	return head, err
}

// conclude reports how the session went, after all of its output is committed.
func (w *Worker) conclude(ctx context.Context, f *follower, spec coppice.RunSpec) (any, error) {
	phase, _, exit, err := host.Inspect(f.dir)
	if err != nil {
		return nil, err
	}
	// A host that ended has ended its agent's processes. After a lost host, the
	// worker must do that.
	if phase == host.PhaseLost {
		if err := host.Kill(ctx, f.dir); err != nil {
			return nil, err
		}
	}
	if _, err := f.drain(ctx, true); err != nil {
		return nil, err
	}
	res := coppice.RunResult{From: f.at.From, Usage: f.at.Usage, Conversation: f.at.Conversation, Lost: phase == host.PhaseLost}
	if exit != nil {
		code := exit.Code
		if exit.Done { // then the exit of its process does not matter
			code, exit.Signal = 0, ""
		}
		if exit.Signal == "" {
			res.Exit = &code
		}
		res.Signal, res.Stopped, res.Dropped, res.Memory = exit.Signal, exit.Stopped, exit.Dropped, exit.Memory
		res.Summary, res.Failure = exit.Outcome.Summary, exit.Outcome.Failure
		if exit.Outcome.Usage != (coppice.Usage{}) { // a host without a driver does not know it
			res.Usage = exit.Outcome.Usage
		}
		if exit.Outcome.Conversation != "" {
			res.Conversation = exit.Outcome.Conversation
		}
		if exit.Error != "" && res.Failure == nil {
			res.Failure = coppice.Failf(coppice.ClassEnvironment, exit.Error, "")
		}
	}
	if err := w.shown(ctx, f, spec, &res); err != nil {
		return nil, err
	}
	return res, nil
}

// saveMessage returns the message of the commit of what an agent left
// uncommitted.
func saveMessage(spec coppice.RunSpec) string {
	return fmt.Sprintf("%s\n\nCoppice-Task: %s\nCoppice-Session: %s\n", spec.Title, spec.Task, spec.Session.Key)
}

// cannots has the errors, by kind of message, if an agent does not support the
// kind.
var cannots = map[string]string{
	coppice.MessageInterrupt: "this agent cannot be interrupted",
	coppice.MessageModel:     "this agent cannot change its model during a session",
}

// bringImages copies images to a session's directory, where its host reads them.
func (w *Worker) bringImages(ctx context.Context, dir string, ids []string) error {
	for _, id := range ids {
		data, err := w.cfg.Ledger.Image(ctx, id)
		if err != nil {
			return err
		}
		if err := host.AddImage(dir, id, data); err != nil {
			return err
		}
	}
	return nil
}

// send sends a message to a running session.
func (w *Worker) send(ctx context.Context, s coppice.SendSpec) (coppice.SendResult, error) {
	c, why, err := w.dial(ctx, s.Session)
	if err != nil || c == nil {
		return coppice.SendResult{Why: why}, err
	}
	defer c.Close()
	if err := w.bringImages(ctx, c.Dir(), s.Images); err != nil {
		return coppice.SendResult{}, err
	}
	m := host.Message{ID: s.ID, Text: s.Text, Ref: s.Question, Images: s.Images}
	switch s.Kind {
	case coppice.MessageInterrupt:
		err = c.Interrupt(ctx, m)
	case coppice.MessageModel:
		err = c.Model(ctx, s.Text)
	default:
		err = c.Send(ctx, m)
	}
	if err == nil {
		return coppice.SendResult{Delivered: true}, nil
	}
	if ctx.Err() != nil {
		return coppice.SendResult{}, err
	}
	why = err.Error()
	if errors.Is(err, agent.ErrCannot) {
		if why = cannots[s.Kind]; why == "" {
			why = "this agent reads no messages while it works; the next session gets it"
		}
	}
	return coppice.SendResult{Why: why}, nil
}

// stop ends a running session in bounded steps. A session that does not run is
// not an error: its run reports the end.
func (w *Worker) stop(ctx context.Context, s coppice.StopSpec) (coppice.StopResult, error) {
	if s.Preview != 0 {
		return coppice.StopResult{}, w.endPreviews(ctx, s.Task, fmt.Sprint(s.Preview))
	}
	c, _, err := w.dial(ctx, s.Session)
	if err != nil || c == nil {
		return coppice.StopResult{}, err
	}
	defer c.Close()
	err = c.Stop(ctx, s.Grace.D())
	if errors.Is(err, host.ErrGone) {
		err = nil
	}
	return coppice.StopResult{}, err
}

// dial connects to a session's host. A nil client means that there is none; the
// string says why.
func (w *Worker) dial(ctx context.Context, key string) (*host.Client, string, error) {
	id, err := w.cfg.Ledger.Session(ctx, key)
	if err != nil {
		return nil, "", err
	}
	phase, _, _, err := host.Inspect(w.sessionDir(id))
	if err != nil || phase != host.PhaseRunning {
		return nil, "the session is not running", err
	}
	c, err := host.Dial(ctx, w.sessionDir(id))
	if errors.Is(err, host.ErrGone) {
		return nil, "the session is not running", nil
	}
	return c, "", err
}
