package agent

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// wrapper is a program that runs the program after it.
type wrapper struct {
	takes string // options with a value
	skip  int    // arguments before the program
	sub   []string
	chdir string // the option that changes the directory
}

// wrapping returns programs that run others.
func wrapping() map[string]wrapper {
	return map[string]wrapper{
		"env": {takes: "-u -C -S --unset --chdir", chdir: "-C"}, "sudo": {takes: "-u -g -h -p -C -D -U", chdir: "-D"}, "doas": {takes: "-u -C"},
		"nice": {takes: "-n --adjustment"}, "ionice": {takes: "-c -n -p"}, "time": {takes: "-f -o"}, "timeout": {takes: "-s -k --signal --kill-after", skip: 1},
		"nohup": {}, "setsid": {}, "stdbuf": {takes: "-i -o -e"}, "command": {}, "builtin": {}, "exec": {takes: "-a"}, "unbuffer": {}, "chronic": {},
		"flock": {takes: "-w -E -c", skip: 1}, "taskset": {skip: 1}, "strace": {takes: "-e -o -p -s"}, "busybox": {}, "toybox": {}, "watch": {takes: "-n"},
		"xvfb-run": {takes: "-n -s"}, "caffeinate": {}, "direnv": {sub: []string{"exec"}, skip: 1}, "chroot": {skip: 1}, "script": {takes: "-c"},
		"npx": {takes: "-p --package -c"}, "bunx": {}, "uvx": {takes: "--from --with"}, "pipx": {sub: []string{"run"}}, "pdm": {sub: []string{"run"}}, "hatch": {sub: []string{"run"}},
		"pipenv": {sub: []string{"run"}}, "mise": {sub: []string{"exec", "x"}}, "corepack": {}, "rustup": {sub: []string{"run"}, skip: 1},
	}
}

var variableRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`) })

func (w wrapper) run(c *invocation) {
	args := c.args
	if len(w.sub) > 0 {
		if len(args) == 0 || !slices.Contains(w.sub, args[0].start()) {
			return
		}
		args = args[1:]
	}
	takes := strings.Fields(w.takes)
	var dir arg
	skip := w.skip
	for len(args) > 0 {
		text := args[0].start()
		switch {
		case text == "--":
		case slices.Contains(takes, text):
			if len(args) > 1 {
				switch text {
				case w.chdir, "--chdir":
					dir = args[1]
				case "-S", "-c": // a whole line
					c.script(args[1:])
				}
			}
			args = args[1:]
		case strings.HasPrefix(text, "--chdir="):
			dir = arg{{text: strings.TrimPrefix(text, "--chdir="), open: args[0][0].open}}
		case len(text) > 1 && text[0] == '-' || variableRE().MatchString(text):
		case skip > 0:
			skip--
		default:
			if i := strings.LastIndexByte(text, '@'); i > 0 && strings.HasSuffix(c.name, "x") { // npx prettier@3
				args[0] = arg{{text: text[:i]}}
			}
			c.within(dir, func() { c.changeRun.run(args, c.in) })
			return
		}
		args = from(args, 1)
	}
}

// formatter is a program that rewrites files under some conditions.
type formatter struct {
	sub     []string // the first operand, if there are several modes
	need    []string // one of these options makes it write; none means that it writes
	unless  []string // each of these options prevents it
	takes   string
	nothing bool // without operands it reads stdin; otherwise it formats everything here
}

func formatters() map[string]formatter {
	return map[string]formatter{
		"gofmt": {need: []string{"-w"}, takes: "-r", nothing: true}, "goimports": {need: []string{"-w"}, takes: "-local", nothing: true},
		"gofumpt": {need: []string{"-w"}, nothing: true}, "gci": {sub: []string{"write"}, takes: "-s"}, "golines": {need: []string{"-w"}, takes: "-m -t", nothing: true},
		"golangci-lint": {sub: []string{"fmt", "run"}, need: []string{"--fix", "fmt"}, unless: []string{"--diff"}, takes: "-c --config -E"},
		"prettier":      {need: []string{"--write", "-w"}, takes: "--config --ignore-path --parser", nothing: true},
		"eslint":        {need: []string{"--fix"}, takes: "-c --config --ext --rule -f --format"}, "stylelint": {need: []string{"--fix"}, takes: "--config"},
		"tslint": {need: []string{"--fix"}}, "standard": {need: []string{"--fix"}}, "xo": {need: []string{"--fix"}}, "markdownlint": {need: []string{"--fix", "-f"}}, "oxlint": {need: []string{"--fix"}},
		"biome": {sub: []string{"format", "check", "lint", "migrate"}, need: []string{"--write", "--fix", "--apply", "--apply-unsafe", "--unsafe"}}, "dprint": {sub: []string{"fmt"}},
		"black": {unless: []string{"--check", "--diff", "-c", "--code"}, takes: "-l --line-length -t --target-version --config", nothing: true},
		"isort": {unless: []string{"--check", "--check-only", "-c", "--diff", "-d"}, takes: "--profile --settings-path", nothing: true},
		"ruff":  {sub: []string{"format", "check"}, need: []string{"--fix", "format", "--fix-only", "--unsafe-fixes"}, unless: []string{"--diff", "--check"}, takes: "--config --select --ignore"},
		"yapf":  {need: []string{"-i", "--in-place"}}, "autopep8": {need: []string{"-i", "--in-place"}}, "autoflake": {need: []string{"-i", "--in-place"}}, "pyupgrade": {nothing: true},
		"rustfmt": {unless: []string{"--check"}, takes: "--edition --config", nothing: true}, "clang-format": {need: []string{"-i"}, takes: "--style", nothing: true},
		"shfmt": {need: []string{"-w"}, takes: "-i -ln", nothing: true}, "stylua": {unless: []string{"--check"}}, "taplo": {sub: []string{"fmt", "format"}, unless: []string{"--check"}},
		"terraform": {sub: []string{"fmt"}, unless: []string{"-check"}}, "tofu": {sub: []string{"fmt"}, unless: []string{"-check"}}, "buf": {sub: []string{"format"}, need: []string{"-w", "--write"}},
		"rubocop": {need: []string{"-a", "-A", "-x", "--autocorrect", "--autocorrect-all"}}, "phpcbf": {}, "php-cs-fixer": {sub: []string{"fix"}, unless: []string{"--dry-run"}},
		"ktlint": {need: []string{"-F", "--format"}}, "swiftformat": {unless: []string{"--lint"}}, "dart": {sub: []string{"format", "fix"}, unless: []string{"--dry-run"}},
		"mix": {sub: []string{"format"}, unless: []string{"--check-formatted"}}, "zig": {sub: []string{"fmt"}, unless: []string{"--check"}}, "dotnet": {sub: []string{"format"}, unless: []string{"--verify-no-changes"}},
		"sqlfluff": {sub: []string{"fix", "format"}}, "nixfmt": {nothing: true}, "pre-commit": {sub: []string{"run"}}, "codespell": {need: []string{"-w"}}, "sqlc": {sub: []string{"generate"}},
		"protoc": {}, "stringer": {}, "mockgen": {},
	}
}

func (f formatter) run(c *invocation) {
	o := c.options(f.takes)
	rest := o.rest
	mode := ""
	if len(f.sub) > 0 {
		if len(rest) == 0 || !slices.Contains(f.sub, rest[0].start()) {
			return
		}
		mode, rest = rest[0].start(), rest[1:]
	}
	if o.has(f.unless...) || len(f.need) > 0 && !o.has(f.need...) && !slices.Contains(f.need, mode) {
		return
	}
	switch {
	case len(rest) > 0:
		c.packages(rest)
	case !f.nothing:
		c.here()
	}
}

// packages records files, directories and patterns such as ./... of Go.
func (c *invocation) packages(all []arg) {
	for _, a := range all {
		for _, v := range a {
			if dir, ok := strings.CutSuffix(v.text, "..."); ok && !v.open {
				v = value{text: strings.TrimSuffix(dir, "/")}
				if dir == "" || dir == "./" {
					v.text = "."
				}
			}
			c.changed(arg{v}, true)
		}
	}
}

// manager is a package manager that rewrites its own files.
type manager struct {
	subs  string   // that do
	files []string // which
	runs  string   // subs that run a script of the project, by its name
	execs string   // subs that run a program
	bare  bool     // without a sub, it installs
}

func managers() map[string]manager {
	return map[string]manager{
		"npm": {
			subs: "install i add uninstall remove rm un update up upgrade dedupe audit version init pkg shrinkwrap set-script", runs: "run run-script rum",
			execs: "exec x", files: []string{"package.json", "package-lock.json"},
		},
		"pnpm": {
			subs: "install i add remove rm uninstall un update up upgrade dedupe import version init patch-commit", runs: "run", execs: "exec dlx",
			files: []string{"package.json", "pnpm-lock.yaml"},
		},
		"yarn": {subs: "install add remove up upgrade set import dedupe version init", runs: "run", execs: "exec dlx", files: []string{"package.json", "yarn.lock"}, bare: true},
		"bun":  {subs: "install i add remove rm update link", runs: "run", execs: "x", files: []string{"package.json", "bun.lock", "bun.lockb"}},

		"poetry": {subs: "add remove update lock install init version", execs: "run", files: []string{"pyproject.toml", "poetry.lock"}},
		"uv":     {subs: "add remove lock sync init", execs: "run", files: []string{"pyproject.toml", "uv.lock"}},

		"composer": {subs: "require remove update install init", execs: "exec", files: []string{"composer.json", "composer.lock"}},
		"bundle":   {subs: "install update add remove lock", execs: "exec", files: []string{"Gemfile", "Gemfile.lock"}, bare: true},
		"dep":      {subs: "ensure init", files: []string{"Gopkg.toml", "Gopkg.lock"}},
	}
}

func (m manager) run(c *invocation) {
	o := c.options("-w -F -C --filter --workspace --prefix --cwd --dir")
	if o.has("-g", "--global") {
		return
	}
	dir, _ := o.value("-C", "--prefix", "--cwd", "--dir")
	sub := ""
	if len(o.rest) > 0 {
		sub = o.rest[0].start()
	}
	has := func(list string) bool { return slices.Contains(strings.Fields(list), sub) }
	c.within(dir, func() {
		switch {
		case sub == "" && m.bare, has(m.subs):
			if !o.has("--frozen-lockfile", "--immutable", "--dry-run", "--locked") {
				c.files(m.files...)
			}
		case has(m.execs):
			i := slices.IndexFunc(c.args, func(a arg) bool { return a.start() == sub })
			rest := from(c.args, i+1)
			for len(rest) > 0 && strings.HasPrefix(rest[0].start(), "-") {
				rest = rest[1:]
			}
			c.changeRun.run(rest, c.in)
		case has(m.runs):
			c.named(from(o.rest, 1))
		case m.bare || c.name == "pnpm": // yarn format, yarn prettier --write .
			i := slices.IndexFunc(c.args, func(a arg) bool { return a.start() == sub })
			if programs()[sub] == nil {
				c.named(o.rest)
				return
			}
			c.changeRun.run(from(c.args, max(i, 0)), c.in)
		}
	})
}

// rewrites finds the names of scripts that rewrite files.
var rewrites = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^a-z])(fmt|format|fix|prettier|generate|codegen|gen)([^a-z]|$)`)
})

