package worker

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"coppice"
	"coppice/host"
	"coppice/internal/environ"
	"coppice/workspace"
)

// urlVar is the variable with the address of the served app.
const urlVar = "COPPICE_URL"

// app returns the app that is served for a session, and its address. The session
// might need none.
func (w *Worker) app(spec coppice.RunSpec) (a host.App, address string, err error) {
	if !spec.Serve.Set() {
		return a, "", nil
	}
	if len(spec.Ports) == 0 {
		return a, "", coppice.Failf(coppice.ClassEnvironment, "there is no port to serve the app on", "set workspace.ports to 1 or more")
	}
	a, address = w.served(spec.Serve, spec.Docker, spec.PassEnv, workspace.Env(spec.Task, spec.Path, spec.Branch, spec.Ports), spec.Ports[0])
	return a, address, nil
}

// served returns an app that is served on a port, and its address. The project
// passes variables on, and env names its workspace.
func (w *Worker) served(s coppice.ServePolicy, docker coppice.DockerPolicy, project, env []string, port int) (a host.App, address string) {
	address = appURL(s, port)
	run := workspace.Command(coppice.WorkspacePolicy{Docker: docker}, s.Run)
	return host.App{
		Run: run, Port: port, Ready: s.Ready, Timeout: s.Timeout,
		Env: environ.Map(w.cfg.Workspaces.CommandEnv(project, append(env, urlVar+"="+address))),
	}, address
}

// appURL returns the app's address for a browser: the address that is checked
// for readiness, if it has the port, or else one on loopback.
func appURL(s coppice.ServePolicy, port int) string {
	if u, err := url.Parse(strings.ReplaceAll(s.Ready, "${COPPICE_PORT}", strconv.Itoa(port))); err == nil && u.Port() == strconv.Itoa(port) {
		return u.Scheme + "://" + u.Host + "/"
	}
	return fmt.Sprintf("http://127.0.0.1:%d/", port)
}

// shown adds what the workspace shows after the session: its head, with
// uncommitted changes committed, or what a read-only session changed.
func (w *Worker) shown(ctx context.Context, f *follower, spec coppice.RunSpec, res *coppice.RunResult) error {
	if spec.Checkout {
		var err error
		if res.Head, res.Stat, err = w.cfg.Workspaces.SnapCheckout(ctx, spec.Repo, spec.Session.Key, res.From); err != nil {
			w.cfg.Logger.Warn("what a session changed in a checkout cannot be read", "session", spec.Session.Key, "error", err)
		}
		return nil
	}
	if spec.ReadOnly {
		head, changed, err := w.cfg.Workspaces.Changed(ctx, spec.Path)
		res.Head, res.Changed = head, changed
		return err
	}
	head, _, err := w.cfg.Workspaces.Save(ctx, spec.Path, saveMessage(spec), spec.Identity, nil)
	var fail *coppice.Failure
	if errors.As(err, &fail) {
		if res.Failure == nil {
			res.Failure = fail
		}
		err = nil
	}
	if err == nil {
		err = f.publish(ctx, spec, head)
	}
	if err != nil {
		return err
	}
	res.Head = head
	if res.Stat, err = w.cfg.Workspaces.Stat(ctx, spec.Path, res.From, head); err != nil {
		w.cfg.Logger.Warn("summing up what a session changed failed", "session", spec.Session.Key, "error", err)
	}
	if spec.Diff > 0 && (spec.NoErrors || res.Failure != nil || res.Exit == nil || *res.Exit != 0) {
		if res.Diff, err = w.cfg.Workspaces.DiffStart(ctx, spec.Path, res.From, head, spec.Diff); err != nil {
			w.cfg.Logger.Warn("reading what a failed session changed failed", "session", spec.Session.Key, "error", err)
		}
	}
	if res.Strays, err = w.cfg.Workspaces.Strays(ctx, spec.Path); err != nil {
		w.cfg.Logger.Warn("listing the branches of a workspace failed", "session", spec.Session.Key, "error", err)
	}
	return nil
}
