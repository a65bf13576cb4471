package coppice_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"

	"pgregory.net/rapid"
)

func TestDurationRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := coppice.Duration(rapid.Int64Range(0, int64(1000*24*time.Hour)).Draw(t, "d"))
		b, err := d.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back coppice.Duration
		if err := back.UnmarshalText(b); err != nil || back != d {
			t.Fatalf("%v became %q became %v (%v)", time.Duration(d), b, time.Duration(back), err)
		}
	})
	for in, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "30m": 30 * time.Minute, "4h": 4 * time.Hour, "14d": 14 * 24 * time.Hour, "1h30m": 90 * time.Minute, "0s": 0,
	} {
		var d coppice.Duration
		if err := d.UnmarshalText([]byte(in)); err != nil || d.D() != want {
			t.Errorf("%s: got %v, %v", in, d.D(), err)
		}
		if b, _ := d.MarshalText(); string(b) != in {
			t.Errorf("%s is written as %s", in, b)
		}
	}
	for _, in := range []string{"", "x", "-1s", "1", "9999999999d", "-3d"} {
		var d coppice.Duration
		if err := d.UnmarshalText([]byte(in)); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%q was read as %v, %v", in, d, err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	hostile := []string{"", "$(touch x)", "../../x", "-rf", "a b", "a\nb", "a\x00b", strings.Repeat("a", 10_000), "🌳", "a..b", "`id`", "a;b", "~"}
	for name, valid := range map[string]func(string) error{
		"name":   func(s string) error { return coppice.ValidName("track", s) },
		"branch": coppice.ValidBranch,
		"prefix": coppice.ValidPrefix,
		"model":  coppice.ValidModel,
		"hash":   coppice.ValidHash,
		"key":    func(s string) error { _, _, _, err := coppice.ParseKey(s); return err },
	} {
		for _, s := range hostile {
			if name == "model" && s == "a..b" {
				continue // safe as an argument
			}
			err := valid(s)
			if coppice.ErrorCode(err) != coppice.EInvalid {
				t.Errorf("%s %.20q: %v", name, s, err)
			} else if len(err.Error()) > 400 {
				t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
			}
		}
	}
	for _, s := range []string{"main", "ai-develop", "team/main", "release-1.2"} {
		if err := coppice.ValidBranch(s); err != nil {
			t.Errorf("branch %s: %v", s, err)
		}
	}
	for _, s := range []string{"main.lock", "a/.b", "a//b", "a/", "HEAD", "/a", "a.lock/b"} {
		if err := coppice.ValidBranch(s); err == nil {
			t.Errorf("branch %s was taken", s)
		}
	}
}

func TestTitles(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"$(touch x)", "../../x", "-rf", "🌳 grow", "a\tb", strings.Repeat("é", 250), "שלום \u200fabc", "👩\u200d🚀 launch", "e\u0301", "日本\u3000語"} {
		if err := coppice.ValidTitle(s); err != nil {
			t.Errorf("%.20q: %v", s, err)
		}
	}
	for _, s := range []string{"", "  ", "a\nb", "\x1b[2J", strings.Repeat("x", 10_000), "\xff",
		"\u200b", "\ufeff", " \u2060\u00ad\t", "\u3164", "\u2800", "\U000e0041", "\ufe0f", // nothing visible
		"a\u202eb", "\u202aa", "a\u2066", "a\u2069b", "a\u2028b", "a\u2029b", "a\u0085b", "a\u009bb"} {
		if err := coppice.ValidTitle(s); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%.20q: %v", s, err)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	prefix, task, session, err := coppice.ParseKey("app-12.3")
	if err != nil || prefix != "app" || task != 12 || session != 3 {
		t.Fatalf("parsed as %q, %d and %d, %v", prefix, task, session, err)
	}
	if got := coppice.SessionKey(coppice.TaskKey("app", 12), 3); got != "app-12.3" {
		t.Fatal(got)
	}
	if err := coppice.ValidBranch(coppice.TaskBranch("app-12")); err != nil {
		t.Fatal(err)
	}
}

