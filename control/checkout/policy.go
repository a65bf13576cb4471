package checkout

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"coppice"
	"coppice/config"
)

// policyProject is a project whose coppice.yaml and prompts are watched: an
// edit is in force a moment after it was made.
type policyProject struct {
	project   coppice.Project
	names     map[string]bool // paths whose events matter
	due       time.Time       // when they are read: once they have been left alone for a moment
	problem   string          // why what they say now is not in force
	unwatched string          // why edits are not noticed

	print string // of the files when they were last read
	seq   int64  // the newest event before that
}

// Use finds the project that a directory belongs to, or adds it. Of a known one
// it takes over what a person edited, as following its files does a moment
// later; what is wrong with it is an error.
func (s *Follower) Use(ctx context.Context, dir string) (coppice.Project, error) {
	root, err := s.spaces.Root(ctx, dir)
	if err != nil {
		return coppice.Project{}, err
	}
	known, err := s.projectAt(ctx, root)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		p, _, err := s.Add(ctx, dir)
		return p, err
	}
	if err != nil {
		return coppice.Project{}, err
	}
	if _, err := reinspect(ctx, s.spaces, known); err != nil {
		return known, err
	}
	if err := s.rereadPolicy(ctx, known.ID); err != nil {
		return known, err
	}
	return s.projectAt(ctx, root)
}

// watchPolicy watches the folders around a project's policy.
func (s *Follower) watchPolicy(p *policyProject) {
	root := filepath.Clean(p.project.Path)
	prompts := filepath.Join(root, filepath.FromSlash(config.PromptDir))
	p.names = map[string]bool{filepath.Join(root, config.File): true, filepath.Dir(prompts): true, prompts: true}
	p.unwatched = ""
	for _, dir := range []string{root, filepath.Dir(prompts), prompts} {
		if err := s.watcher.Add(dir); err != nil && !missing(err) {
			p.unwatched = fmt.Sprintf("%s: edits are not noticed: %v; say `coppice project add` after one", config.File, err)
			s.log.Error("a policy cannot be watched", "project", p.project.Prefix, "folder", dir, "error", err)
		}
	}
}

// concerns reports whether something that happened may have changed the policy.
func (p *policyProject) concerns(name string) bool {
	return p.names[name] || p.names[filepath.Dir(name)] && filepath.Base(filepath.Dir(name)) == filepath.Base(config.PromptDir)
}

// reread reads a project's policy and brings it into force. What is wrong with
// it is reported, and the last good one stays.
func (s *Follower) reread(ctx context.Context, p *policyProject) {
	p.due = time.Time{}
	s.watchPolicy(p) // a folder may be another one now
	now, err := s.position(ctx)
	if err != nil {
		s.log.Error("the log cannot be read", "error", err)
	}
	print := policyPrint(p.project.Path)
	p.problem = s.takeOver(ctx, p)
	if p.print = print; err == nil {
		p.seq = now
	}
	s.warnPolicy(ctx, p)
}

const stays = "until that is mended the policy before this edit stays in force"

// takeOver brings what a checkout says into force, or says why not. What waits
// for a person becomes a need of the project.
func (s *Follower) takeOver(ctx context.Context, p *policyProject) string {
	known, err := s.project(ctx, p.project.ID)
	if err != nil {
		return explain(err)
	}
	found, err := reinspect(ctx, s.spaces, known)
	if err != nil {
		if ctx.Err() != nil {
			return ""
		}
		return explain(err) + "; " + stays
	}
	if found.Path != known.Path {
		return "" // another repository has taken its place, which nobody asked for
	}
	s.judgeBase(ctx, known, found.BaseCommit)
	if samePolicy(known.Policy, found.Policy) {
		s.endNeed(ctx, known, coppice.NeedPolicy, "the files say again what is in force")
		return ""
	}
	for _, problem := range found.Policy.Problems {
		if !slices.Contains(known.Policy.Problems, problem) {
			return problem + "; " + stays
		}
	}
	if !written(known.Path) && !samePolicy(bare(known.Policy), bare(found.Policy)) {
		return fmt.Sprintf("%s is gone or empty: the policy it had stays in force. Write it again, or say `coppice project add` to go on with the defaults", config.File)
	}
	by, err := s.changedBy(ctx, known)
	if err != nil {
		s.log.Warn("who changed a policy cannot be told", "project", known.Prefix, "error", err)
		by = "by something that cannot be told"
	}
	if by != "" {
		s.need(ctx, known, policyNeed(known.Policy, found.Policy, config.Parts(), by))
		return ""
	}
	held, differ := known.Policy.Hold(found.Policy)
	waits := len(differ) > 0 && (known.Need(coppice.NeedPolicy) != nil || s.ran(ctx, known.ID, p.seq))
	if waits {
		s.need(ctx, known, policyNeed(known.Policy, found.Policy, differ, "while a session of the project ran"))
		found.Policy = held
	}
	if !samePolicy(known.Policy, found.Policy) {
		if _, err := s.intake.ChangePolicy(ctx, found); err != nil && ctx.Err() == nil {
			return explain(err) + "; " + stays
		}
	}
	if !waits {
		s.endNeed(ctx, known, coppice.NeedPolicy, "what waited is no longer there")
	}
	return ""
}

func samePolicy(a, b coppice.Policy) bool { return bytes.Equal(coppice.Raw(a), coppice.Raw(b)) }

// bare is a policy without what stands beside coppice.yaml.
func bare(p coppice.Policy) coppice.Policy {
	p.Prompts, p.Problems = nil, nil
	return p
}

// written reports whether there is a coppice.yaml with something in it.
func written(root string) bool {
	b, err := os.ReadFile(filepath.Join(root, config.File))
	return err == nil && len(bytes.TrimSpace(b)) > 0
}

// changedBy says what changed a project's policy when it was not a person's edit
// of it: another branch that was checked out, or a landing. What agents land is
// not what they are held to until a person says so: it could weaken the checks
// of all that follows.
func (s *Follower) changedBy(ctx context.Context, p coppice.Project) (string, error) {
	from, err := s.spaces.OriginOf(ctx, p.Path, config.Files())
	switch {
	case err != nil || from.Edited: // somebody is at it, in the checkout itself
		return "", err
	case from.Branch != p.Policy.Base:
		return fmt.Sprintf("by leaving %s", p.Policy.Base), nil
	case from.Task != "":
		return "by " + from.Task, nil
	case from.Commit != "" && p.Policy.Land.Strategy == coppice.StrategyRebase:
		return "by commit " + from.Commit[:min(10, len(from.Commit))], nil // of a person or an agent: a rebased commit does not tell
	}
	return "", nil
}

// warnPolicy makes known what is wrong with a project besides its features file:
// its policy, and tracks that pause until a person has fixed something.
func (s *Follower) warnPolicy(ctx context.Context, p *policyProject) {
	var list []string
	for _, w := range []string{p.problem, p.unwatched} {
		if w != "" {
			list = append(list, w)
		}
	}
	for _, track := range slices.Sorted(maps.Keys(p.project.PausedTracks)) {
		list = append(list, fmt.Sprintf("track %s is paused: %s. Mend that, then say `coppice project resume %s --track %s`",
			track, p.project.PausedTracks[track], p.project.Prefix, track))
	}
	s.warn(ctx, p.project, fromPolicy, list)
}
