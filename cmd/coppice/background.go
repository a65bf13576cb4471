package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coppice"
	"coppice/api/client"
	"coppice/config"
	"coppice/internal/clock"
	"coppice/internal/filelock"
	"coppice/internal/process"
)

const (
	serverLog   = "server.log"    // of a server in the background, in the state directory
	startLock   = "start.lock"    // held while a server is started in the background
	detachedArg = "in-background" // the flag of the process that runs in the background
	readyFile   = 3               // where that process reports that it serves, or why not
)

// answerWait is how long a running server can take to answer.
const answerWait = 5 * time.Second

// startWait is how long another server, which has the state open, can take to
// serve.
const startWait = 30 * time.Second

// startReport is what a server in the background reports when it serves, or
// cannot.
type startReport struct {
	URL   string       `json:"url,omitempty"`
	Code  coppice.Code `json:"code,omitempty"`
	Cause string       `json:"cause,omitempty"`
	Fix   string       `json:"fix,omitempty"`
}

// running returns the server that answers. The error contains
// client.ErrNoServer if none runs.
func (p *program) running(ctx context.Context) (client.Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWait)
	defer cancel()
	cl := client.New(p.state)
	defer cl.Close()
	e, _, err := client.ReadEndpoint(p.state)
	if err == nil {
		_, err = cl.Version(ctx)
	}
	return e, err
}

// background starts a server in the background with these flags, unless one
// runs, and returns when it serves. Of several processes that do this at the same
// time, one starts the server.
func (p *program) background(ctx context.Context, flags []string) (e client.Endpoint, started bool, err error) {
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		return e, false, coppice.Errorf(coppice.EUnavailable, "the state directory cannot be used: %w", err).
			WithFix("make %s writable, or name another directory with COPPICE_STATE", p.state)
	}
	lock, err := filelock.Wait(ctx, filepath.Join(p.state, startLock))
	if err != nil {
		return e, false, err
	}
	defer filelock.Release(lock)
	if e, err = p.running(ctx); !errors.Is(err, client.ErrNoServer) {
		return e, false, err
	}
	err = p.spawn(ctx, flags)
	if coppice.ErrorCode(err) == coppice.EConflict {
		// Somebody has just started a server. It has the database open and will
		// serve.
		e, err = p.awaitOther(ctx, err)
		return e, false, err
	}
	if err != nil {
		return e, false, err
	}
	e, err = p.running(ctx)
	return e, true, err
}

// startFor starts a server for `coppice new`, if none runs. If the task is for the
// project here, it first checks that there is a repository that works.
func (p *program) startFor(ctx context.Context, here bool) (address string, started bool, err error) {
	if here {
		root, err := p.repository(ctx)
		if err == nil {
			_, _, err = config.Load(root)
		}
		if err != nil {
			return "", false, err
		}
	}
	e, started, err := p.background(ctx, nil)
	return e.URL, started, err
}

// awaitOther waits for a server that another process has started. It returns the
// given error if that server does not serve in time.
func (p *program) awaitOther(ctx context.Context, held error) (client.Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		e, err := p.running(ctx)
		if !errors.Is(err, client.ErrNoServer) {
			return e, err
		}
		if clock.Sleep(ctx, clock.Real(), 20*time.Millisecond) != nil {
			return e, held
		}
	}
}

// spawn starts the process of a server in the background and waits for its
// report.
func (p *program) spawn(ctx context.Context, flags []string) error {
	log := filepath.Join(p.state, serverLog)
	out, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "the server's log cannot be written: %w", err).WithFix("make %s writable", p.state)
	}
	defer out.Close()
	ours, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ours.Close()
	cmd, err := process.Command{
		Argv: append([]string{p.self, "serve", "--" + detachedArg}, flags...), Path: p.self, Dir: p.state,
		Env: append(os.Environ(), "COPPICE_STATE="+p.state), Stdout: out, Stderr: out, Detached: true, Files: []*os.File{theirs},
	}.Start()
	theirs.Close()
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "the server cannot be started: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = ours.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(ours).ReadBytes('\n')
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var r startReport
	if err != nil || json.Unmarshal(line, &r) != nil {
		_ = cmd.Wait() // it has ended, or closed its report without one
		return coppice.Errorf(coppice.EUnavailable, "the server ended before it served").WithFix("see %s", log)
	}
	if r.Cause != "" {
		_ = cmd.Wait() // it ends after this report
		return &coppice.Error{Code: r.Code, Cause: r.Cause, Fix: r.Fix}
	}
	return cmd.Process.Release()
}

