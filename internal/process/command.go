package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Command is a program that Coppice starts for somebody: an agent, an app, a
// check, a set-up command, a browser, a command that prints a secret. It gets its
// own process group, so that it can be ended with all that it started.
type Command struct {
	Argv   []string
	Path   string // of the program; if empty, Argv[0] is looked up in the PATH of this process
	Dir    string
	Env    []string // all of its environment
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Terminal  bool // it leads a session, and Stdin is its terminal
	SameGroup bool // it stays in the process group of this process
	Detached  bool // it leads a session without a terminal, and outlives this process

	Files []*os.File // it also gets these files, from descriptor 3 on

	Cgroup    *Cgroup     // it starts inside, unless the kernel refuses
	Unlimited func(error) // is called if the kernel refused
}

func (c Command) command(group *Cgroup) *exec.Cmd {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	if c.Path != "" {
		cmd = &exec.Cmd{Path: c.Path, Args: c.Argv}
	}
	cmd.WaitDelay = drainTime // for a reader as Stdin
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.SameGroup}
	cmd.ExtraFiles = c.Files
	if c.Detached {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if c.Terminal { // the leader of a session leads a process group, too
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	if group != nil {
		group.Place(cmd.SysProcAttr)
	}
	return cmd
}

// Start starts the command. If the kernel refuses to start it in its cgroup, it
// runs outside of it rather than not at all.
func (c Command) Start() (*exec.Cmd, error) {
	cmd := c.command(c.Cgroup)
	err := cmd.Start()
	if err != nil && c.Cgroup != nil {
		if c.Unlimited != nil {
			c.Unlimited(err)
		}
		cmd = c.command(nil)
		err = cmd.Start()
	}
	return cmd, err
}

// drainTime is how long Run reads the output of processes that left the group.
const drainTime = time.Second

// Run runs the command until it exits or ctx ends, and kills its process group
// then. A state means that it was started. The error is not nil if it could not be
// started, or is the cause if ctx ended.
func (c Command) Run(ctx context.Context) (*os.ProcessState, error) {
	c.SameGroup = false
	var pipes []*pipe
	outputs := []*io.Writer{&c.Stdout, &c.Stderr}
	same := c.Stdout == c.Stderr
	for i, out := range outputs {
		if *out == nil || i == 1 && same {
			continue
		}
		p, err := newPipe(*out)
		if err != nil {
			return nil, drained(err, pipes)
		}
		pipes, *out = append(pipes, p), p.theirs
	}
	if same {
		c.Stderr = c.Stdout
	}
	cmd, err := c.Start()
	for _, p := range pipes {
		p.theirs.Close()
	}
	if err != nil {
		return nil, drained(err, pipes)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // the state says how it ended
	}()
	select {
	case <-exited:
	case <-ctx.Done():
		err = context.Cause(ctx)
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-exited
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the processes that it left behind
	return cmd.ProcessState, drained(err, pipes)
}

// pipe copies the output of a process to a writer.
type pipe struct {
	ours, theirs *os.File
	done         chan struct{}
}

func newPipe(to io.Writer) (*pipe, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &pipe{ours, theirs, make(chan struct{})}
	go func() {
		defer close(p.done)
		_, _ = io.Copy(to, ours) // a process that left the group may hold it open
	}()
	return p, nil
}

// drained waits for the rest of the output, and returns err.
func drained(err error, pipes []*pipe) error {
	for _, p := range pipes {
		p.theirs.Close()
		_ = p.ours.SetReadDeadline(time.Now().Add(drainTime))
		<-p.done
		p.ours.Close()
	}
	return err
}