func TestErrorShowsCauseAndFix(t *testing.T) {
	t.Parallel()
	inner := errors.New("disk on fire")
	err := fmt.Errorf("while testing: %w", coppice.Errorf(coppice.EUnavailable, "cannot write: %w", inner).WithFix("buy a disk").WithField("path"))
	if coppice.ErrorCode(err) != coppice.EUnavailable || !errors.Is(err, inner) {
		t.Fatal(err)
	}
	if got := coppice.Public(err).Error(); got != "path: cannot write: disk on fire (buy a disk)" {
		t.Fatal(got)
	}
	if got := coppice.Public(inner); got.Code != coppice.EInternal || strings.Contains(got.Error(), "fire") {
		t.Fatal(got)
	}
}

func TestStatusAlwaysHasAReason(t *testing.T) {
	t.Parallel()
	for _, stage := range append([]coppice.Stage{""}, coppice.Stages...) {
		task := coppice.Task{Stage: stage, Wait: &coppice.Wait{On: coppice.WaitBackoff, Text: "pause"}, Failure: &coppice.Failure{Text: "broke"}}
		s, why := task.Status(nil, nil, nil, "no free session")
		if (s == coppice.StatusWaiting || s == coppice.StatusNeedsYou || s == coppice.StatusFailed) && why == "" {
			t.Errorf("stage %s is %s without a reason", stage, s)
		}
	}
	asked := &coppice.Question{Text: "which?"}
	if s, why := (coppice.Task{Stage: coppice.StageSession}).Status(&coppice.Session{}, nil, asked, ""); s != coppice.StatusNeedsYou || why != "which?" {
		t.Error(s, why)
	}
}