// reporter returns how a server in the background reports that it serves, or why
// not. The report can be made one time.
func reporter() (func(url string, err error), error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(readyFile, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil, coppice.Errorf(coppice.EInvalid, "--%s is for the process that coppice serve -d starts", detachedArg).WithFix("run coppice serve -d")
	}
	syscall.CloseOnExec(readyFile)
	f := os.NewFile(readyFile, "report")
	return func(url string, err error) {
		r := startReport{URL: url}
		if err != nil {
			e := coppice.Public(err)
			if r.Code, r.Cause, r.Fix = e.Code, e.Cause, e.Fix; e.Code == coppice.EInternal {
				r.Cause = err.Error() // it is the person's own server
			}
		}
		_ = json.NewEncoder(f).Encode(r) // the starter might be gone
		f.Close()
	}, nil
}

// changedFlags returns the flags that a person has set, except those in without.
func changedFlags(c *cobra.Command, without ...string) (flags []string) {
	skip := map[string]bool{}
	for _, name := range without {
		skip[name] = true
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if skip[f.Name] {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				flags = append(flags, "--"+f.Name+"="+v)
			}
			return
		}
		flags = append(flags, "--"+f.Name+"="+f.Value.String())
	})
	return flags
}

// serveInBackground is `coppice serve -d`.
func (p *program) serveInBackground(ctx context.Context, flags []string, open bool) error {
	e, started, err := p.background(ctx, flags)
	if err != nil {
		return err
	}
	out := p.out(false)
	if started {
		fmt.Fprintf(out, "coppice %s serves %s\nin the background, process %d; log in %s\n", version, e.URL, e.PID, filepath.Join(p.state, serverLog))
	} else {
		fmt.Fprintf(out, "a coppice server already runs: %s, process %d\n", e.URL, e.PID)
		if len(flags) > 0 {
			fmt.Fprintln(out, "The flags were not used. To use them, run coppice serve --stop first.")
		}
	}
	p.showLink(ctx, out, open)
	fmt.Fprintln(out, "To stop it, run: coppice serve --stop. Running agents continue.")
	return nil
}

// showLink prints a link that signs in a browser, or opens it.
func (p *program) showLink(ctx context.Context, out io.Writer, open bool) {
	cl := client.New(p.state)
	defer cl.Close()
	link, err := cl.LoginLink(ctx)
	if err != nil {
		return // the server works without it, and coppice login says what is wrong
	}
	if open {
		if err = p.open(ctx, link.URL); err == nil {
			fmt.Fprintln(out, "The dashboard opens in your browser.")
			return
		}
		fmt.Fprintf(p.env.Stderr, "coppice: %v\n", err)
	}
	fmt.Fprintf(out, "Open this link in a browser. It works one time, within two minutes; coppice login prints another.\n  %s\n", link.URL)
}

// stopServer is `coppice serve --stop`. It waits until the server has stopped.
func (p *program) stopServer(ctx context.Context) error {
	e, err := p.running(ctx)
	out := p.out(false)
	if errors.Is(err, client.ErrNoServer) {
		fmt.Fprintln(out, "no coppice server is running")
		return nil
	}
	if err != nil {
		return err
	}
	// The server has answered with its token, so the process is the server.
	start, err := process.StartTime(e.PID)
	if err == nil {
		err = syscall.Kill(e.PID, syscall.SIGTERM)
	}
	if err != nil {
		return coppice.Errorf(coppice.EUnavailable, "the server, process %d, cannot be stopped: %w", e.PID, err).WithFix("stop it in its terminal with Ctrl-C")
	}
	patience := time.NewTimer(2 * time.Second)
	defer patience.Stop()
	for process.Alive(e.PID, start) {
		select {
		case <-patience.C:
			fmt.Fprintln(out, "waiting until git has finished what it writes")
		default:
		}
		if err := clock.Sleep(ctx, clock.Real(), 20*time.Millisecond); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "The server has stopped. Running agents continue.")
	return nil
}

// maxServerLog is the size from which the log of a server in the background is
// moved to a file with the suffix .1.
const maxServerLog = 4 << 20

// boundedLog writes to a log file that is open for appending, and moves what the
// file has to another one before it grows too large. The file itself stays, because
// the process writes to it in other places, too.
type boundedLog struct {
	mu   sync.Mutex
	f    *os.File
	path string
	most int64
}

func (l *boundedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if info, err := l.f.Stat(); err == nil && info.Size()+int64(len(b)) > l.most {
		if err := l.move(); err != nil {
			return 0, err
		}
	}
	return l.f.Write(b)
}

func (l *boundedLog) move() error {
	from, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(l.path+".1", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(from, 2*l.most))
	return errors.Join(err, to.Close(), l.f.Truncate(0))
}