// named follows scripts of the project. Their names are all that is known.
func (c *invocation) named(scripts []arg) {
	for _, a := range scripts[:min(1, len(scripts))] {
		if text, ok := a.plain(); !ok || rewrites().MatchString(text) && !strings.Contains(text, "check") {
			c.here()
		}
	}
}

// target follows a tool that makes targets of the project.
func target(c *invocation) {
	o := c.options("-C -f -j -o -I --directory --file --jobs")
	if o.has("-n", "--dry-run", "--just-print") {
		return
	}
	dir, _ := o.value("-C", "--directory")
	c.within(dir, func() {
		for _, a := range o.rest {
			c.named([]arg{a})
		}
	})
}

func goTool(c *invocation) {
	o := c.options("-C -o -run -timeout -count -coverprofile -cpuprofile -memprofile -tags -ldflags -mod -p -modfile")
	if len(o.rest) == 0 {
		return
	}
	dir, _ := o.value("-C")
	rest := o.rest[1:]
	c.within(dir, func() {
		switch o.rest[0].start() {
		case "fmt", "fix", "generate":
			if o.has("-n") {
				return
			}
			if c.packages(rest); len(rest) == 0 {
				c.here()
			}
		case "get":
			c.files("go.mod", "go.sum")
		case "mod":
			switch sub := append(rest, nil)[0].start(); sub {
			case "graph", "verify", "why", "download":
			case "vendor":
				c.files("go.mod", "go.sum", "vendor")
			default:
				c.files("go.mod", "go.sum")
			}
		case "work":
			c.files("go.work", "go.work.sum")
		case "build", "test":
			for _, name := range []string{"-o", "-coverprofile", "-cpuprofile", "-memprofile"} {
				c.change(o.values[name], false)
			}
		case "run", "tool":
			for len(rest) > 0 && path.Base(rest[0].start()) != "" {
				name, _, _ := strings.Cut(path.Base(rest[0].start()), "@")
				c.changeRun.run(append([]arg{{{text: name}}}, c.args[slices.IndexFunc(c.args, func(a arg) bool { return a.start() == rest[0].start() })+1:]...), c.in)
				return
			}
		}
	})
}