func TestAmountsOfMoney(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]coppice.USD{"5": 5, "2.50 USD": 2.5, "$3": 3, " $ 0.05USD ": 0.05, "0": 0, "1000000": 1e6, "007": 7} {
		got, err := coppice.ParseUSD(s)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
		text, err := got.MarshalText()
		var again coppice.USD
		if err != nil || again.UnmarshalText(text) != nil || again != want {
			t.Errorf("%q came back as %v: %s, %v", s, again, text, err)
		}
	}
	for _, s := range []string{"", "NaN", "nan", "Inf", "+Inf", "-Inf", "infinity", "0x1p3", "0x10", "1e3", "1_000", "-1", "-0", "+5", ".5", "5.", "1,50", "1000000.01",
		"1000001", strings.Repeat("9", 500), "5 EUR", "5 USD USD", "$", "USD", "٣", "5\x00"} {
		u := coppice.USD(7)
		if err := u.UnmarshalText([]byte(s)); coppice.ErrorCode(err) != coppice.EInvalid || u != 7 {
			t.Errorf("%q became %v: %v", s, u, err)
		}
	}
	for _, u := range []coppice.USD{coppice.USD(math.NaN()), coppice.USD(math.Inf(1)), coppice.USD(math.Inf(-1)), -0.01, 1e6 + 1} {
		if err := u.Valid("budget"); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%v: error %v, want the code %s", u, err, coppice.EInvalid)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"/src/app", "/src/a b", "/src/日本", "/src/$(x)"} {
		if err := coppice.ValidPath(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"/src/a\nb", "/src/a\rb", "/src/a\tb", "/src/\x1b[2J", "/src/a\u202eb", "/src/\xff", "/src/a\u2028b"} {
		if err := coppice.ValidPath(s); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// Work items of earlier versions can still be read. They name a repository only
// by its path, and have patterns that the engine checks now.
func TestSpecsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	w := coppice.Work{Spec: []byte(`{"session":{"id":7,"key":"app-1.1"},"task":"app-1","repo":"/src/app","critical":[{"match":"x"}],"usage":{}}`)}
	run, err := coppice.DecodeSpec[coppice.RunSpec](w)
	if err != nil || run.Repo != "/src/app" || run.RepoID != 0 || run.Session.ID != 7 {
		t.Errorf("run %+v, %v; want the repository /src/app and the session 7", run, err)
	}
	now := coppice.Work{Spec: coppice.Raw(coppice.MoveSpec{Repo: "/src/app", RepoID: 3})}
	if move, err := coppice.DecodeSpec[coppice.MoveSpec](now); err != nil || move.Repo != "/src/app" || move.RepoID != 3 {
		t.Errorf("move %+v, %v; want the repository /src/app with the id 3", move, err)
	}
}

// Each class of failure has words for people, which are not its identifier.
func TestClassesHaveWords(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range coppice.Classes {
		words := c.Words()
		if seen[words] || strings.Contains(words, "_") || words == "" {
			t.Errorf("%s is described as %q", c, words)
		}
		seen[words] = true
	}
	if got := coppice.Class("of_a_later_version").Words(); got != "of_a_later_version" {
		t.Errorf("an unknown class is described as %q", got)
	}
}

func TestRelativePaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ workspace, text, want string }{
		{"/s/ab/coppice-1", "see /s/ab/coppice-1/web/a.ts:7, then", "see web/a.ts:7, then"},
		{"/s/ab/coppice-1", "cd /s/ab/coppice-1 && ls /s/ab/coppice-check-2/x", "cd . && ls x"},
		{"/s/ab/coppice-1", `{"path":"/s/ab/coppice-1","of":"/s/ab/coppice-1/"}`, `{"path":".","of":""}`},
		{"/s/ab/coppice-1", "/s/ab/git and /s/cd/coppice-1/a and /s/xab/coppice-1/a", "/s/ab/git and /s/cd/coppice-1/a and /s/xab/coppice-1/a"},
		{"/s/a.b/coppice-1", "/s/aXb/coppice-1/a", "/s/aXb/coppice-1/a"},
		{"/coppice-1", "/coppice-1/a", "/coppice-1/a"},
		{"", "./coppice-1/a", "./coppice-1/a"},
	} {
		if got := coppice.RelativePaths(c.workspace)(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// A task that is put between two others comes between them in the queue, if a priority
// does that, and next to them otherwise.
func TestPriorityBetween(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var queue []coppice.Task
		for i := range rapid.IntRange(2, 8).Draw(rt, "tasks") {
			queue = append(queue, coppice.Task{ID: int64(i + 1), Priority: rapid.IntRange(coppice.MinPriority, coppice.MaxPriority).Draw(rt, "priority")})
		}
		inOrder := func(a, b coppice.Task) int { return coppice.InOrder(a.Priority, a.ID, b.Priority, b.ID) }
		slices.SortFunc(queue, inOrder)
		from := rapid.IntRange(0, len(queue)-1).Draw(rt, "from")
		moved := queue[from]
		rest := slices.Delete(slices.Clone(queue), from, from+1)
		at := rapid.IntRange(0, len(rest)).Draw(rt, "at")
		var above, below *coppice.Task
		if at > 0 {
			above = &rest[at-1]
		}
		if at < len(rest) {
			below = &rest[at]
		}
		was := moved.Priority
		between := func(p int) bool {
			m := coppice.Task{ID: moved.ID, Priority: p}
			return (above == nil || inOrder(*above, m) < 0) && (below == nil || inOrder(m, *below) < 0)
		}
		got := coppice.PriorityBetween(moved, above, below)
		if got < coppice.MinPriority || got > coppice.MaxPriority {
			rt.Fatalf("priority %d", got)
		}
		if at == from && got != was {
			rt.Fatalf("it stays where it is, but its priority changes from %d to %d", was, got)
		}
		if between(got) {
			return
		}
		for p := coppice.MinPriority; p <= coppice.MaxPriority; p++ {
			if between(p) {
				rt.Fatalf("%d does not put it there, but %d does", got, p)
			}
		}
		if (above == nil || got != above.Priority) && (below == nil || got != below.Priority) {
			rt.Fatalf("%d is not next to %v and %v", got, above, below)
		}
	})
}

