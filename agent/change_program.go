package agent

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// program follows one use of a program.
type program func(*invocation)

var (
	programsOnce  sync.Once
	programsTable map[string]program
)

// programs returns the programs that are known to change files, or to run other
// programs. It is made on first use: most sessions need no such table.
func programs() map[string]program {
	programsOnce.Do(func() { programsTable = makePrograms() })
	return programsTable
}

func makePrograms() map[string]program {
	all := map[string]program{
		"cd": changeDir, "pushd": changeDir, "popd": func(c *invocation) { c.dirs = []value{{text: c.root, open: true}} },
		"eval": evaluate, "trap": func(c *invocation) { c.script(c.args) },
		"source": forget, ".": forget, "read": readVars, "mapfile": readVars, "readarray": readVars, "getopts": readVars,
		"printf": func(c *invocation) {
			if o := c.options("-v"); o.has("-v") {
				readVars(c)
			}
		},
		"find": findFiles, "xargs": withStdin, "parallel": withStdin, "fd": fdFiles, "fdfind": fdFiles,
		"git": git, "go": goTool, "cargo": cargo,
		"rm": operands("", "-r", "-R", "--recursive"), "rmdir": operands("", ""), "unlink": operands(""), "shred": operands("-n -s"),
		"touch": operands("-r -d -t --reference --date --time"), "truncate": operands("-s -r --size --reference"), "tee": operands(""),
		"sponge": operands(""), "dos2unix": operands(""), "unix2dos": operands(""), "yq": yq, "hg": otherVCS, "svn": otherVCS, "jj": otherVCS,
		"ed": operands("-p"), "ex": editor, "vi": editor, "vim": editor, "nvim": editor, "nano": operands(""), "emacs": editor,
		"gzip": packed, "gunzip": packed, "bzip2": packed, "bunzip2": packed, "xz": packed, "unxz": packed, "zstd": packed,
		"mv": move, "cp": copyTo, "ln": copyTo, "install": copyTo, "rsync": copyTo, "scp": copyTo,
		"chmod": changeMode, "dd": dd, "patch": patch, "sed": sed, "gsed": sed, "perl": perl, "awk": awk, "gawk": awk, "mawk": awk,
		"tar": tar, "bsdtar": tar, "unzip": unzip, "zip": first,
		"curl": curl, "wget": wget, "sort": output("-o", "--output"), "gcc": output("-o"), "cc": output("-o"), "clang": output("-o"),
		"apply_patch": applyPatch, "applypatch": applyPatch,
		"make": target, "gmake": target, "just": target, "task": target, "rake": target,
	}
	for _, name := range []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"} {
		all[name] = shell
	}
	for _, name := range []string{"python", "python3", "python2", "node", "nodejs", "ruby", "php", "deno", "bun", "lua"} {
		all[name] = interpreter
	}
	for name, w := range wrapping() {
		all[name] = w.run
	}
	for name, f := range formatters() {
		all[name] = f.run
	}
	for name, m := range managers() {
		if all[name] == nil { // one is also an interpreter
			all[name] = m.run
		}
		all[managed+name] = m.run
	}
	for name, p := range gitCommands() {
		all["git "+name] = p
	}
	return all
}

// managed starts the names of package managers in the table.
const managed = "manager "

// operands returns the program that changes all of its operands: with one of the
// options, directories with everything in them.
func operands(takes string, deep ...string) program {
	return func(c *invocation) {
		o := c.options(takes)
		c.change(o.rest, o.has(deep...))
	}
}

// output returns the program that writes the value of an option.
func output(names ...string) program {
	return func(c *invocation) {
		if v, ok := c.options(strings.Join(names, " ")).value(names...); ok {
			c.changed(v, false)
		}
	}
}

func changeDir(c *invocation) {
	rest := c.options("").rest
	switch {
	case len(rest) == 0:
		c.enter(arg{{text: elsewhere}})
	case rest[0].start() == "-":
		c.dirs = []value{{text: c.root, open: true}}
	default:
		c.enter(rest[0])
	}
}

// script follows the first argument as a line of a separate shell.
func (c *invocation) script(args []arg) {
	if len(args) == 0 {
		return
	}
	line, ok := args[0].plain()
	if !ok {
		c.all()
		return
	}
	c.apart(func() { c.line(line) })
}

func evaluate(c *invocation) {
	var words []string
	for _, a := range c.args {
		text, ok := a.plain()
		if !ok {
			c.all()
			return
		}
		words = append(words, text)
	}
	c.line(strings.Join(words, " "))
}

// forget follows a script that runs in the same shell: it can set variables.
func forget(c *invocation) {
	for name := range c.vars {
		c.vars[name] = []value{{open: true}}
	}
}

func readVars(c *invocation) {
	for _, a := range c.args {
		if name, ok := a.plain(); ok {
			c.assign(name, []value{{open: true}})
		}
	}
}

