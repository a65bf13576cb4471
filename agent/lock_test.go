package agent

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
)

var update = flag.Bool("update", false, "rewrite golden files")

var lockNoon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// lockTable is the table of testdata/locks.txt.
func lockTable(mode string) coppice.LockTable {
	other := coppice.HeldLock{Session: "app-2.1", Task: "app-2", Reason: "renames the parser", Expires: lockNoon.Add(8*time.Minute + 20*time.Second)}
	own := coppice.HeldLock{Session: "app-1.1", Task: "app-1", Expires: lockNoon.Add(time.Minute)}
	t := coppice.LockTable{Seq: 7, Mode: mode}
	for _, name := range []string{"held/*.md", "held/a.go", "checkout::held/tree"} {
		other.Name = name
		t.Held = append(t.Held, other)
	}
	for _, name := range []string{"own/*.md", "own/a.go", "checkout::own/tree"} {
		own.Name = name
		t.Held = append(t.Held, own)
	}
	return t
}

// lockCase is a case of testdata/locks.txt.
type lockCase struct {
	text string
	call Call
	want [2]bool // whether it is refused in mode enforce and in mode required
	why  string
}

func lockCases(t *testing.T) (all []lockCase) {
	t.Helper()
	b, err := os.ReadFile("testdata/locks.txt")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(b), "\n\n") {
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSpace(block), "\n") {
			if more, ok := strings.CutPrefix(line, "  > "); ok {
				lines[len(lines)-1] += "\n" + more
			} else if !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		if len(lines) == 0 {
			continue
		}
		c := lockCase{text: lines[0]}
		verdicts, why, ok := strings.Cut(lines[len(lines)-1], ": ")
		words := strings.Fields(verdicts)
		if len(lines) != 2 || !ok || len(words) != 2 || why == "" {
			t.Fatalf("testdata/locks.txt has a wrong case: %q", block)
		}
		c.want, c.why = [2]bool{words[0] == "refused", words[1] == "refused"}, why
		kind, rest, _ := strings.Cut(lines[0], " ")
		c.call = Call{Name: kind, Kind: coppice.ToolKind(kind), Dir: "/ws"}
		if kind == "run" {
			c.call.Command = rest
		} else {
			c.call.Paths = strings.Fields(rest)
		}
		all = append(all, c)
	}
	return all
}

// Every edit and shell line of the corpus has the verdict that a person gave it.
// The golden file shows what each changes, and what the agent gets to read.
func TestLocked(t *testing.T) {
	t.Parallel()
	cases := lockCases(t)
	if len(cases) < 80 {
		t.Fatalf("the corpus has %d cases", len(cases))
	}
	var got strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&got, "%s\n  changes: %s\n", c.text, strings.Join(edits(c.call), ", "))
		var whys [2]string
		for i, mode := range []string{coppice.LocksEnforce, coppice.LocksRequired} {
			why := Locked(lockTable(mode), "app-1.1", c.call, lockNoon)
			if (why != "") != c.want[i] {
				t.Errorf("%s, %s: %q (%v), because %s", mode, c.text, why, edits(c.call), c.why)
			}
			whys[i] = why
		}
		switch {
		case whys[0] == whys[1] && whys[0] != "":
			fmt.Fprintf(&got, "  refused: %s\n", whys[0])
		case whys[1] != "":
			fmt.Fprintf(&got, "  refused where locks are required: %s\n", whys[1])
		}
		if why := Locked(lockTable(coppice.LocksAdvisory), "app-1.1", c.call, lockNoon); why != "" {
			t.Errorf("advisory, %s: %s", c.text, why)
		}
	}
	const file = "testdata/locks.golden.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got.String() {
		t.Errorf("%s differs (%v); to rewrite it, run: go test ./agent -run TestLocked -update; got\n%s", file, err, got.String())
	}
}

// A name that this session holds in required mode is enough, whatever form it
// has.
func TestCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		held, name string
		want       bool
	}{
		{"a.go", "a.go", true},
		{"a", "a/b.go", true}, // a directory that was locked without a slash
		{"a.go", "b.go", false},
		{"a/b.go", "a", false},
		{"checkout::a", "a/b/c.go", true},
		{"checkout::a", "ab/c.go", false},
		{"checkout::a", "checkout::a/b", true},
		{"checkout::a/b", "checkout::a", false},
		{"checkout::a", "a/*.go", true},
		{"checkout::a", "*/b.go", false},
		{"checkout::a", wholeTree, false},
		{wholeTree, "x", true},
		{wholeTree, wholeTree, true},
		{"a/*.go", "a/b.go", true},
		{"a/*.go", "a/b.md", false},
		{"a/*.go", "a/*", false},
		{"a/**/*.go", "checkout::a", false},
		{"app/[id]/page.tsx", "app/[id]/page.tsx", true},
		{"checkout::app/[id]", "app/[id]/page.tsx", true},
	} {
		if got := covers(c.held, c.name); got != c.want {
			t.Errorf("covers(%q, %q) = %v", c.held, c.name, got)
		}
	}
}

