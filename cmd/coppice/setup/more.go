package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coppice"
	"coppice/config"
)

// The files that init offers to write, besides coppice.yaml.
const (
	featuresFile    = "features.json"
	projectFile     = ".coppice/PROJECT.md"
	conventionsFile = ".coppice/CONVENTIONS.md"
)

// guides are the first texts of the instructions for agents. Prompts name the first
// file, which names the second.
var guides = map[string]string{
	projectFile: `# About this project

Agents read this file before they start. Keep it short. How to write code is in
[CONVENTIONS.md](CONVENTIONS.md): read that file, too.

## What it does

## How it is built

## Words

## What not to change
`,
	conventionsFile: `# Conventions

## Style

## Tests

## Commits

## Dependencies
`,
}

// chooseMore asks for what a project can have besides the basics.
func (t *talk) chooseMore(p *plan, o Options) error {
	p.browser, p.feature, p.guides = o.Browser, o.Feature, o.Guides
	for _, f := range []func(*plan, Options) error{t.chooseFallback, t.chooseTracks, t.chooseBrowser, t.chooseFiles} {
		if err := f(p, o); err != nil {
			return err
		}
	}
	if p.feature != "" && p.features != "" {
		return coppice.Errorf(coppice.EConflict, "%s already lists features", p.features).WithFix("add the feature to that file, or leave out --first-feature")
	}
	if p.feature != "" {
		if problem := coppice.LineProblem(p.feature); problem != "" {
			return coppice.Errorf(coppice.EInvalid, "the first feature %s", problem).WithFix("give its name in one line")
		}
		p.features = featuresFile
	}
	return nil
}

// words splits an answer with several names.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func (t *talk) chooseFallback(p *plan, o Options) error {
	valid := func(s string) error {
		for i, name := range words(s) {
			if err := coppice.ValidChoice(name); err != nil {
				return err
			}
			if name == p.agent || slices.Contains(words(s)[:i], name) {
				return coppice.Errorf(coppice.EInvalid, "%s is named twice", coppice.Quote(name)).WithFix("name each agent one time")
			}
		}
		return nil
	}
	given := strings.Join(o.Fallback, ",")
	if given != "" && p.agent == "" {
		return coppice.Errorf(coppice.EInvalid, "a fallback needs a first agent").WithFix("name one with --agent")
	}
	others := slices.DeleteFunc(slices.Clone(o.Agents), func(s string) bool { return s == p.agent })
	question := ""
	if p.agent != "" && len(others) > 0 {
		question = "Which agents take over if " + p.agent + " is limited or fails? (found: " + strings.Join(others, ", ") + "; empty for none)"
	}
	return t.chooseNames(&p.fallback, given, question, valid)
}

// chooseNames takes the names that were given. If there are none, it asks for them.
func (t *talk) chooseNames(into *[]string, given, question string, valid func(string) error) (err error) {
	if given == "" && question != "" && t.in != nil {
		if given, err = t.ask(question, "", valid); err != nil {
			return err
		}
	}
	*into = words(given)
	return valid(given)
}

func (t *talk) chooseTracks(p *plan, o Options) error {
	valid := func(s string) error {
		for i, name := range words(s) {
			if err := coppice.ValidName("track", name); err != nil {
				return err
			}
			if slices.Contains(words(s)[:i], name) {
				return coppice.Errorf(coppice.EInvalid, "the track %s is named twice", coppice.Quote(name)).WithFix("name each track one time")
			}
		}
		return nil
	}
	return t.chooseNames(&p.tracks, strings.Join(o.Tracks, ","), "Which tracks should tasks be in, such as core, docs? Each can have its own limit. (empty for one)", valid)
}

func (t *talk) chooseBrowser(p *plan, o Options) error {
	if o.Browser || t.in == nil || p.serve == "" {
		return nil
	}
	answer, err := t.ask("Should verifiers use a browser? It needs Chromium and Node.js.", "no", yesOrNo)
	p.browser = isYes(answer)
	return err
}

