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

// policyProject is a project whose coppice.yaml, prompts and context files are
// watched: an edit takes effect a moment later.
type policyProject struct {
	project   coppice.Project
	names     map[string]bool // paths whose events matter
	folders   map[string]bool // folders in which every file matters
	due       time.Time       // when they are read: after a moment without changes
	problem   string          // why their current text is not in effect
	unwatched string          // why Coppice does not see edits

	print string // of the files when they were last read
	seq   int64  // the newest event before that
}

// Use finds the project of a directory, or adds it. For a known one it applies
// a person's edits, as the follower does a moment later. A problem with them is
// an error.
func (s *Follower) Use(ctx context.Context, dir string) (coppice.Project, error) {
	root, err := s.spaces.Root(ctx, dir)
	if err != nil {
		return coppice.Project{}, err
	}
	known, err := s.projectAt(ctx, root)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		p, _, err := s.Add(ctx, dir, "")
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
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	prompts, texts := at(config.PromptDir), at(config.ContextDir)
	p.names = map[string]bool{at(config.File): true, at(config.ProjectFile): true, at(config.ConventionsFile): true, filepath.Dir(prompts): true, prompts: true, texts: true}
	p.folders = map[string]bool{prompts: true, texts: true}
	p.unwatched = ""
	for _, dir := range []string{root, filepath.Dir(prompts), prompts, texts} {
		if err := s.watcher.Add(dir); err != nil && !missing(err) {
			p.unwatched = fmt.Sprintf("%s: Coppice does not see edits: %v; run `coppice project add` after each edit", config.File, err)
			s.log.Error("a policy cannot be watched", "project", p.project.Prefix, "folder", dir, "error", err)
		}
	}
}

// concerns reports whether an event might have changed the policy.
func (p *policyProject) concerns(name string) bool {
	return p.names[name] || p.folders[filepath.Dir(name)]
}

// reread reads a project's policy and applies it. A problem is reported, and
// the last valid policy stays.
func (s *Follower) reread(ctx context.Context, p *policyProject) {
	p.due = time.Time{}
	s.watchPolicy(p) // a folder might have been replaced
	now, err := s.position(ctx)
	if err != nil {
		s.log.Error("the log cannot be read", "error", err)
	}
	print := policyPrint(p.project.Path)
	p.problem = s.applyPolicy(ctx, p)
	if p.print = print; err == nil {
		p.seq = now
	}
	s.warnPolicy(ctx, p)
}

const stays = "until that is fixed, the policy before this edit stays in effect"

// applyPolicy applies the policy of a checkout, or returns why not. A change that
// waits for a person becomes a need of the project.
func (s *Follower) applyPolicy(ctx context.Context, p *policyProject) string {
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
		return "" // another repository is in its place
	}
	s.judgeBase(ctx, known, found.BaseCommit)
	if samePolicy(known.Policy, found.Policy) {
		s.endNeed(ctx, known, coppice.NeedPolicy, "the files match the current policy again")
		return ""
	}
	for _, problem := range found.Policy.Problems {
		if !slices.Contains(known.Policy.Problems, problem) {
			return problem + "; " + stays
		}
	}
	if !written(known.Path) && !samePolicy(bare(known.Policy), bare(found.Policy)) {
		return fmt.Sprintf("%s is missing or empty: its last policy stays in effect. Write it again, or run `coppice project add` to use the defaults", config.File)
	}
	by, err := s.changedBy(ctx, known)
	if err != nil {
		s.log.Warn("the author of a policy change cannot be determined", "project", known.Prefix, "error", err)
		by = "by an unknown author"
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
		s.endNeed(ctx, known, coppice.NeedPolicy, "the change is no longer in the files")
	}
	return ""
}

func samePolicy(a, b coppice.Policy) bool { return bytes.Equal(coppice.Raw(a), coppice.Raw(b)) }

// bare returns a policy without the files next to coppice.yaml.
func bare(p coppice.Policy) coppice.Policy {
	p.Prompts, p.Context, p.Problems = nil, nil, nil
	return p
}

// written reports whether coppice.yaml exists and is not empty.
func written(root string) bool {
	b, err := os.ReadFile(filepath.Join(root, config.File))
	return err == nil && len(bytes.TrimSpace(b)) > 0
}

// changedBy returns what changed a project's policy if it was not a person's
// edit: another branch that was checked out, or a landing. Policies that agents
// land need a person's confirmation, because they could weaken the checks of
// everything that follows.
func (s *Follower) changedBy(ctx context.Context, p coppice.Project) (string, error) {
	from, err := s.spaces.OriginOf(ctx, p.Path, config.Files(p.Path))
	switch {
	case err != nil || from.Edited: // a person edited the checkout itself
		return "", err
	case from.Branch != p.Policy.Base:
		return fmt.Sprintf("by leaving %s", p.Policy.Base), nil
	case from.Task != "":
		return "by " + from.Task, nil
	case from.Commit != "" && p.Policy.Land.Strategy == coppice.StrategyRebase:
		return "by commit " + from.Commit[:min(10, len(from.Commit))], nil // by a person or an agent: a rebased commit does not show which
	}
	return "", nil
}

// warnPolicy publishes the problems of a project other than its features file:
// its policy, and tracks that are paused until a person has fixed something.
func (s *Follower) warnPolicy(ctx context.Context, p *policyProject) {
	var list []string
	for _, w := range []string{p.problem, p.unwatched} {
		if w != "" {
			list = append(list, w)
		}
	}
	for _, track := range slices.Sorted(maps.Keys(p.project.PausedTracks)) {
		list = append(list, fmt.Sprintf("track %s is paused: %s. Fix that, then run `coppice project resume %s --track %s`",
			track, p.project.PausedTracks[track], p.project.Prefix, track))
	}
	s.warn(ctx, p.project, fromPolicy, list)
}
