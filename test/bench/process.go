package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"coppice/api/client"
	"coppice/host"
)

// process is a program that runs until it is stopped, and that says on a line
// with the word "serves" that it is up.
type process struct {
	cmd    *exec.Cmd
	said   string // the line
	stderr *bytes.Buffer
	began  time.Time
	up     time.Time // when the line was read
}

// launch starts a program and waits for its line.
func (l *lab) launch(ctx context.Context, env []string, args ...string) (*process, error) {
	return l.launchUntil(ctx, env, "serves ", args...)
}

// launchUntil is launch for programs that have another word for it.
func (l *lab) launchUntil(ctx context.Context, env []string, mark string, args ...string) (*process, error) {
	p := &process{cmd: l.command(ctx, l.disk, args...), stderr: &bytes.Buffer{}}
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), mark); ok {
			p.said, p.up = rest, time.Now()
			return p, nil
		}
	}
	err = p.cmd.Wait()
	return nil, fmt.Errorf("%s ended before it was up: %w: %s", args[0], errors.Join(err, context.Cause(ctx)), p.stderr)
}

// stop ends it and waits.
func (p *process) stop() {
	_ = p.cmd.Cancel()
	_ = p.cmd.Wait() // ended by a signal, which is an error by its letter only
}

// server is a separate control process, with a client.
type server struct {
	*process
	state  string
	client *client.Client
}

// state makes a state directory on disk whose worktrees stand with the
// repositories.
func (l *lab) state() (string, error) {
	name := l.name("state")
	state, trees := filepath.Join(l.disk, name), filepath.Join(l.trees, name)
	return state, errors.Join(os.Mkdir(state, 0o700), os.Mkdir(trees, 0o700), os.Symlink(trees, filepath.Join(state, "workspaces")))
}

func (l *lab) serve(ctx context.Context, state string) (*server, error) {
	p, err := l.launch(ctx, append(l.env, "COPPICE_STATE="+state), append([]string{l.program, "serve", "--listen", "127.0.0.1:0"}, l.flags...)...)
	if err != nil {
		return nil, err
	}
	return &server{process: p, state: state, client: client.New(state)}, nil
}

// answering starts a server and waits for its first answer.
func (l *lab) answering(ctx context.Context, state string) (*server, error) {
	srv, err := l.serve(ctx, state)
	if err != nil {
		return nil, err
	}
	if _, err := srv.client.Version(ctx); err != nil {
		srv.stop()
		return nil, err
	}
	return srv, nil
}

// stop ends the server, and the hosts that would outlive it. Their agents
// end with the sockets of their probes.
func (s *server) stop() {
	s.client.Close()
	s.process.stop()
	for _, dir := range s.sessions() {
		endSession(dir)
	}
}

// endSession stops a session that the server left running, and waits for it.
func endSession(dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := host.Dial(ctx, dir)
	if err != nil {
		return // it is over
	}
	defer c.Close()
	_ = c.Stop(ctx, time.Second)
	_ = c.Follow(ctx, func(int64) {}) // returns with its end
}

// sessions lists the directories of its sessions.
func (s *server) sessions() []string {
	dirs, _ := filepath.Glob(filepath.Join(s.state, "sessions", "*")) // the pattern is sound
	return dirs
}

// get asks a URL once.
func get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	t := &http.Transport{DisableKeepAlives: true}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