func (t *talk) chooseFiles(p *plan, o Options) error {
	if t.in == nil {
		return nil
	}
	var err error
	if p.feature == "" && p.features == "" {
		if p.feature, err = t.ask("Keep a list of features in "+featuresFile+"? Name the first one. (empty for none)", "", func(string) error { return nil }); err != nil {
			return err
		}
	}
	if !p.guides {
		answer, err := t.ask("Write "+projectFile+" and "+conventionsFile+", with headings for the instructions of agents?", "no", yesOrNo)
		if err != nil {
			return err
		}
		p.guides = isYes(answer)
	}
	return nil
}

// more writes the settings that only some projects have.
func (p plan) more(b *strings.Builder) {
	say := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	if p.guides {
		say("")
		say("# What every session follows.")
		say("instructions: %s", projectFile)
	}
	if len(p.tracks) > 0 {
		say("")
		say("# Groups of tasks with separate limits. A task that names no track is in the default one.")
		say("tracks:")
		for i, name := range p.tracks {
			say("  - name: %s", config.Scalar(name))
			if i == 0 {
				say("    default: true")
			}
		}
	}
	if p.browser {
		say("")
		say("# Verifiers use a browser.")
		say("verify:")
		say("  browser: true")
	}
}

// writtenMore prints the settings that only some projects have.
func (p plan) writtenMore(t *talk) {
	if len(p.fallback) > 0 {
		t.say("  if it cannot work: %s", strings.Join(p.fallback, ", "))
	}
	if len(p.tracks) > 0 {
		t.say("  tracks: %s", strings.Join(p.tracks, ", "))
	}
	if p.browser {
		t.say("  verifiers use a browser")
	}
	if p.guides {
		t.say("  every session follows %s", projectFile)
	}
}

// writeFiles writes the files besides coppice.yaml, and returns those that it wrote.
// A file that exists stays as it is.
func (p plan) writeFiles(root string) (written []string, err error) {
	put := func(name, text string) error {
		target := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		err := write(target, text)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err == nil {
			written = append(written, name)
		}
		return err
	}
	if p.feature != "" {
		text, err := json.MarshalIndent(map[string]any{"features": []any{map[string]any{"id": 1, "name": p.feature, "status": "open"}}}, "", "  ")
		if err != nil {
			return nil, err
		}
		if err := put(featuresFile, string(text)+"\n"); err != nil {
			return nil, unwritten(featuresFile, err)
		}
	}
	if p.guides {
		for _, name := range []string{projectFile, conventionsFile} {
			if err := put(name, guides[name]); err != nil {
				return written, unwritten(name, err)
			}
		}
	}
	return written, nil
}

func unwritten(name string, err error) error {
	return coppice.Errorf(coppice.EUnavailable, "%s was written, but %s cannot be: %w", config.File, name, err).WithFix("write it yourself, or remove it from %s", config.File)
}

// tryChecks runs the checks on the base, if the person wants that.
func (t *talk) tryChecks(ctx context.Context, o Options, p plan) error {
	if o.Try == nil || len(p.checks) == 0 || !o.TryNow && t.in == nil {
		return nil
	}
	if !o.TryNow {
		answer, err := t.ask("\nRun the checks one time on "+p.base+" now? A check that fails there cannot judge any work.", "yes", yesOrNo)
		if err != nil || !isYes(answer) {
			return err
		}
	}
	t.say("  running %s on %s", strings.Join(p.checks, "; "), p.base)
	tried, err := o.Try(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		t.say("  the checks cannot run: %s", causeOf(err))
		return nil
	}
	failed := 0
	for _, c := range tried {
		switch {
		case c.Problem == "":
			t.say("  passed  %s (%s)", c.Command, seconds(c.Took))
		default:
			failed++
			t.say("  FAILED  %s (%s): %s on the untouched %s", c.Command, seconds(c.Took), c.Problem, p.base)
			if c.Line != "" {
				t.say("          %s", firstLine(c.Line))
			}
		}
	}
	if failed > 0 {
		t.say("  Fix them, or remove them from checks in %s: no work can land while they fail.", config.File)
	}
	return nil
}
