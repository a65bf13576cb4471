//go:build linux

package e2e

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coppice"
	"coppice/api/client"
)

// bad is one thing done wrongly, and what has to come of it.
type bad struct {
	name  string
	repo  func(w *world) string // where; the world's own repository when nil
	stdin string
	args  []string
	code  int
	says  []string // on stderr, besides a fix
}

func badInputs() []bad {
	odd := func(name string, f func(w *world, dir string)) func(*world) string {
		return func(w *world) string {
			dir := w.NewRepo(name, files{"coppice.yaml": policy, ".coppice/scripted.yaml": oneFile})
			f(w, dir)
			return dir
		}
	}
	yaml := func(name, text string) func(*world) string {
		return odd(name, func(w *world, dir string) { w.write(dir, files{"coppice.yaml": text}) })
	}
	all := []bad{
		{name: "not a git repository", repo: func(w *world) string {
			dir := filepath.Join(w.Root, "plain")
			w.write(dir, files{"a": "b"})
			return dir
		}, args: []string{"new", "a"}, code: 1, says: []string{"not in a git repository", "git init"}},
		{name: "an empty repository", repo: func(w *world) string {
			dir := filepath.Join(w.Root, "void")
			w.gitIn(w.Root, "init", "--quiet", dir)
			return dir
		}, args: []string{"new", "a"}, code: 1, says: []string{"no commit", "git commit"}},
		{name: "a detached HEAD without base", repo: odd("loose", func(w *world, dir string) {
			w.write(dir, files{"coppice.yaml": "agent: {use: scripted}\n"})
			w.gitIn(dir, "commit", "--quiet", "--all", "--message=No base")
			w.gitIn(dir, "checkout", "--quiet", "--detach")
		}), args: []string{"new", "a"}, code: 1, says: []string{"base"}},
		{name: "a bare repository", repo: func(w *world) string {
			dir := filepath.Join(w.Root, "bare.git")
			w.gitIn(w.Root, "init", "--quiet", "--bare", dir)
			return dir
		}, args: []string{"new", "a"}, code: 1, says: []string{"bare repository", "git clone"}},
		{name: "a base that does not exist", repo: yaml("nobase", strings.Replace(policy, "main", "mian", 1)),
			args: []string{"new", "a"}, code: 1, says: []string{`"mian"`, "main"}},
		{name: "broken YAML", repo: yaml("broken", "base: main\nchecks: [a\n"), args: []string{"new", "a"}, code: 1, says: []string{"coppice.yaml:2:"}},
		{name: "an unknown key", repo: yaml("unknown", policy+"chekcs: [a]\n"), args: []string{"new", "a"}, code: 1, says: []string{"coppice.yaml:5:1", "chekcs", "checks"}},
		{name: "an unknown key in config", repo: yaml("unknown2", "land: {hwo: queue}\n"), args: []string{"config"}, code: 1, says: []string{"coppice.yaml:1:8", "hwo", "how"}},
		{name: "an odd base", repo: yaml("oddbase", "base: '$(touch x)'\n"), args: []string{"new", "a"}, code: 1, says: []string{"branch name"}},
		{name: "a base that climbs", repo: yaml("climb", "base: ../../x\n"), args: []string{"new", "a"}, code: 1, says: []string{"branch name"}},
		{name: "a base like a flag", repo: yaml("flag", "base: -rf\n"), args: []string{"new", "a"}, code: 1, says: []string{"branch name"}},
		{name: "a budget that is not a number", repo: yaml("nan", policy+"budget: {task: NaN}\n"), args: []string{"new", "a"}, code: 1,
			says: []string{"coppice.yaml:5:16", "not a valid amount of money"}},
		{name: "a budget of a task that is not a number", args: []string{"new", "a", "--budget", "NaN"}, code: 2, says: []string{"not a valid amount of money"}},
		{name: "a budget in hexadecimal", args: []string{"new", "a", "--budget", "0x1p3"}, code: 2, says: []string{"not a valid amount of money"}},
		{name: "a directory with a line break", repo: func(w *world) string {
			return w.NewRepo("two\nlines", files{"coppice.yaml": policy})
		}, args: []string{"new", "a"}, code: 1, says: []string{`two\nlines`, "line break"}},
		{name: "a link to a directory with a line break", repo: func(w *world) string {
			link := filepath.Join(w.Root, "plainname")
			if err := os.Symlink(w.NewRepo("three\nlines", files{"coppice.yaml": policy}), link); err != nil {
				w.t.Fatal(err)
			}
			return link
		}, args: []string{"project", "add"}, code: 1, says: []string{`three\nlines`, "line break"}},
		{name: "a directory with a control character", repo: func(w *world) string {
			return w.NewRepo("esc\x1b[2J", files{"coppice.yaml": policy})
		}, args: []string{"new", "a"}, code: 1, says: []string{"control character"}},
		{name: "a configuration elsewhere", repo: odd("linked", func(w *world, dir string) {
			secret := filepath.Join(w.Root, "secret")
			w.write(w.Root, files{"secret": "hunter2: abc\n"})
			if err := errors.Join(os.Remove(filepath.Join(dir, "coppice.yaml")), os.Symlink(secret, filepath.Join(dir, "coppice.yaml"))); err != nil {
				w.t.Fatal(err)
			}
		}), args: []string{"new", "a"}, code: 1, says: []string{"coppice.yaml", "leaves the repository"}},
		{name: "an unknown dependency", args: []string{"new", "a", "--after", "app-99"}, code: 1, says: []string{"app-99"}},
		{name: "a dependency cycle", args: []string{"new", "--file", "-"}, stdin: "- {ref: a, title: A, after: [b]}\n- {ref: b, title: B, after: [a]}\n",
			code: 1, says: []string{"cycle", "a → b → a"}},
		{name: "one bad task of many", args: []string{"new", "--file", "-"}, stdin: "- {title: good}\n- {title: bad, priority: 11}\n", code: 1, says: []string{"11"}},
		{name: "an unknown field of a task", args: []string{"new", "--file", "-"}, stdin: "- {titel: x}\n", code: 1, says: []string{"titel"}},
		{name: "a title of 10 kB", args: []string{"new", strings.Repeat("x", 10<<10)}, code: 1, says: []string{"10240 bytes", "--body"}},
		{name: "an empty title", args: []string{"new", " "}, code: 2, says: []string{"title"}},
		{name: "a title of two lines", args: []string{"new", "a\nb"}, code: 1, says: []string{"line break"}},
		{name: "a title that nobody sees", args: []string{"new", "\u200b\ufeff"}, code: 1, says: []string{"no visible character"}},
		{name: "a title that turns", args: []string{"new", "a\u202eb"}, code: 1, says: []string{"changes the order of the text"}},
		{name: "a title of two lines for some", args: []string{"new", "a\u2028b"}, code: 1, says: []string{"breaks the line"}},
		{name: "a title that is a flag", args: []string{"new", "-rf"}, code: 2},
		{name: "priority out of range", args: []string{"new", "a", "--priority", "11"}, code: 1, says: []string{"11", "-10 to 10"}},
		{name: "priority that is not a number", args: []string{"new", "a", "--priority", "high"}, code: 2, says: []string{"priority"}},
		{name: "an unknown track", args: []string{"new", "a", "--track", "docs"}, code: 1, says: []string{"docs", "main"}},
		{name: "an agent that is not installed", args: []string{"new", "a", "--agent", "claude"}, code: 1, says: []string{"not installed", "npm install"}},
		{name: "a huge message", args: []string{"send", "app-1", "-"}, stdin: strings.Repeat("x", 2<<20), code: 1, says: []string{"1048576"}},
		{name: "an unknown flag", args: []string{"new", "a", "--nope"}, code: 2, says: []string{"--nope"}},
		{name: "an unknown command", args: []string{"nope"}, code: 2, says: []string{"nope"}},
		{name: "no key", args: []string{"show"}, code: 2, says: []string{"key"}},
		{name: "two unknown keys", args: []string{"stop", "app-77", "app-78"}, code: 1, says: []string{"app-77", "app-78"}},
		{name: "an unknown key of a task", args: []string{"show", "app-77"}, code: 1, says: []string{"app-77"}},
		{name: "nothing to undo", args: []string{"undo", "app-77"}, code: 1, says: []string{"app-77"}},
		{name: "a body that is not there", args: []string{"new", "a", "--body-file", "nope.md"}, code: 1, says: []string{"nope.md"}},
	}
	for _, name := range []string{"$(touch x)", "../../x", "-rf", "a b", "x;y"} {
		for _, flag := range []string{"track", "agent", "model"} {
			all = append(all, bad{name: flag + " " + name, args: []string{"new", "a", "--" + flag + "=" + name}, code: 1, says: []string{fmt.Sprintf("%q", name)}})
		}
		if !strings.HasPrefix(name, "-") {
			for _, c := range []string{"show", "stop", "diff", "land", "retry"} {
				all = append(all, bad{name: c + " " + name, args: []string{c, name}, code: 1, says: []string{fmt.Sprintf("%q", name)}})
			}
		}
	}
	return all
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": oneFile})
	w.serve()
	w.landed(w.new("Land something first"))
	for _, b := range badInputs() {
		t.Run(b.name, func(t *testing.T) {
			dir := w.repo
			if b.repo != nil {
				dir = b.repo(w)
			}
			before := w.everything(dir)
			r := w.try(dir, b.stdin, b.args...)
			if r.code != b.code {
				t.Errorf("exit code %d, want %d", r.code, b.code)
			}
			if !strings.HasPrefix(r.err, "coppice: ") || b.code == 1 && !strings.Contains(r.err, "\n→ ") {
				t.Errorf("no way out: %s", r.err)
			}
			for _, part := range b.says {
				if !strings.Contains(r.err, part) {
					t.Errorf("it does not say %q: %s", part, r.err)
				}
			}
			if len(r.err) > 1500 || strings.Contains(r.err, "internal error") || strings.Contains(r.err, "goroutine") || strings.Contains(r.err, "hunter2") {
				t.Errorf("no message for people: %.2000s", r.err)
			}
			if after := w.everything(dir); after != before {
				t.Errorf("something changed:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// everything describes a directory, git's files in it, and how many tasks and
// projects there are.
func (w *world) everything(dir string) string {
	w.t.Helper()
	var b strings.Builder
	page, err := w.client.Tasks(w.t.Context(), client.TaskQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	projects, err := w.client.Projects(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	fmt.Fprintf(&b, "%d tasks\n%d projects\n%s", len(page.Tasks), len(projects), tree(w.t, dir))
	for _, name := range []string{"HEAD", "config", "index", "packed-refs", "logs/HEAD"} {
		for _, at := range []string{filepath.Join(dir, ".git", name), filepath.Join(dir, name)} {
			if data, err := os.ReadFile(at); err == nil {
				fmt.Fprintf(&b, "%s %x\n", at, sha256.Sum256(data))
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		b.WriteString(w.gitIn(dir, "for-each-ref") + "\n" + w.gitIn(dir, "worktree", "list") + "\n")
	}
	return b.String()
}

// nastyFile lands a file whose text a terminal would obey.
const nastyFile = `cases: [{steps: [{say: "look \e]52;c;ZXZpbA==\a here"}, {write: {path: evil.txt, content: "safe\e[2J\e]52;c;ZXZpbA==\a\u202Eend\n"}}]}]
`

func TestATerminalObeysNothingThatAnAgentWrote(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": nastyFile})
	w.serve()
	key := w.new("Write something evil")
	w.landed(key)
	for _, columns := range []int{0, 100} { // 0: a terminal that does not tell its size
		for _, c := range []struct{ args, shows string }{
			{"diff " + key, "+safe^[[2J^[]52;c;ZXZpbA==^G<U+202E>end"},
			{"logs " + key, "look ^[]52;c;ZXZpbA==^G here"},
			{"logs --raw " + key, "ZXZpbA=="},
			{"show " + key, "Write something evil"},
			{"search look", "look"},
		} {
			p := w.person(columns, columns/4, strings.Fields(c.args)...)
			p.Leaves(0)
			p.Showed(c.shows)
			colour := regexp.MustCompile("\x1b\\[[0-9;]*m") // our own
			rest := colour.ReplaceAllString(string(p.Raw), "")
			if i := strings.IndexAny(rest, "\x1b\a\u202e\u009b"); i >= 0 {
				t.Errorf("%s with %d columns sends %q", c.args, columns, rest[i:])
			}
		}
	}
	patch := w.try(w.repo, "", "diff", key).out
	w.git("reset", "--quiet", "--hard", "HEAD~1")
	w.write(w.Root, files{"a.patch": patch})
	w.git("apply", filepath.Join(w.Root, "a.patch"))
	if text, err := os.ReadFile(filepath.Join(w.repo, "evil.txt")); err != nil || string(text) != "safe\x1b[2J\x1b]52;c;ZXZpbA==\a\u202eend\n" {
		t.Errorf("a diff to a pipe is not exact: %q, %v", text, err)
	}
}

func TestTitlesAreOnlyWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": oneFile})
	w.serve()
	for i, title := range []string{"🌳 grow 🌱 日本語", "$(touch x)", "../../x", "--force", "`touch x`; touch x"} {
		before := tree(t, w.repo)
		if i > 0 {
			// Each lands the same file; all but the first have nothing to add.
			w.git("rm", "--quiet", "landed.txt")
			w.git("commit", "--quiet", "--message=Again")
			before = tree(t, w.repo)
		}
		key := w.newRaw("--", title)
		d := w.landed(key)[0]
		if d.Title != title || w.git("log", "-1", "--format=%s", d.Landed) != title {
			t.Errorf("%q became %q", title, d.Title)
		}
		if after := tree(t, w.repo); strings.Count(after, "\n") != strings.Count(before, "\n")+1 {
			t.Errorf("%q changed more than its file:\n%s", title, after)
		}
	}
}

// newRaw creates a task from exactly these arguments.
func (w *world) newRaw(args ...string) string {
	w.t.Helper()
	key, _, _ := strings.Cut(w.cli(append([]string{"new"}, args...)...), " ")
	return key
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, args := range [][]string{{"new", "--no-serve", "a"}, {"list"}, {"status"}, {"show", "app-1"}, {"logs", "app-1"}, {"backup"}, {"events"}} {
		r := w.try(w.repo, "", args...)
		if r.code != 1 || !strings.Contains(r.err, "no coppice server is running") || !strings.Contains(r.err, "coppice serve") {
			t.Errorf("%v: %+v, want exit code 1 and coppice serve as the fix", args, r)
		}
	}
	w.serve().Kill()
	if r := w.try(w.repo, "", "list"); r.code != 1 || !strings.Contains(r.err, "coppice serve") {
		t.Errorf("after a killed server: %+v", r)
	}
}

func TestTheDatabaseIsRemovedUnderTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{".coppice/scripted.yaml": oneFile})
	s := w.serve()
	key := w.new("Land before it happens")
	w.landed(key)
	db := filepath.Join(w.State, "coppice.db")
	if err := errors.Join(os.Remove(db), os.Remove(db+"-wal"), os.Remove(db+"-shm")); err != nil {
		t.Fatal(err)
	}
	r := w.try(w.repo, "", "new", "Too late")
	_, fix, _ := strings.Cut(r.err, "coppice restore ")
	saved, _, _ := strings.Cut(fix, "`")
	if r.code != 1 || !strings.Contains(r.err, "removed or replaced") || !strings.HasPrefix(saved, db+".saved-") {
		t.Fatalf("%+v, want exit code 1 and a copy of the database", r)
	}
	if out := w.cli("status"); !strings.Contains(out, "removed or replaced") || !strings.Contains(out, "1 done") {
		t.Errorf("status says %s", out)
	}
	if r := w.try(w.repo, "", "show", key); r.code != 0 || !strings.Contains(r.out, "Land before it happens") {
		t.Errorf("it does not answer: %+v", r)
	}
	s.Stop(t)
	if r := w.try(w.repo, "", "serve", "--listen", "127.0.0.1:0"); r.code != 1 || !strings.Contains(r.err, saved) {
		t.Errorf("it begins with nothing: %+v", r)
	}
	w.cli("restore", "--yes", saved)
	w.serve()
	if d := w.task(key); d.Status != coppice.StatusDone {
		t.Errorf("%s is %s", key, d.Status)
	}
	w.git("rm", "--quiet", "landed.txt")
	w.git("commit", "--quiet", "--message=Again")
	w.landed(w.new("Land after it"))
}

func TestAPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := newWorld(t, nil)
	r := w.try(w.Root, "", "serve", "--listen", l.Addr().String())
	if r.code != 1 || !strings.Contains(r.err, l.Addr().String()) || !strings.Contains(r.err, "--listen") {
		t.Errorf("%+v, want exit code 1, the address and --listen as the fix", r)
	}
	if r := w.try(w.Root, "", "serve", "--listen", "0.0.0.0:0"); r.code == 0 || !strings.Contains(r.err, "127.0.0.1") {
		t.Errorf("a public address: %+v", r)
	}
	w.serve()
}
