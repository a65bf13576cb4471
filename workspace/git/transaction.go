package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// Transaction is a change of refs that git has prepared: it holds their locks and
// has compared their old values. It must be ended by Commit or Abort. When this
// process dies, git aborts it.
type Transaction struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *capped
	args   []string
}

// Begin prepares a change of refs in dir, by lines of git update-ref --stdin, with
// variables that say who does it. An error means that nothing changed.
func (r *Runner) Begin(ctx context.Context, dir, why string, env []string, lines ...string) (*Transaction, error) {
	args := []string{"update-ref", "-m", why, "--stdin"}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.program, args...)
	cmd.Dir = dir
	cmd.Env = append(append([]string(nil), r.env...), configEnv(append(fixed(), "core.fsync=committed,reference"))...)
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	t := &Transaction{cmd: cmd, args: args, stderr: &capped{limit: 64 << 10}}
	cmd.Stderr = t.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.in, t.out = in, bufio.NewReader(out)
	if err := t.say("start", "start\n"+strings.Join(lines, "\n")+"\n"); err != nil {
		return nil, err
	}
	return t, t.say("prepare", "prepare\n")
}

// say sends commands and waits for the answer to the first of them.
func (t *Transaction) say(what, text string) error {
	_, err := io.WriteString(t.in, text)
	answer, rerr := t.out.ReadString('\n')
	if rerr == nil && answer == what+": ok\n" {
		return nil // a broken pipe shows in the next answer
	}
	_ = t.in.Close()
	werr := t.cmd.Wait()
	exit := -1
	if t.cmd.ProcessState != nil {
		exit = t.cmd.ProcessState.ExitCode()
	}
	return &Error{Args: t.args, Exit: exit, Stderr: t.stderr.String(), Err: errors.Join(werr, err, rerr, fmt.Errorf("no answer to %s", what))}
}

// Commit makes the change. After an error only a look at the refs reports whether it
// happened.
func (t *Transaction) Commit() error {
	if err := t.say("commit", "commit\n"); err != nil {
		return err
	}
	return t.end()
}

// Abort gives the change up.
func (t *Transaction) Abort() error {
	if err := t.say("abort", "abort\n"); err != nil {
		return err
	}
	return t.end()
}

func (t *Transaction) end() error {
	_ = t.in.Close()
	if err := t.cmd.Wait(); err != nil {
		return &Error{Args: t.args, Exit: t.cmd.ProcessState.ExitCode(), Stderr: t.stderr.String(), Err: err}
	}
	return nil
}
