package agent

import (
	"slices"
	"strings"
)

// gitOptions are git's own options that have a value.
const gitOptions = "-c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix"

// git follows a command of git that changes files of the worktree.
func git(c *invocation) {
	args := c.args
	dir := arg{}
	c.apart(func() {
		for len(args) > 0 && strings.HasPrefix(args[0].start(), "-") {
			text := args[0].start()
			switch {
			case text == "-C" && len(args) > 1:
				c.enter(args[1])
				args = args[1:]
			case text == "--work-tree" && len(args) > 1:
				dir, args = args[1], args[1:]
			case strings.HasPrefix(text, "--work-tree="):
				dir = arg{{text: strings.TrimPrefix(text, "--work-tree="), open: args[0][0].open}}
			case slices.Contains(strings.Fields(gitOptions), text) && len(args) > 1:
				args = args[1:]
			}
			args = args[1:]
		}
		if len(dir) > 0 {
			c.enter(dir)
		}
		if len(args) == 0 {
			return
		}
		sub, ok := args[0].plain()
		if !ok {
			c.all()
			return
		}
		if f := programs()["git "+sub]; f != nil {
			f(&invocation{changeRun: c.changeRun, name: sub, args: args[1:], in: c.in})
		}
	})
}

func gitCommands() map[string]program {
	return map[string]program{
		"checkout": gitCheckout, "switch": gitCheckout, "reset": gitReset, "restore": gitRestore, "clean": gitClean, "stash": gitStash,
		"rebase": gitWhole("--show-current-patch", "--quit", "--edit-todo"), "merge": gitWhole("--quit"), "pull": gitWhole("--dry-run"),
		"am": gitWhole("--show-current-patch", "--quit"), "cherry-pick": gitWhole("--quit"), "revert": gitWhole("--quit"), "bisect": gitWhole(),
		"apply": gitWhole("--check", "--stat", "--numstat", "--summary", "--cached"), "read-tree": gitReadTree, "checkout-index": gitWhole(),
		"submodule": gitWhole(), "sparse-checkout": gitWhole(), "filter-branch": gitWhole(), "filter-repo": gitWhole(), "subtree": gitWhole(), "lfs": gitLFS,
		"rm": gitRemove, "mv": move, "clone": gitClone, "worktree": gitWorktree, "archive": output("-o", "--output"), "diff": output("--output"),
		"format-patch": func(c *invocation) {
			dir, _ := c.options("-o --output-directory").value("-o", "--output-directory")
			if !c.options("").has("--stdout") {
				c.within(dir, c.here)
			}
		},
	}
}

// gitTree records that the worktree might change: the repository, or another one
// in which the command runs.
func (c *invocation) gitTree() {
	for _, dir := range c.dirs {
		if _, inside := lockName(c.root, dir.text); inside {
			c.all()
		}
	}
}

// gitWhole returns the command that changes files that it does not name, unless
// it has one of the options.
func gitWhole(unless ...string) program {
	return func(c *invocation) {
		if !c.options("").has(unless...) {
			c.gitTree()
		}
	}
}

// paths records the paths of a command of git. Patterns with a colon can mean
// anything.
func (c *invocation) paths(all []arg) {
	for _, a := range all {
		for _, v := range a {
			if strings.HasPrefix(v.text, ":") {
				c.gitTree()
				return
			}
		}
		c.changed(a, true)
	}
}

func gitCheckout(c *invocation) {
	o := c.options("-b -B -c -C --orphan --create --conflict")
	switch {
	case o.has("--pathspec-from-file"):
		c.gitTree()
	case len(o.after) > 0:
		c.paths(o.after)
	case o.has("--ours", "--theirs") && len(o.rest) > 0:
		c.paths(o.rest)
	case o.has("-b", "-c", "--create") && len(o.rest) == 0: // a branch at the same commit
	default:
		c.gitTree()
	}
}

func gitReset(c *invocation) {
	if c.options("").has("--hard", "--merge", "--keep") {
		c.gitTree()
	}
}

func gitRestore(c *invocation) {
	o := c.options("-s --source --conflict")
	switch {
	case o.has("--staged", "-S") && !o.has("--worktree", "-W"):
	case o.has("--pathspec-from-file") || len(o.rest) == 0:
		c.gitTree()
	default:
		c.paths(o.rest)
	}
}

func gitClean(c *invocation) {
	o := c.options("-e --exclude")
	switch {
	case o.has("-n", "--dry-run"):
	case len(o.rest) > 0:
		c.paths(o.rest)
	default:
		c.here()
	}
}

func gitStash(c *invocation) {
	o := c.options("-m --message")
	sub := "push"
	if len(o.rest) > 0 {
		sub = o.rest[0].start()
	}
	switch {
	case slices.Contains([]string{"list", "show", "drop", "clear", "create", "store"}, sub):
	case sub == "push" && len(o.after) > 0:
		c.paths(o.after)
	default:
		c.gitTree()
	}
}

func gitReadTree(c *invocation) {
	if c.options("").has("-u", "--reset") {
		c.gitTree()
	}
}

func gitLFS(c *invocation) {
	if sub := append(c.args, nil)[0].start(); sub == "pull" || sub == "checkout" || sub == "migrate" {
		c.gitTree()
	}
}

func gitRemove(c *invocation) {
	o := c.options("")
	switch {
	case o.has("--cached", "-n", "--dry-run"):
	case o.has("--pathspec-from-file"):
		c.gitTree()
	default:
		c.paths(o.rest)
	}
}

func gitClone(c *invocation) {
	o := c.options("-b -o -u -j --branch --depth --origin --reference --config -c")
	switch len(o.rest) {
	case 0:
	case 1:
		text, _ := strings.CutSuffix(strings.TrimSuffix(o.rest[0].start(), "/"), ".git")
		c.files(text[strings.LastIndexAny(text, "/:")+1:] + "/")
	default:
		c.changed(o.rest[1], true)
	}
}

func gitWorktree(c *invocation) {
	o := c.options("-b -B --reason")
	switch sub := append(o.rest, nil)[0].start(); sub {
	case "add", "remove":
		c.change(o.rest[1:min(2, len(o.rest))], true)
	case "move":
		c.change(o.rest[1:], true)
	}
}
