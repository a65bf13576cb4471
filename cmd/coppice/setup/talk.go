package setup

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"coppice"
)

// talk is the conversation with the person: output and answers. It keeps the
// first error of writing, so that its callers can ignore it.
type talk struct {
	out io.Writer
	in  *bufio.Reader // nil if nobody is asked
	err error
}

func (t *talk) say(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.out, format+"\n", args...)
	}
}

func (t *talk) findings(found []Finding) {
	if len(found) == 0 {
		t.say("Found no build system that Coppice knows.")
		return
	}
	t.say("Found:")
	for _, f := range found {
		t.say("  %-16s %s", f.Name, f.File)
	}
}

// choose asks for what the person can decide.
func (t *talk) choose(p *plan, o Options, branches []string, current string) error {
	p.current = current
	if o.Base != "" {
		if err := p.useBase(o.Base, branches, o.Create); err != nil {
			return err
		}
	}
	if o.Agent != "" {
		if err := coppice.ValidName("agent", o.Agent); err != nil {
			return err
		}
	}
	base := current
	if coppice.ValidBranch(base) != nil {
		base = "" // detached, or a name that Coppice does not accept
	}
	if p.base == "" {
		if base == "" && (o.Yes || t.in == nil) {
			return coppice.Errorf(coppice.EInvalid, "no branch is checked out, so Coppice does not know where work should land").
				WithFix("name the branch with --base, or check one out").WithField("base")
		}
		var err error
		p.base, err = t.ask("Which branch should work land on?", base, func(s string) error { return validBase(s, branches) })
		if err != nil {
			return err
		}
		if err := t.chooseOther(p, branches); err != nil {
			return err
		}
	}
	p.agent = o.Agent
	if p.agent == "" {
		agent := ""
		if len(o.Agents) > 0 {
			agent = o.Agents[0]
		}
		var err error
		p.agent, err = t.ask("Which agent should do the work?"+found(o.Agents), agent, func(s string) error {
			if s == "" {
				return nil // each task names its agent
			}
			return coppice.ValidName("agent", s)
		})
		if err != nil {
			return err
		}
	}
	if len(p.checks) == 0 && t.in != nil {
		check, err := t.ask("Which command checks the work? (empty for none)", "", func(string) error { return nil })
		if err != nil {
			return err
		}
		if check != "" {
			p.checks = []string{check}
		}
	}
	if err := t.chooseApp(p); err != nil {
		return err
	}
	return t.chooseMore(p, o)
}

// chooseOther offers a separate branch if work would land on the branch that is
// checked out.
func (t *talk) chooseOther(p *plan, branches []string) error {
	if t.in == nil || p.base != p.current {
		return nil
	}
	t.say("  %s is checked out here. After each landing the files in this folder follow, as with git merge --ff-only.", p.base)
	t.say("  Coppice never overwrites a file that you changed: a landing that touches it waits until you commit or stash it.")
	t.say("  With a separate branch, nothing changes in this folder until you merge that branch.")
	name, err := t.ask(fmt.Sprintf("Land on a separate branch? A new name is created from %s. (empty for %s)", p.base, p.base), "", func(s string) error {
		if s == "" {
			return nil
		}
		return coppice.ValidBranch(s)
	})
	if err != nil || name == "" {
		return err
	}
	return p.useBase(name, branches, true)
}

// useBase sets the branch that work lands on. It can be a new one.
func (p *plan) useBase(name string, branches []string, create bool) error {
	if err := validBase(name, branches); err != nil && (!create || coppice.ErrorCode(err) != coppice.ENotFound) {
		return err
	}
	p.base, p.create = name, !slices.Contains(branches, name)
	return nil
}

// chooseApp asks how the app runs, and whether to follow the features file.
func (t *talk) chooseApp(p *plan) error {
	if t.in == nil {
		return nil
	}
	anything := func(string) error { return nil }
	if p.docker != nil {
		def := pick(p.inside, "yes", "no")
		answer, err := t.ask(fmt.Sprintf("Run checks and setup in the compose service %s?", p.docker.Service), def, yesOrNo)
		if err != nil {
			return err
		}
		if p.inside = isYes(answer); p.inside {
			p.serve = ""
		}
	}
	if p.serve != "" {
		answer, err := t.ask("How is the app served for verifiers, on $COPPICE_PORT? (- for none)", p.serve, anything)
		if err != nil {
			return err
		}
		if p.serve = answer; answer == "-" {
			p.serve = ""
		}
	}
	if p.features != "" {
		answer, err := t.ask(fmt.Sprintf("Follow %s, and create a task for each feature in it?", p.features), "yes", yesOrNo)
		if err != nil {
			return err
		}
		if !isYes(answer) {
			p.features = ""
		}
	}
	return nil
}

