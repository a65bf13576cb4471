package setup

import (
	"fmt"
	"slices"
	"strings"

	"coppice/config"
)

// plan is the content of the coppice.yaml to write.
type plan struct {
	base     string
	current  string // the branch that is checked out; empty if none is
	create   bool   // base does not exist yet and will be created
	agent    string
	checks   []string
	link     []string
	copy     []string
	serve    string  // a command; empty for none
	docker   *Docker // a service that can run commands
	inside   bool    // docker runs the commands
	features string  // a file; empty for none
	findings []Finding

	fallback []string
	tracks   []string
	browser  bool
	feature  string // the first one of a new features file; empty for none
	guides   bool
}

// propose makes a plan from the findings. ignored reports whether git ignores a
// path; a folder's path ends with a slash.
func propose(found []Finding, ignored func(path string) bool) plan {
	p := plan{findings: found}
	for _, f := range found {
		if f.Name == "Make" {
			p.checks = f.Checks // the project's own checks replace the others
		}
	}
	for _, f := range found {
		if p.checks == nil || !slices.ContainsFunc(found, isMake) {
			p.checks = append(p.checks, f.Checks...)
		}
		if p.serve == "" {
			p.serve = f.Serve
		}
		if f.Docker != nil && !p.inside {
			p.docker, p.inside = f.Docker, f.Inside
		}
		if p.features == "" {
			p.features = f.Features
		}
		for _, path := range f.Link {
			if ignored(path+"/") && !slices.Contains(p.link, path) {
				p.link = append(p.link, path)
			}
		}
		for _, path := range f.Copy {
			if ignored(path) && !slices.Contains(p.copy, path) {
				p.copy = append(p.copy, path)
			}
		}
	}
	p.checks = unique(p.checks)
	if p.inside {
		p.serve = "" // it cannot be reached from outside
	}
	return p
}

func isMake(f Finding) bool { return f.Name == "Make" }

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// yaml writes the file: decided settings as values, the others as comments.
func (p plan) yaml() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# What Coppice does in this repository. Every key is optional; `coppice config` shows all of them.")
	say("")
	say("# The branch that work lands on. It must exist. If it is checked out, its files follow each landing.")
	setting(&b, "base", config.Scalar(p.base), p.base != "", "ai-develop")
	say("")
	say("# The agent that does the work. A task can name another one.")
	if p.agent != "" {
		say("agent:")
		say("  use: %s", config.Scalar(p.agent))
		if len(p.fallback) > 0 {
			say("  # The agents that take over if it cannot work.")
			list(&b, "  ", "fallback", p.fallback, nil)
		}
	} else {
		say("# agent:")
		say("#   use: my-agent")
	}
	say("")
	say("# A list of tasks in the repository. Coppice reads it again when it changes. See docs/features.md.")
	setting(&b, "features", config.Scalar(p.features), p.features != "", "features.json")
	say("")
	say("# Shell commands that judge the merged tree. All must pass before anything lands.")
	list(&b, "", "checks", p.checks, []string{"make test"})
	say("")
	say("# What a new workspace gets from your checkout.")
	key := "# "
	if len(p.copy)+len(p.link) > 0 || p.serve != "" || p.inside {
		key = ""
	}
	say("%sworkspace:", key)
	say("  # Files it gets a copy of.")
	list(&b, "  ", "copy", p.copy, []string{".env"})
	say("  # Folders it shares with your checkout. Links are never committed.")
	list(&b, "  ", "link", p.link, []string{"node_modules"})
	p.app(&b)
	p.more(&b)
	say("")
	say("# How much runs in parallel.")
	say("# limits:")
	say("#   sessions: 5")
	say("#   memory: 80%%")
	say("")
	say("# How work reaches the base: automatically when its checks pass (queue), or when you run coppice land (branch).")
	say("# land:")
	say("#   how: queue")
	say("#   strategy: squash # or merge, rebase")
	say("#   push: false")
	return b.String()
}

// app writes the settings for where the project's commands and its app run.
func (p plan) app(b *strings.Builder) {
	say := func(mark, format string, args ...any) { fmt.Fprintf(b, "  "+mark+format+"\n", args...) }
	run, mark := p.serve, ""
	if run == "" {
		run, mark = "npm run dev -- --port $COPPICE_PORT", "# "
	}
	say("# ", "The app, served for verifiers on its own port, and the address that answers when it is ready.")
	say(mark, "serve:")
	say(mark, "  run: %s", config.Scalar(run))
	say(mark, "  ready: %s", config.Scalar(ready))
	d, mark := p.docker, ""
	if d == nil {
		d = &Docker{Service: "app", Dir: "/app"}
	}
	if !p.inside {
		mark = "# "
	}
	say("# ", "The compose service in which checks, setup and the app run. It must mount the folder of the workspaces: see docs/features.md.")
	say(mark, "docker:")
	say(mark, "  service: %s", config.Scalar(d.Service))
	say(mark, "  dir: %s", config.Scalar(d.Dir))
}

// setting writes a key with its value, or as a comment with an example.
func setting(b *strings.Builder, key, value string, set bool, example string) {
	if set {
		fmt.Fprintf(b, "%s: %s\n", key, value)
		return
	}
	fmt.Fprintf(b, "# %s: %s\n", key, example)
}

// list writes a list in block style, or as a comment with an example.
func list(b *strings.Builder, indent, key string, values, example []string) {
	mark := indent
	if len(values) == 0 {
		mark, values = indent+"# ", example
	}
	fmt.Fprintf(b, "%s%s:\n", mark, key)
	for _, v := range values {
		fmt.Fprintf(b, "%s  - %s\n", mark, config.Scalar(v))
	}
}