// shell follows a shell that is started by the line.
func shell(c *invocation) {
	for i, a := range c.args {
		text := a.start()
		switch {
		case !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "+"):
			return // a script
		case !strings.HasPrefix(text, "--") && strings.HasSuffix(text, "c"):
			c.script(from(c.args, i+1))
			return
		case text == "-o" || text == "-O":
			return
		}
	}
	switch {
	case c.in.given:
		c.apart(func() { c.line(c.in.text) })
	case c.in.piped:
		c.all()
	}
}

// interpreter follows a program text in the arguments or on stdin.
func interpreter(c *invocation) {
	for i, a := range c.args {
		switch text := a.start(); {
		case text == "-c" || text == "-e" || text == "-p" || text == "-r" || text == "-pe" || text == "--eval" || text == "--print" || text == "eval":
			if rest := from(c.args, i+1); len(rest) > 0 {
				c.inline(rest[0])
			}
			return
		case text == "-m":
			c.run(from(c.args, i+1), c.in) // python -m black
			return
		case text == "run" || text == "x" || text == "fmt" || text == "install" || text == "add" || text == "remove":
			if p := programs()[managed+c.name]; p != nil {
				p(c)
			}
			return
		case text == "-" || strings.HasPrefix(text, "-"):
			continue
		default:
			return // a file
		}
	}
	switch {
	case c.in.given:
		c.inline(arg{{text: c.in.text}})
	case c.in.piped:
		c.all()
	}
}

// first follows programs that change their first operand.
func first(c *invocation) {
	if rest := c.options("").rest; len(rest) > 0 {
		c.changed(rest[0], false)
	}
}

func editor(c *invocation) {
	c.change(c.options("-c --cmd -S -u --eval -f -l --load").rest, false)
}

// packed follows programs that replace a file by its packed form.
func packed(c *invocation) {
	if o := c.options("-S -T"); !o.has("-c", "-l", "-t", "--stdout", "--list", "--test") {
		c.change(o.rest, o.has("-r"))
		for _, a := range o.rest {
			if text, ok := a.plain(); ok {
				c.files(text+".gz", strings.TrimSuffix(text, path.Ext(text)))
			}
		}
	}
}

func move(c *invocation) {
	o := c.options("-t -S --target-directory --suffix")
	c.change(o.rest[:max(len(o.rest)-1, 0)], true)
	c.target(o)
}

func copyTo(c *invocation) {
	takes := "-t -S --target-directory --suffix"
	switch c.name {
	case "install":
		takes += " -m -o -g --mode --owner --group"
	case "rsync":
		takes = "-e -f -B -T --rsh --exclude --include --filter --files-from --backup-dir"
	case "scp":
		takes = "-P -i -F -o -c -J -l -S"
	}
	o := c.options(takes)
	if c.name == "install" && o.has("-d", "--directory") {
		return
	}
	if c.name == "rsync" && o.has("-n", "--dry-run") {
		return
	}
	if c.name == "ln" && len(o.rest) == 1 {
		o.rest = append(o.rest, arg{{text: "./"}})
	}
	c.target(o)
}

// target records the destination of a copy or move: the last operand, or a file in
// it for each source.
func (c *invocation) target(o options) {
	to, given := o.value("-t", "--target-directory")
	from := o.rest
	if !given {
		if len(o.rest) < 2 {
			return
		}
		to, from = o.rest[len(o.rest)-1], o.rest[:len(o.rest)-1]
	}
	text, known := to.plain()
	if strings.Contains(text, ":") && (c.name == "scp" || c.name == "rsync") {
		return // another machine
	}
	if last := path.Base(text); !known || !given && len(from) == 1 && !strings.HasSuffix(text, "/") && last != "." && last != ".." {
		c.changed(to, true)
		return
	}
	for _, a := range from {
		for _, v := range a {
			if v.open || v.glob || strings.HasSuffix(v.text, "/") {
				c.changed(arg{{text: text + "/", open: true}}, true) // the name is not known
				continue
			}
			c.changed(arg{{text: path.Join(text, path.Base(v.text))}}, true)
		}
	}
}

func changeMode(c *invocation) {
	o := c.options("--reference")
	if len(c.args) > 0 && modeRE().MatchString(c.args[0].start()) {
		c.change(from(c.args, 1), o.has("-R", "--recursive"))
		return
	}
	skip := 1
	if o.has("--reference") {
		skip = 0
	}
	c.change(from(o.rest, skip), o.has("-R", "--recursive"))
}

var modeRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ugoa]*[-+=][rwxXst,ugoa+=-]+$`) })

func dd(c *invocation) {
	for _, a := range c.args {
		if name, ok := strings.CutPrefix(a.start(), "of="); ok {
			c.changed(arg{{text: name, open: a[0].open}}, false)
		}
	}
}

func patch(c *invocation) {
	o := c.options("-p -i -d -o -r -D -F -B -z --strip --input --directory --output --reject-file")
	if o.has("--dry-run", "-C") {
		return
	}
	dir, _ := o.value("-d", "--directory")
	c.within(dir, func() {
		switch v, ok := o.value("-o", "--output"); {
		case ok:
			c.changed(v, false)
		case len(o.rest) > 0:
			c.changed(o.rest[0], false)
		default:
			c.here()
		}
	})
}

func sed(c *invocation) {
	o := c.options("-e -f -l --expression --file")
	if !o.has("-i", "--in-place", "-I") {
		for _, e := range append(o.values["-e"], o.rest...) {
			if text := e.start(); writesInSed().MatchString(text) {
				c.all()
			}
		}
		return
	}
	skip := 1
	if o.has("-e", "-f", "--expression", "--file") {
		skip = 0
	}
	rest := o.rest
	if len(rest) > 0 && len(rest[0]) == 1 && rest[0][0] == (value{}) { // sed -i '' of BSD
		rest = rest[1:]
	}
	c.change(from(rest, skip), false)
}

// writesInSed finds the command w of sed, which writes a file.
var writesInSed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[;/,0-9$}g])w\s+[^\s;]`) })