func isYes(s string) bool { return slices.Contains([]string{"y", "yes"}, strings.ToLower(s)) }

func yesOrNo(s string) error {
	if !isYes(s) && !slices.Contains([]string{"n", "no"}, strings.ToLower(s)) {
		return coppice.Errorf(coppice.EInvalid, "%s is neither yes nor no", coppice.Quote(s))
	}
	return nil
}

func found(agents []string) string {
	if len(agents) == 0 {
		return " (none was found on this machine)"
	}
	return " (found: " + strings.Join(agents, ", ") + ")"
}

func validBase(name string, branches []string) error {
	if err := coppice.ValidBranch(name); err != nil {
		return err
	}
	if !slices.Contains(branches, name) {
		return coppice.Errorf(coppice.ENotFound, "there is no branch %s", coppice.Quote(name)).
			WithFix("create it with git branch %s or with --create-base, or name another", name).WithField("base")
	}
	return nil
}

// ask asks until the answer is valid. An empty answer, or the end of the input,
// means the default.
func (t *talk) ask(question, def string, valid func(string) error) (string, error) {
	if t.in == nil {
		return def, valid(def)
	}
	for range 5 {
		hint := ""
		if def != "" {
			hint = " [" + def + "]"
		}
		if t.err == nil {
			_, t.err = fmt.Fprintf(t.out, "%s%s ", question, hint)
		}
		line, err := t.in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("setup: reading the answer: %w", err)
		}
		ended := err != nil
		answer := strings.TrimSpace(line)
		if answer == "" {
			answer = def
		}
		if err = valid(answer); err == nil {
			return answer, nil
		}
		if ended {
			return "", err
		}
		t.say("  %v", err)
	}
	return "", coppice.Errorf(coppice.EInvalid, "there was no valid answer").WithFix("run coppice init again, or pass --base and --agent")
}

// written prints what the file contains and what to do next.
func (t *talk) written(target string, p plan, files []string) {
	t.say("\nWrote %s:", target)
	t.say("  work lands on %s", p.base)
	switch {
	case p.create:
		t.say("    it was created from %s; to get its work, run git merge %s", cmp.Or(p.current, "the current commit"), p.base)
	case p.base == p.current:
		t.say("    it is checked out here: your files follow each landing; a landing that touches files you changed waits for you")
	}
	if p.agent == "" {
		t.say("  no agent is set: name one with each task, or set agent.use")
	} else {
		t.say("  %s does the work", p.agent)
	}
	if len(p.checks) == 0 {
		t.say("  nothing is checked before it lands: add checks when you have some")
	} else {
		t.say("  checked by: %s", strings.Join(p.checks, "; "))
	}
	if len(p.copy) > 0 {
		t.say("  each workspace gets a copy of: %s", strings.Join(p.copy, ", "))
	}
	if len(p.link) > 0 {
		t.say("  each workspace shares: %s", strings.Join(p.link, ", "))
	}
	if p.inside {
		t.say("  commands run in the compose service %s", p.docker.Service)
	} else if p.docker != nil {
		t.say("  commands run on this machine; the compose service %s could run them, see the comments", p.docker.Service)
	}
	if p.serve != "" {
		t.say("  verifiers use the app: %s, at %s", p.serve, ready)
	}
	p.writtenMore(t)
	if p.features != "" {
		t.say("  %s lists features: run coppice project add to start", p.features)
	}
	for _, f := range files {
		t.say("Wrote %s", f)
	}
}

// next prints what to do next.
func (t *talk) next(files []string) {
	t.say("\nNext: read %s, commit %s, then run", strings.Join(files, ", "), pick(len(files) == 1, "it", "them"))
	t.say("  coppice doctor --try           # optional: one short turn of the agent, and each check once")
	t.say("  coppice new \"what should be done\"")
}