func cargo(c *invocation) {
	args := c.args
	if len(args) > 0 && strings.HasPrefix(args[0].start(), "+") {
		args = args[1:]
	}
	o := (&invocation{changeRun: c.changeRun, args: args}).options("-p --package --manifest-path --features --target -j")
	switch sub := append(o.rest, nil)[0].start(); sub {
	case "fmt":
		if !o.has("--check") && !slices.ContainsFunc(o.after, func(a arg) bool { return a.start() == "--check" }) {
			c.here()
		}
	case "fix":
		c.here()
	case "clippy":
		if o.has("--fix") {
			c.here()
		}
	case "add", "remove", "rm", "update", "generate-lockfile", "upgrade":
		c.files("Cargo.toml", "Cargo.lock")
	case "new", "init":
		c.here()
	}
}

// findFiles follows find: the files below its starting points.
func findFiles(c *invocation) {
	i := 0
	for i < len(c.args) && strings.HasPrefix(c.args[i].start(), "-") && slices.Contains([]string{"-H", "-L", "-P"}, c.args[i].start()) {
		i++
	}
	var roots []arg
	for ; i < len(c.args) && !strings.HasPrefix(c.args[i].start(), "-") && c.args[i].start() != "(" && c.args[i].start() != "!"; i++ {
		roots = append(roots, c.args[i])
	}
	if len(roots) == 0 {
		roots = []arg{{{text: "."}}}
	}
	var found arg // what {} stands for
	for _, root := range roots {
		for _, v := range root {
			if v.open || v.glob {
				found = append(found, v)
				continue
			}
			found = append(found, value{text: strings.TrimSuffix(v.text, "/") + "/", open: true})
		}
	}
	for ; i < len(c.args); i++ {
		switch c.args[i].start() {
		case "-delete":
			c.change(roots, true)
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			c.change(c.args[min(i+1, len(c.args)):min(i+2, len(c.args))], false)
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(c.args) && c.args[end].start() != ";" && c.args[end].start() != "+" {
				end++
			}
			c.changeRun.run(replaceSlot(c.args[i+1:end], "{}", found), input{})
			i = end
		}
	}
}

// replaceSlot replaces a placeholder in arguments by what it stands for.
func replaceSlot(args []arg, slot string, with arg) []arg {
	var out []arg
	for _, a := range args {
		text := a.start()
		before, _, ok := strings.Cut(text, slot)
		switch {
		case !ok || slot == "":
			out = append(out, a)
		case text == slot:
			out = append(out, with)
		case before != "":
			out = append(out, arg{{text: before, open: true}})
		default: // {}.bak, {}/x
			out = append(out, with)
		}
	}
	return out
}

// withStdin follows programs that run a command with arguments from stdin.
func withStdin(c *invocation) {
	takes := strings.Fields("-n -P -L -d -a -E -s -j --max-args --max-procs --max-lines --delimiter --arg-file --jobs -I --replace")
	slot, args := "", c.args
	if c.name == "parallel" {
		slot = "{}"
	}
	unknown := arg{{open: true}}
	for len(args) > 0 && strings.HasPrefix(args[0].start(), "-") {
		text := args[0].start()
		args = args[1:]
		switch {
		case text == "-I" || text == "--replace":
			slot = "{}"
			if len(args) > 0 {
				slot, args = args[0].start(), args[1:]
			}
		case strings.HasPrefix(text, "-I"):
			slot = text[2:]
		case text == "-i":
			slot = "{}"
		case slices.Contains(takes, text):
			args = from(args, 1)
		}
	}
	if i := slices.IndexFunc(args, func(a arg) bool { return strings.HasPrefix(a.start(), ":::") }); i >= 0 {
		unknown, args = nil, args[:i]
		for _, a := range c.args[slices.IndexFunc(c.args, func(a arg) bool { return strings.HasPrefix(a.start(), ":::") })+1:] {
			unknown = append(unknown, a...)
		}
	}
	if slot != "" && slices.ContainsFunc(args, func(a arg) bool { return strings.Contains(a.start(), slot) }) {
		c.changeRun.run(replaceSlot(args, slot, unknown), input{})
		return
	}
	c.changeRun.run(append(slices.Clone(args), unknown), input{})
}

// fdFiles follows fd, which can run a command for each file.
func fdFiles(c *invocation) {
	i := slices.IndexFunc(c.args, func(a arg) bool { return slices.Contains([]string{"-x", "-X", "--exec", "--exec-batch"}, a.start()) })
	if i < 0 {
		return
	}
	args := replaceSlot(c.args[i+1:], "{}", arg{{open: true}})
	c.changeRun.run(append(args, arg{{open: true}}), input{})
}
