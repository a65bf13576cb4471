package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"coppice"
	"coppice/store"
)

// lines cuts text into lines with their ends.
func lines(s string) []string { return strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n") }

// --tail and --limit print the last and the first lines of what is printed
// without them, whatever the lines are made of.
func TestLogLines(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	x := s.Session("app-2", coppice.SessionDone, nil)
	for i := range 700 {
		text := fmt.Sprintf("line %d", i)
		if i%7 == 0 {
			text += "\nand another one\nand one more"
		}
		event, err := json.Marshal(map[string]string{"kind": "text", "text": text})
		s.Must(err)
		s.Write(x.ID, coppice.OutputEvent, string(event), `{"kind":"usage","usage":{"cost_usd":1}}`)
		s.Write(x.ID, coppice.OutputStdout, fmt.Sprintf("%d a\n%d b\nhalf", i, i), " a line\n")
	}
	for _, mode := range [][]string{nil, {"--raw"}, {"--json"}, {"-f"}} {
		_, whole, _ := s.run("", append([]string{"logs", "app-2.1"}, mode...)...)
		all := lines(whole)
		if len(all) < 900 {
			t.Fatalf("%v: %d lines", mode, len(all))
		}
		for _, n := range []int{1, 2, 3, 199, 450, 5000} {
			args := append([]string{"logs", "app-2.1", fmt.Sprintf("--tail=%d", n)}, mode...)
			code, out, errs := s.run("", args...)
			if want := strings.Join(all[max(0, len(all)-n):], ""); code != 0 || out != want && out != want+"\n" {
				t.Errorf("%v --tail %d: exit %d, %d lines, %s", mode, n, code, len(lines(out)), errs)
			}
			args = append([]string{"logs", "app-2.1", fmt.Sprintf("--limit=%d", n)}, mode...)
			code, out, errs = s.run("", args...)
			if want := strings.Join(all[:min(n, len(all))], ""); code != 0 || out != want && out != want+"\n" {
				t.Errorf("%v --limit %d: exit %d, %d lines, %s", mode, n, code, len(lines(out)), errs)
			}
		}
	}
	for _, wrong := range []string{"--tail=0", "--tail=-1", "--limit=0", "--tail=1 --limit=1", "--images=x --tail=1"} {
		if code, _, errs := s.run("", append([]string{"logs", "app-2"}, strings.Fields(wrong)...)...); code != 2 || errs == "" {
			t.Errorf("%s: exit %d, %s", wrong, code, errs)
		}
	}
}

// Output beyond a session's limit is reported where it is missing, and where
// the session is shown.
func TestDroppedOutputIsReported(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	x := s.Session("app-2", coppice.SessionDone, func(x *coppice.Session) { x.Dropped = 3 << 29 })
	s.Write(x.ID, coppice.OutputHost,
		`{"kind":"notice","name":"dropped","text":"output beyond 256 MiB is not kept; its end follows when the session has ended","bytes":1}`,
		`{"kind":"notice","name":"dropped","bytes":2}`)
	s.Write(x.ID, coppice.OutputEvent, `{"kind":"text","text":"the end"}`)
	if _, out, _ := s.run("", "logs", "app-2.1"); out != "output beyond 256 MiB is not kept; its end follows when the session has ended\nthe end\n" {
		t.Errorf("logs: %q", out)
	}
	if _, out, _ := s.run("", "show", "app-2"); !strings.Contains(out, "app-2.1: 1.5 GiB of its output was not kept (limits.output)\n") {
		t.Errorf("show: %s", out)
	}
}

// A log shows paths relative to the workspace. The raw view keeps them.
func TestLogsShowRelativePaths(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.fill()
	x := s.Session("app-2", coppice.SessionDone, nil)
	s.Update(func(tx store.Tx) error {
		return tx.Workspaces.Put(&coppice.Workspace{ProjectID: x.ProjectID, TaskID: x.TaskID, Path: "/state/12ab/coppice-3", Branch: "b"})
	})
	s.Write(x.ID, coppice.OutputEvent, `{"kind":"tool","name":"Edit","paths":["/state/12ab/coppice-3/web/a.ts"]}`)
	s.Write(x.ID, coppice.OutputStdout, "/state/12ab/coppice-3/web/a.ts\n")
	for args, want := range map[string]string{
		"logs app-2.1": "● Edit web/a.ts\n", "logs app-2": "● Edit web/a.ts\n", "logs app-2 --tail 1": "● Edit web/a.ts\n",
		"logs app-2 --raw": "/state/12ab/coppice-3/web/a.ts\n",
	} {
		if _, out, errs := s.run("", strings.Fields(args)...); out != want {
			t.Errorf("%s: %q, %s", args, out, errs)
		}
	}
}