func TestStatesOfLandings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		landing coppice.Landing
		want    string
	}{
		{coppice.Landing{}, "in progress: in progress"},
		{coppice.Landing{Candidate: coppice.Candidate{Green: true}}, "passed: passed"},
		{coppice.Landing{Candidate: coppice.Candidate{Green: true}, Waits: "for its turn"}, "waiting: for its turn"},
		{coppice.Landing{Reverts: "abc"}, "waiting: its landing is being reverted"},
		{coppice.Landing{Outcome: coppice.LandingLanded, Waits: "stale"}, "landed: landed"},
		{coppice.Landing{Outcome: coppice.LandingConflict}, "conflict: did not merge"},
		{coppice.Landing{Outcome: coppice.LandingRefused}, "refused: refused by its checks"},
		{coppice.Landing{Outcome: coppice.LandingRefused, Candidate: coppice.Candidate{Green: true}}, "refused: refused by a verifier"},
		{coppice.Landing{Outcome: coppice.LandingDropped}, "cancelled: stopped"},
	} {
		if got := string(c.landing.State()) + ": " + c.landing.StateText(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.landing, got, c.want)
		}
	}
}

// A message that was delivered in a later try has not failed.
func TestStatesOfMessages(t *testing.T) {
	t.Parallel()
	at := time.Unix(1, 0)
	for _, c := range []struct {
		m     coppice.Message
		state coppice.MessageState
		text  string
	}{
		{coppice.Message{}, coppice.MessageWaiting, "not delivered yet"},
		{coppice.Message{Failed: "it was busy"}, coppice.MessageFailed, "not delivered: it was busy"},
		{coppice.Message{Failed: "it was busy", DeliveredAt: at}, coppice.MessageDelivered, "delivered"},
	} {
		if state, text := c.m.State(); state != c.state || text != c.text {
			t.Errorf("%+v is %s, %q", c.m, state, text)
		}
	}
}

// The mark of a request agrees with the sentence about its merge.
func TestMergesOfPulls(t *testing.T) {
	t.Parallel()
	for want, list := range map[string][]coppice.PullDetails{
		"":                               {{MergeBy: "person:ada"}, {AutoHead: "a", Pushed: "b"}},
		"Merge requested.":               {{MergeHead: "a"}},
		"Merge requested by person:ada.": {{MergeHead: "a", MergeBy: "person:ada", AutoHead: "a", Pushed: "a"}},
		"The forge merges it when its rules allow it.": {{AutoHead: "a", Pushed: "a"}},
	} {
		for _, d := range list {
			p := coppice.Pull{PullDetails: d}
			if got := p.MergeText(); got != want || p.Mark().Merging != (want != "") {
				t.Errorf("%+v: %q, %v", p, got, p.Mark().Merging)
			}
			if p.EndedAt = time.Unix(1, 0); p.MergeText() != "" {
				t.Errorf("it has ended, and says %q", p.MergeText())
			}
		}
	}
}

// Forms offer each list of completion checks that is valid, and each policy of retries,
// in words.
func TestChoicesOfForms(t *testing.T) {
	t.Parallel()
	want := []coppice.CompletionChoice{
		{Checks: []string{"diff_not_empty"}, Words: "it changed something"},
		{Checks: []string{"no_error_in_output"}, Words: "its output does not end with an error"},
		{Checks: []string{"diff_not_empty", "no_error_in_output"}, Words: "it changed something and its output does not end with an error"},
		{Checks: []string{"none"}, Words: "it ends without a failure"},
	}
	if got := coppice.CompletionChoices(); !reflect.DeepEqual(got, want) {
		t.Errorf("the lists are %+v", got)
	}
	for _, check := range coppice.CompletionChecks {
		if !slices.ContainsFunc(want, func(c coppice.CompletionChoice) bool { return slices.Contains(c.Checks, check) && c.Words != "" }) {
			t.Errorf("%s is not in a list", check)
		}
	}
	for _, policy := range coppice.RetryPolicies {
		if coppice.RetryWords[policy] == "" {
			t.Errorf("%s has no words", policy)
		}
	}
}

func TestEndsOfTerminals(t *testing.T) {
	t.Parallel()
	end := coppice.TerminalEnd{Code: 7}
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, "exit 7"},
		{func() { end.Signal = "SIGKILL" }, "SIGKILL"},
		{func() { end.Done = true }, "done"},
		{func() { end.Stopped = true }, "stopped"},
		{func() { end.Failure = "rate limit" }, "rate limit"},
	} {
		if c.change(); end.String() != c.want {
			t.Errorf("%+v is %q, want %q", end, end.String(), c.want)
		}
	}
}
