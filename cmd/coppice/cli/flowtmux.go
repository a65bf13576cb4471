package cli

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/api"
	"coppice/flow"
)

// mostPanes is how many panes a window of tmux has.
const mostPanes = 5

// userTmux is the value of --tmux that means the person's own tmux.
const userTmux = "default"

// panes shows the steps of a goal in a session of tmux, each in a pane that follows its
// log: the lead on top, its workers below, and further workers in further windows. The
// goal does not depend on it: a person can close it at any time.
type panes struct {
	e      *Env
	tmux   []string // the command line of tmux, up to its own command
	name   string   // of the session of tmux
	opened bool
	closed bool
	lead   string            // the task in the pane on top
	shown  map[string]string // the ids of panes, by task
}

// panesFor finds tmux. The socket is the name for tmux -L, or userTmux.
func (e *Env) panesFor(socket string) (*panes, error) {
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		path, err := exec.LookPath(filepath.Join(dir, "tmux"))
		if err != nil {
			continue
		}
		p := &panes{e: e, tmux: []string{path}, shown: map[string]string{}}
		if socket != userTmux {
			p.tmux = append(p.tmux, "-L", socket)
		}
		return p, nil
	}
	return nil, coppice.Errorf(coppice.EUnavailable, "tmux is not installed").WithFix("install tmux, or leave out --tmux")
}

// run runs a command of tmux and returns what it prints.
func (p *panes) run(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, p.tmux[0], append(slices.Clone(p.tmux[1:]), args...)...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, Clean(text))
	}
	return text, nil
}

// follows returns the arguments that make a new pane follow the log of a task. tmux runs
// it with the environment of its server, which can name another state directory.
func (p *panes) follows(task string) []string {
	return []string{"-e", "COPPICE_STATE=" + p.e.State, "-c", p.e.Dir, "--", p.e.Self, "logs", "-f", task}
}

// show makes the panes match the steps of a goal. If it fails, usually because the
// person closed the session of tmux, it says so and stops.
func (p *panes) show(ctx context.Context, key string, steps []api.FlowStep) {
	if p.closed {
		return
	}
	var err error
	for _, s := range steps {
		works := s.State == "open" && !s.Left && !s.Started.IsZero()
		switch {
		case err != nil:
		case works && !p.opened && flow.IsLead(s.Key):
			err = p.open(ctx, key, s.Task)
		case !p.opened:
		case works && flow.IsLead(s.Key) && s.Task != p.lead:
			err = p.replaceLead(ctx, s.Task)
		case works && p.shown[s.Task] == "":
			err = p.add(ctx, s.Task)
		case !works && s.Task != p.lead && p.shown[s.Task] != "":
			err = p.remove(ctx, s.Task)
		}
	}
	if err != nil && ctx.Err() == nil {
		p.closed = true
		fmt.Fprintf(p.e.Stderr, "tmux shows the goal no longer; the goal continues (%s)\n", line(err.Error()))
	}
}

// open starts the session of tmux with the pane of the lead, and prints how to see it.
func (p *panes) open(ctx context.Context, key, task string) (err error) {
	p.name = "coppice-" + key
	p.lead = task
	args := append([]string{"new-session", "-d", "-P", "-F", "#{pane_id}", "-s", p.name, "-x", "200", "-y", "50"}, p.follows(task)...)
	if p.shown[task], err = p.run(ctx, append(args, ";", "set-option", "-w", "remain-on-exit", "on")...); err != nil {
		return err
	}
	p.opened = true
	_, _ = p.run(ctx, "set-option", "-w", "-t", p.shown[task], "main-pane-height", "50%") // older versions know only rows
	verb := "attach"
	if p.e.Getenv("TMUX") != "" {
		verb = "switch-client"
	}
	words := append([]string{"tmux"}, p.tmux[1:]...)
	fmt.Fprintf(p.e.Stderr, "see its agents with: %s %s -t %s\n", strings.Join(words, " "), verb, p.name)
	return nil
}

// replaceLead lets the pane on top follow the lead's next task.
func (p *panes) replaceLead(ctx context.Context, task string) error {
	pane := p.shown[p.lead]
	delete(p.shown, p.lead)
	p.lead, p.shown[task] = task, pane
	_, err := p.run(ctx, append([]string{"respawn-pane", "-k", "-t", pane}, p.follows(task)...)...)
	return err
}

// add adds a pane in the first window that has space, or in a new window.
func (p *panes) add(ctx context.Context, task string) error {
	windows, err := p.windows(ctx)
	if err != nil {
		return err
	}
	for _, w := range windows {
		if w.panes >= mostPanes {
			continue
		}
		if p.shown[task], err = p.run(ctx, append([]string{"split-window", "-d", "-P", "-F", "#{pane_id}", "-t", w.first}, p.follows(task)...)...); err != nil {
			delete(p.shown, task)
			break // it has no space for another pane
		}
		return p.arrange(ctx)
	}
	args := append([]string{"new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=" + p.name + ":"}, p.follows(task)...)
	if p.shown[task], err = p.run(ctx, args...); err != nil {
		return err
	}
	_, err = p.run(ctx, "set-option", "-w", "-t", p.shown[task], "remain-on-exit", "on")
	return err
}

// remove closes the pane of a task.
func (p *panes) remove(ctx context.Context, task string) error {
	pane := p.shown[task]
	delete(p.shown, task)
	_, _ = p.run(ctx, "kill-pane", "-t", pane) // the person might have closed it
	return p.arrange(ctx)
}

// arrange gives all panes their places: the lead on top, and workers side by side.
func (p *panes) arrange(ctx context.Context) error {
	windows, err := p.windows(ctx)
	for _, w := range windows {
		layout := "tiled"
		if w.first == p.shown[p.lead] {
			layout = "main-horizontal"
		}
		if err == nil {
			_, err = p.run(ctx, "select-layout", "-t", w.first, layout)
		}
	}
	return err
}

// tmuxWindow is a window of the session: its first pane, and how many it has.
type tmuxWindow struct {
	first string
	panes int
}

func (p *panes) windows(ctx context.Context) (all []tmuxWindow, err error) {
	out, err := p.run(ctx, "list-panes", "-s", "-t", "="+p.name+":", "-F", "#{window_id} #{pane_id}")
	id := ""
	for row := range strings.Lines(out) {
		window, pane, _ := strings.Cut(strings.TrimSpace(row), " ")
		if window != id {
			id, all = window, append(all, tmuxWindow{first: pane})
		}
		all[len(all)-1].panes++
	}
	return all, err
}

// close ends the session of tmux.
func (p *panes) close(ctx context.Context) {
	if p.opened && !p.closed {
		_, _ = p.run(ctx, "kill-session", "-t", "="+p.name) // the person might have closed it
	}
}