// A line never changes less because something harmless is before it, and the
// parser of programs never panics.
func FuzzChanges(f *testing.F) {
	for _, line := range []string{"rm a", "cd x && sed -i s/a/b/ y", "git checkout -- a b", "find . -exec rm {} +", "xargs -I{} rm {}", "f() { rm $1; }; f a", "for i in a b; do rm $i; done", "a=b; rm ${a}", "perl -i -pe x y", "tar -x -C", "cp -t", "git -C", "sh -c", "parallel rm ::: a b", "bash <<E\nrm a\nE", "time -p rm a", "env -S 'rm a'", "dd of=", "chmod -x", "go run x@y -w a", "npm -C", "sed -i '' x y", "{a,b}", "rm {a..c}", "rm ~/x \\*"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		plain := Changes("/ws", line)
		for _, prefix := range []string{"true && ", ": ; "} {
			if _, ok := parse(prefix + line); !ok {
				continue
			}
			more := Changes("/ws", prefix+line)
			for _, name := range plain {
				if !slices.Contains(more, name) && !slices.Contains(more, wholeTree) {
					t.Errorf("%q changes %q, and after %q %q", line, plain, prefix, more)
				}
			}
		}
	})
}

// An Asker judges what the rules or a person allow. Without a table it refuses
// every edit, and it uses the newest table that it has.
func TestAskerLocks(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return lockNoon }
	edit := func(path string) Call {
		return Call{Name: "Edit", Kind: coppice.ToolEdit, Paths: []string{path}, Dir: "/ws"}
	}
	wants := func(v Verdict, do, why string) {
		t.Helper()
		if v.Do != do || !strings.Contains(v.Why, why) {
			t.Errorf("verdict %+v, want %s %q", v, do, why)
		}
	}
	a := NewAsker(Request{Session: "app-1.1", Locks: coppice.LocksEnforce, Permissions: coppice.PermissionPolicy{
		Rules: []coppice.Rule{{Tool: "edit", Match: "*.secret", Do: "deny", Why: "secret"}, {Tool: "edit", Match: "held/a.go", Do: "ask"}},
	}})
	if !a.Restricts() || !(Request{Locks: coppice.LocksRequired}).MustAsk() || (Request{Locks: coppice.LocksAdvisory}).MustAsk() {
		t.Error("an agent whose locks are enforced must ask")
	}
	wants(a.Decide(edit("free/a.go")), "deny", "has not received the table")
	wants(a.Decide(Call{Name: "Read", Kind: coppice.ToolRead, Paths: []string{"held/b.md"}, Dir: "/ws"}), "allow", "")
	wants(a.Decide(Call{Name: "Bash", Kind: coppice.ToolRun, Command: "cat held/b.md", Dir: "/ws"}), "allow", "")
	wants(a.Decide(Call{Name: "Bash", Kind: coppice.ToolRun, Command: "rm free/a.go", Dir: "/ws"}), "deny", "has not received the table")

	a.SetLocks(lockTable(""), now) // the mode is the session's
	wants(a.Decide(edit("free/a.go")), "allow", "")
	wants(a.Decide(edit("held/b.md")), "deny", "held/*.md is locked by task app-2 (session app-2.1), reason: renames the parser, time left: 8m20s")
	wants(a.Decide(edit("x.secret")), "deny", "secret") // the rules come first
	wants(a.Decide(Call{Name: "Bash", Kind: coppice.ToolRun, Command: "rm b.md", Dir: "/ws", Cwd: "/ws/held"}), "deny", "held/b.md")

	wants(a.Decide(edit("held/a.go")), "ask", "")
	a.Ask(edit("held/a.go"), "q1")
	v, _, _ := a.Answer("allow", "q1") // a person does not end the lock of another session
	wants(v, "deny", "locked by task app-2")

	a.SetLocks(coppice.LockTable{Seq: 8}, now)
	wants(a.Decide(edit("held/b.md")), "allow", "")
	a.SetLocks(coppice.LockTable{Seq: 9, Mode: coppice.LocksRequired}, now) // a person changed the policy
	wants(a.Decide(edit("held/b.md")), "deny", "does not hold a lock")

	expired := lockTable("")
	a.SetLocks(expired, func() time.Time { return lockNoon.Add(time.Hour) })
	wants(a.Decide(edit("held/b.md")), "deny", "has expired")

	free := NewAsker(Request{Session: "app-1.1"})
	free.SetLocks(lockTable(coppice.LocksRequired), now)
	if free.Restricts() || !free.Decide(edit("held/a.go")).Allowed() {
		t.Error("advisory locks refuse nothing")
	}
}