func perl(c *invocation) {
	in, code := false, false
	var files []arg
	for i := 0; i < len(c.args); i++ {
		text := c.args[i].start()
		if len(text) < 2 || text[0] != '-' || strings.HasPrefix(text, "--") {
			files = append(files, c.args[i])
			continue
		}
		options, _, _ := strings.Cut(strings.TrimPrefix(text, "-"), "i")
		in = in || len(options) < len(text)-1 && !strings.ContainsAny(options, "eEMmI")
		if strings.HasSuffix(text, "e") || strings.HasSuffix(text, "E") {
			if code = true; i+1 < len(c.args) {
				i++
				if !in {
					c.inline(c.args[i])
				}
			}
		}
	}
	if in && !code {
		files = from(files, 1)
	}
	if in {
		c.change(files, false)
	}
}

func awk(c *invocation) {
	o := c.options("-i -f -F -v --include --file")
	if v, ok := o.value("-i", "--include"); ok && v.start() == "inplace" {
		c.change(from(o.rest, 1), false)
		return
	}
	if !o.has("-f", "--file") && len(o.rest) > 0 && writesInAwk().MatchString(o.rest[0].start()) {
		c.all()
	}
}

var writesInAwk = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`print[^;}\n]*>\s*(["$]|[A-Za-z_(])|system\(|print[^;}\n]*\|\s*"`)
})

func yq(c *invocation) {
	if o := c.options("-o -p --output-format --input-format"); o.has("-i", "--inplace", "--in-place") {
		c.change(from(o.rest, 1), false)
	}
}

// otherVCS follows other version control systems, whose commands can change every
// file.
func otherVCS(c *invocation) {
	const changing = " revert update up merge import rebase graft shelve unshelve switch patch restore edit new abandon squash "
	if rest := c.options("-R -m").rest; len(rest) > 0 && strings.Contains(changing, " "+rest[0].start()+" ") {
		c.all()
	}
}

func tar(c *invocation) {
	o := c.options("-f -C -T -X --file --directory --exclude --strip-components --transform")
	mode := ""
	if len(o.rest) > 0 && len(c.args) > 0 && !strings.HasPrefix(c.args[0].start(), "-") {
		mode = c.args[0].start() // tar xzf
	}
	dir, _ := o.value("-C", "--directory")
	switch {
	case o.has("-x", "--extract", "--get") || strings.Contains(mode, "x"):
		c.within(dir, c.here)
	case o.has("-c", "--create", "-r", "-u", "-A"):
		if v, ok := o.value("-f", "--file"); ok {
			c.changed(v, false)
		}
	case strings.ContainsAny(mode, "cruA") && strings.Contains(mode, "f") && len(o.rest) > 1:
		c.changed(o.rest[1], false)
	}
}

func unzip(c *invocation) {
	o := c.options("-d -x")
	if o.has("-l", "-t", "-p", "-v", "-Z") {
		return
	}
	dir, _ := o.value("-d")
	c.within(dir, c.here)
}

func curl(c *invocation) {
	o := c.options("-o -H -d -X -u -A -F -T -m -e -b -c --output --header --data --request --user --output-dir --cookie-jar")
	for _, name := range []string{"-o", "--output", "-c", "--cookie-jar", "-D"} {
		c.change(o.values[name], false)
	}
	if o.has("-O", "--remote-name", "-J", "--remote-header-name", "--remote-name-all") {
		dir, _ := o.value("--output-dir")
		c.within(dir, c.here)
	}
}

func wget(c *invocation) {
	o := c.options("-O -o -P -U -a --output-document --output-file --directory-prefix --header")
	if o.has("--spider") {
		return
	}
	if v, ok := o.value("-O", "--output-document"); ok {
		if v.start() != "-" {
			c.changed(v, false)
		}
		return
	}
	dir, _ := o.value("-P", "--directory-prefix")
	c.within(dir, c.here)
}

var patchLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$`)
})

// applyPatch follows the patch program of some agents.
func applyPatch(c *invocation) {
	text, known := c.in.text, c.in.given
	if !known && len(c.args) > 0 {
		text, known = c.args[0].plain()
	}
	all := patchLine().FindAllStringSubmatch(text, -1)
	if !known || len(all) == 0 {
		c.all()
		return
	}
	for _, m := range all {
		c.files(strings.TrimSpace(m[1]))
	}
}
