package agenttest

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coppice"
	"coppice/agent"
)

var update = flag.Bool("update", false, "write the golden files of agent protocols")

// Suite is a protocol and a profile that uses it.
type Suite struct {
	Protocol agent.Protocol
	Profile  coppice.Profile
	Dir      string // of the recordings; default: testdata
}

func (s Suite) dir() string {
	if s.Dir == "" {
		return "testdata"
	}
	return s.Dir
}

// Run runs the tests that every protocol must pass.
func Run(t *testing.T, s Suite) {
	t.Run("golden", func(t *testing.T) { t.Parallel(); s.golden(t) })
	t.Run("cuts", func(t *testing.T) { t.Parallel(); s.cuts(t) })
	t.Run("launch", func(t *testing.T) { t.Parallel(); s.launch(t) })
	t.Run("large prompt", func(t *testing.T) { t.Parallel(); s.largePrompt(t) })
	t.Run("any order", func(t *testing.T) { t.Parallel(); s.anyOrder(t) })
	t.Run("silent exit", func(t *testing.T) { t.Parallel(); s.silentExit(t) })
}

// cases reads the recordings.
func (s Suite) cases(t testing.TB) map[string]Transcript {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir(), "*", "transcript.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s (%v)", s.dir(), err)
	}
	all := map[string]Transcript{}
	for _, f := range files {
		tr, err := Read(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(filepath.Dir(f))] = tr
	}
	return all
}

func (s Suite) driver(t interface{ Fatal(...any) }, tr Transcript) agent.Driver {
	r, err := tr.request()
	if err != nil {
		t.Fatal(err)
	}
	return s.Protocol.Driver(s.Profile, r)
}

func (s Suite) golden(t *testing.T) {
	for name, tr := range s.cases(t) {
		t.Run(name, func(t *testing.T) {
			got, err := play(s.driver(t, tr), tr, whole)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(s.dir(), name, "golden.txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("golden file differs; if the change is intended, run the test with -update (-want +got):\n%s", diff)
			}
		})
	}
}

// cuts: a driver's events do not depend on how its input is cut.
func (s Suite) cuts(t *testing.T) {
	all := s.cases(t)
	names := slices.Sorted(maps.Keys(all))
	want := map[string]map[string][]string{}
	for _, name := range names {
		got, err := play(s.driver(t, all[name]), all[name], whole)
		if err != nil {
			t.Fatal(err)
		}
		want[name] = ordered(got)
		one, err := play(s.driver(t, all[name]), all[name], func(int) int { return 1 })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[name], ordered(one)); diff != "" {
			t.Errorf("%s: byte by byte the result differs:\n%s", name, diff)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "case")
		size := rapid.IntRange(1, 5000)
		got, err := play(s.driver(rt, all[name]), all[name], func(left int) int { return min(left, size.Draw(rt, "size")) })
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want[name], ordered(got)); diff != "" {
			rt.Fatalf("%s: with other cuts the result differs:\n%s", name, diff)
		}
	})
}

// ordered splits the record of a run into its events and its writes, each in
// order. Several calls of Output separate them where one call has them
// together, so only the order within each kind is the same.
func ordered(s string) map[string][]string {
	m := map[string][]string{}
	for l := range strings.Lines(s) {
		kind, _, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		m[kind] = append(m[kind], l)
	}
	return m
}

const secret = "the prompt that must not show: 9f2c"

// launch: neither the prompt nor anything of the environment is an argument.
func (s Suite) launch(t *testing.T) {
	r := agent.Request{Session: "app-1.1", Role: coppice.RoleImplement, Prompt: secret, Private: t.TempDir(), Model: "some-model", Resume: "conv-1", Dir: t.TempDir()}
	l, err := s.Protocol.Launch(s.Profile, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Argv) == 0 || l.Argv[0] != s.Profile.Command[0] {
		t.Errorf("argv is %q, it must start with the profile's command", l.Argv)
	}
	if strings.Contains(strings.Join(l.Argv, " "), secret) {
		t.Errorf("the prompt is in argv: %q", l.Argv)
	}
	for k, v := range l.Env {
		if strings.Contains(v, secret) {
			t.Errorf("the prompt is in the environment: %s", k)
		}
	}
	if len(s.Profile.Model) > 0 && !slices.Contains(l.Argv, r.Model) {
		t.Errorf("the model is not in argv: %q", l.Argv)
	}
	if len(s.Profile.Resume) > 0 && !slices.Contains(l.Argv, r.Resume) {
		t.Errorf("the conversation is not in argv: %q", l.Argv)
	}
	for _, bad := range []agent.Request{{Model: "--flag"}, {Resume: "-x"}, {Resume: "../../x"}, {Model: "$(touch x)"}} {
		if _, err := s.Protocol.Launch(s.Profile, bad); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%+v: got %v, want a refusal", bad, err)
		}
	}
	if _, err := s.Protocol.Launch(coppice.Profile{}, r); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a profile without a command: got %v, want a refusal", err)
	}
}

