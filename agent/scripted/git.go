package scripted

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"coppice"
	"coppice/agent"
)

// exec runs a program in the workspace and returns its output.
func (p *player) exec(ctx context.Context, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	// The children of a command can keep its output open after it has ended.
	cmd.WaitDelay = 2 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		return out.String(), context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.String(), err
}

// git runs git as any agent would, with the scripted agent as the author.
func (p *player) git(ctx context.Context, args ...string) (string, error) {
	who := []string{"git", "-c", "user.name=Scripted", "-c", "user.email=scripted@coppice.invalid", "-c", "commit.gpgsign=false"}
	out, err := p.exec(ctx, append(who, args...)...)
	var x *exec.ExitError
	if errors.As(err, &x) {
		return out, fmt.Errorf("git %s: %s: %w", args[0], strings.TrimSpace(out), err)
	}
	return out, err
}

// run runs a shell command from the script, as a tool call.
func (p *player) run(ctx context.Context, command string) error {
	ref := p.call("run", coppice.ToolRun, map[string]string{"command": command})
	if ok, err := p.may(ctx, ref, "run", coppice.ToolRun, command); !ok {
		return err
	}
	out, err := p.exec(ctx, "sh", "-c", command)
	p.result(ref, out, err == nil)
	if err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(agent.Text([]byte(out))))
	}
	return nil
}

// verdict runs a command for each step and reports the result of each, like a
// verifier.
func (p *player) verdict(ctx context.Context, commands []string) error {
	var lines []string
	for i, command := range commands {
		command = p.fill(command)
		ref := p.call("run", coppice.ToolRun, map[string]string{"command": command})
		out, err := p.exec(ctx, "sh", "-c", command)
		p.result(ref, out, err == nil)
		var x *exec.ExitError
		word := "PASS"
		if errors.As(err, &x) {
			word = "FAIL"
		} else if err != nil {
			return err
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("STEP %d: %s %s", i+1, word, strings.TrimSpace(agent.Text([]byte(out))))))
	}
	p.last = strings.Join(lines, "\n")
	p.emit(coppice.AgentEvent{Kind: coppice.KindText, Text: p.last})
	return nil
}

// commit commits everything. Without changes it does nothing.
func (p *player) commit(ctx context.Context, message string) error {
	ref := p.call("commit", coppice.ToolRun, map[string]string{"message": message})
	err := p.commitAll(ctx, message)
	if err != nil {
		p.result(ref, err.Error(), false)
		return err
	}
	p.result(ref, "ok", true)
	return nil
}

func (p *player) commitAll(ctx context.Context, message string) error {
	if _, err := p.git(ctx, "add", "--all"); err != nil {
		return err
	}
	status, err := p.git(ctx, "status", "--porcelain")
	if err != nil || strings.TrimSpace(status) == "" {
		return err
	}
	_, err = p.git(ctx, "commit", "--quiet", "--message", message)
	return err
}

// merge merges a branch, gives conflicting files the content of the script, and
// commits. If a conflict has no content in the script, the merge is aborted.
func (p *player) merge(ctx context.Context, m Merge) error {
	branch := p.fill(m.Branch)
	if branch == "" {
		branch = p.base()
	}
	if err := coppice.ValidBranch(branch); err != nil {
		return fmt.Errorf("merge: %w: name the branch, or set COPPICE_BASE", err)
	}
	ref := p.call("merge", coppice.ToolRun, map[string]string{"branch": branch})
	if err := p.mergeBranch(ctx, m, branch); err != nil {
		p.result(ref, err.Error(), false)
		return err
	}
	p.result(ref, "ok", true)
	return nil
}

func (p *player) mergeBranch(ctx context.Context, m Merge, branch string) error {
	_, err := p.git(ctx, "merge", "--quiet", "--no-edit", "--no-commit", "--no-ff", "refs/heads/"+branch)
	conflicts, listErr := p.git(ctx, "diff", "--name-only", "-z", "--diff-filter=U")
	if listErr != nil {
		return listErr
	}
	if err != nil && conflicts == "" {
		return err // the merge did not start
	}
	for _, file := range strings.Split(strings.TrimSuffix(conflicts, "\x00"), "\x00") {
		if file == "" {
			continue
		}
		content, ok := m.Resolve[file]
		if !ok {
			_, abortErr := p.git(ctx, "merge", "--abort")
			return errors.Join(fmt.Errorf("%s conflicts and the script has no content for it", file), abortErr)
		}
		write := func(f string) error { return p.root.WriteFile(f, []byte(p.fill(content)), 0o644) }
		if err := p.within(file, true, write); err != nil {
			return err
		}
	}
	message := p.fill(m.Message)
	if message == "" {
		message = "Merge " + branch
	}
	if _, err := p.git(ctx, "add", "--all"); err != nil {
		return err
	}
	// An up-to-date branch leaves nothing to commit. A merge in progress is
	// committed even if its tree did not change.
	if _, err := p.git(ctx, "rev-parse", "--quiet", "--verify", "MERGE_HEAD"); err != nil {
		return p.commitAll(ctx, message)
	}
	_, err = p.git(ctx, "commit", "--quiet", "--message", message)
	return err
}