// largePrompt: a prompt of a megabyte is written to stdin whole.
func (s Suite) largePrompt(t *testing.T) {
	prompt := strings.Repeat("ä\n\"x", 1<<18)
	step := s.Protocol.Driver(s.Profile, agent.Request{Prompt: prompt}).Start()
	if s.Profile.Prompt == "file" {
		return
	}
	if len(step.Write) < len(prompt) {
		t.Errorf("%d bytes are written for a prompt of %d", len(step.Write), len(prompt))
	}
}

// anyOrder: a driver does not panic, whatever the order of calls, and writes
// nothing after it has closed stdin.
func (s Suite) anyOrder(t *testing.T) {
	all := s.cases(t)
	names := slices.Sorted(maps.Keys(all))
	rapid.Check(t, func(rt *rapid.T) {
		tr := all[rapid.SampledFrom(names).Draw(rt, "case")]
		d := s.driver(rt, tr)
		closed := false
		see := func(st agent.Step, err error) {
			if err != nil && !errors.Is(err, agent.ErrCannot) {
				rt.Fatalf("error %v is not ErrCannot", err)
			}
			if closed && (len(st.Write) > 0 || st.CloseStdin) {
				rt.Fatalf("stdin is closed, but it writes %q", st.Write)
			}
			closed = closed || st.CloseStdin
		}
		see(d.Start(), nil)
		for _, o := range tr {
			switch rapid.IntRange(0, 9).Draw(rt, "do") {
			case 0:
				see(d.Send("text", ""))
			case 1:
				see(d.Send("text", rapid.SampledFrom([]string{"q1", "no", "#1"}).Draw(rt, "ref")))
			case 2:
				see(d.Interrupt())
			case 3:
				see(d.Stop(), nil)
			case 4:
				if m, ok := d.(agent.Switcher); ok {
					see(m.Model("other-model"))
				}
			case 5:
				if h, ok := d.(agent.Hooker); ok {
					step, answer := h.Hook([]byte(rapid.SampledFrom([]string{"", "{}", `{"tool_input":{}}`}).Draw(rt, "hook")))
					see(step, nil)
					if len(answer) == 0 {
						rt.Fatal("a hook has no answer")
					}
				}
			}
			if o.Name == "out" && rapid.Bool().Draw(rt, "keep") {
				see(d.Output(agent.Stdout, []byte(o.Arg+"\n")), nil)
			}
		}
		code := rapid.IntRange(-1, 200).Draw(rt, "code")
		st, outcome := d.Exit(agent.Exit{Code: code})
		see(st, nil)
		checkOutcome(rt, outcome)
	})
}

func checkOutcome(t interface{ Fatalf(string, ...any) }, o agent.Outcome) {
	if o.Failure != nil && (!slices.Contains(coppice.Classes, o.Failure.Class) || o.Failure.Text == "") {
		t.Fatalf("failure without a class or text: %+v", o.Failure)
	}
	u := o.Usage
	if u.InputTokens < 0 || u.OutputTokens < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.CostUSD < 0 || u.Turns < 0 {
		t.Fatalf("negative usage: %+v", u)
	}
}

// silentExit: a process that ends without output never counts as a success if
// it was killed or its exit code is not 0.
func (s Suite) silentExit(t *testing.T) {
	for _, x := range []agent.Exit{{Code: -1, Signal: "SIGKILL"}, {Code: -1, Signal: "SIGTERM"}, {Code: 1}, {Code: 127}, {Code: 143}} {
		d := s.Protocol.Driver(s.Profile, agent.Request{Prompt: "x"})
		d.Start()
		_, o := d.Exit(x)
		if o.Failure == nil {
			t.Errorf("%+v counts as a success", x)
			continue
		}
		checkOutcome(t, o)
		if x.Code == 127 && o.Failure.Class != coppice.ClassCapability {
			t.Errorf("exit 127 is %s, want %s", o.Failure.Class, coppice.ClassCapability)
		}
	}
}

// Fuzz feeds a driver any bytes: it must not panic, its events must be valid
// JSON, and they must be the same for every cut.
func Fuzz(f *testing.F, s Suite) {
	for _, tr := range s.cases(f) {
		for _, o := range tr {
			if o.Name == "out" {
				f.Add([]byte(o.Arg+"\n"), uint8(7))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		tr := Transcript{{"out", strings.TrimSuffix(string(b), "\n")}, {"exit", "0"}}
		want, err := play(s.driver(t, nil), tr, whole)
		if err != nil {
			t.Fatal(err)
		}
		got, err := play(s.driver(t, nil), tr, func(left int) int { return min(left, int(size)+1) })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ordered(want), ordered(got)); diff != "" {
			t.Errorf("with other cuts the result differs:\n%s", diff)
		}
	})
}

// FuzzRecordings is Fuzz that also starts from whole recordings: most of a driver
// is reached only after the opening of a session.
func FuzzRecordings(f *testing.F, s Suite, patterns ...string) {
	f.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			t, err := Read(file)
			if err != nil {
				f.Fatal(err)
			}
			var all strings.Builder
			for _, o := range t {
				if o.Name == "out" {
					all.WriteString(o.Arg + "\n")
				}
			}
			f.Add([]byte(all.String()), uint8(100))
		}
	}
	Fuzz(f, s)
}
