package forge_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
)

// follower reads a tracker as the engine does, and knows all that was ever reported.
type follower struct {
	t     *testing.T
	m     forge.Tracker
	spec  coppice.TrackerReadSpec
	known map[string]coppice.IssueRead
}

func follow(t *testing.T, m forge.Tracker, i coppice.TrackerImport) *follower {
	return &follower{t: t, m: m, known: map[string]coppice.IssueRead{}, spec: coppice.TrackerReadSpec{
		List: true, TrackerSpec: coppice.TrackerSpec{Tracker: coppice.TrackerPolicy{Import: i}},
	}}
}

func (f *follower) pass() (coppice.TrackerReadResult, error) {
	f.spec.Known = nil
	for id, r := range f.known {
		f.spec.Known = append(f.spec.Known, coppice.Known{ID: id, UpdatedAt: r.UpdatedAt, Digest: r.Digest()})
	}
	got, err := forge.ReadIssues(f.t.Context(), f.m, f.spec)
	if err != nil {
		return got, err
	}
	if got.Until.Before(f.spec.Since) {
		f.t.Errorf("the pass ends at %s, before %s", got.Until, f.spec.Since)
	}
	f.spec.Since = got.Until
	for _, r := range got.Issues {
		f.known[r.ID] = r
	}
	for _, id := range got.Gone {
		delete(f.known, id)
	}
	return got, nil
}

func (f *follower) mustPass() coppice.TrackerReadResult {
	f.t.Helper()
	got, err := f.pass()
	if err != nil {
		f.t.Fatal(err)
	}
	return got
}

func ids(list []coppice.IssueRead) string {
	var all []string
	for _, r := range list {
		all = append(all, r.ID)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestEveryChangeIsRead changes issues at random between the passes and during them. In
// the end, the latest state of each has been reported.
func TestEveryChangeIsRead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 19))
			var mu sync.Mutex
			at := time.Unix(1_000_000, 0).UTC()
			m := &forgetest.Memory{Now: func() time.Time {
				at = at.Add(time.Duration(r.IntN(400)) * time.Millisecond * time.Duration(r.IntN(2)*r.IntN(500)))
				return at.Truncate(time.Second)
			}}
			edit := func() {
				mu.Lock()
				defer mu.Unlock()
				id := fmt.Sprint(r.IntN(20))
				if r.IntN(30) == 0 {
					m.Remove(id)
					return
				}
				text := fmt.Sprint(r.Int())
				m.Change(id, func(i *coppice.IssueRead) {
					switch r.IntN(4) {
					case 0:
						i.Closed = !i.Closed
					case 1:
						i.Labels = [][]string{nil, {"agent"}, {"agent", "other"}}[r.IntN(3)]
					default:
						i.Title = text
					}
				})
			}
			during := 5
			m.Before = func(context.Context, string) error {
				mu.Lock()
				now := r.IntN(10) < during
				mu.Unlock()
				if now {
					edit()
				}
				return nil
			}
			f := follow(t, m, coppice.TrackerImport{Labels: []string{"agent"}})
			for range 40 {
				for range r.IntN(8) {
					edit()
				}
				if r.IntN(10) == 0 {
					f.spec.Since = time.Time{}
				}
				f.mustPass()
			}
			during = 0
			f.mustPass()
			f.mustPass()
			all := m.All()
			for id, want := range all {
				got, known := f.known[id]
				if !known && !want.Closed && slices.Contains(want.Labels, "agent") {
					t.Errorf("the issue %s was not reported", id)
				}
				if known && (got.Title != want.Title || got.Closed != want.Closed || !slices.Equal(got.Labels, want.Labels)) {
					t.Errorf("the issue %s was reported as %+v, and is %+v", id, got, want)
				}
			}
			f.spec.Since = time.Time{}
			f.mustPass()
			for id := range f.known {
				if _, exists := all[id]; !exists {
					t.Errorf("the issue %s is gone, and that was not reported", id)
				}
			}
			f.mustPass()
			calls := 0
			m.Before = func(_ context.Context, method string) error {
				if method == "Issue" {
					mu.Lock()
					calls++
					mu.Unlock()
				}
				return nil
			}
			if got := f.mustPass(); len(got.Issues) > 0 || calls > 20 {
				t.Errorf("nothing changed, and %d calls reported %s", calls, ids(got.Issues))
			}
		})
	}
}

// TestReadsOnlyWhatChanged counts the calls of quiet passes.
func TestReadsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	m := &forgetest.Memory{}
	for i := range 30 {
		m.Change(fmt.Sprint(i), func(r *coppice.IssueRead) { r.Labels = []string{"agent"} })
	}
	m.Change("other", func(*coppice.IssueRead) {})
	f := follow(t, m, coppice.TrackerImport{Labels: []string{"agent"}})
	if got := f.mustPass(); len(got.Issues) != 30 || len(got.Matching) != 30 {
		t.Errorf("%d issues, %d match", len(got.Issues), len(got.Matching))
	}
	var mu sync.Mutex
	var calls []string
	m.Before = func(_ context.Context, method string) error {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, method)
		return nil
	}
	for range 2 {
		calls = nil
		if got := f.mustPass(); len(got.Issues) > 1 || len(calls) > 3 {
			t.Errorf("a quiet pass reports %s after %q", ids(got.Issues), calls)
		}
	}
	m.Change("3", func(r *coppice.IssueRead) { r.Labels = nil })
	m.Change("4", func(r *coppice.IssueRead) { r.Closed = true })
	m.Remove("5")
	m.Change("31", func(r *coppice.IssueRead) { r.Labels = []string{"agent"} })
	if got := f.mustPass(); ids(got.Issues) != "3 31 4" {
		t.Errorf("a pass reports %s", ids(got.Issues))
	}
	f.spec.Since, calls = time.Time{}, nil
	if got := f.mustPass(); ids(got.Issues) != "31" && ids(got.Issues) != "" || strings.Join(got.Gone, " ") != "5" || len(got.Matching) != 28 || len(calls) > 6 {
		t.Errorf("a full pass reports %s, %q and %d after %q", ids(got.Issues), got.Gone, len(got.Matching), calls)
	}
	f.spec.Named, f.spec.List = []string{"other", "7", "none", "7"}, false
	if got := f.mustPass(); !strings.Contains(ids(got.Issues), "7 other") || strings.Join(got.Gone, " ") != "none" {
		t.Errorf("named issues: %s and %q", ids(got.Issues), got.Gone)
	}
}

// TestLateChange lets the tracker show a change after a newer one.
func TestLateChange(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_000_000, 0)
	m := &forgetest.Memory{Now: func() time.Time { return at }}
	add := func(id string) { m.Change(id, func(r *coppice.IssueRead) { r.Labels = []string{"agent"} }) }
	add("1")
	f := follow(t, m, coppice.TrackerImport{Labels: []string{"agent"}})
	f.mustPass()
	at = at.Add(time.Hour)
	add("2")
	f.mustPass()
	at = at.Add(-30 * time.Second)
	add("3")
	if got := f.mustPass(); !strings.Contains(ids(got.Issues), "3") {
		t.Errorf("a late change is not found: %s", ids(got.Issues))
	}
}

// TestManyIssues reads more issues than one pass reports, several of which changed at
// the same time.
func TestManyIssues(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_000_000, 0).UTC()
	m := &forgetest.Memory{Now: func() time.Time { return at }}
	const n = 1300
	for i := range n {
		if i%320 == 0 {
			at = at.Add(5 * time.Minute)
		}
		m.Change(fmt.Sprint(i), func(r *coppice.IssueRead) { r.Labels = []string{"agent"} })
	}
	f := follow(t, m, coppice.TrackerImport{Labels: []string{"agent"}})
	for i := range 10 {
		got := f.mustPass()
		if i == 0 && len(got.Matching) != n || len(got.Issues) > forge.MostIssues {
			t.Errorf("%d issues match, %d are reported", len(got.Matching), len(got.Issues))
		}
	}
	if len(f.known) != n {
		t.Errorf("%d issues were reported, want %d", len(f.known), n)
	}
	at = at.Add(time.Second)
	for i := range 2500 {
		m.Change(fmt.Sprint(i), func(r *coppice.IssueRead) { r.Labels = []string{"agent"} })
		at = at.Add(time.Second)
	}
	f.spec.Since = time.Time{}
	if _, err := f.pass(); coppice.ErrorCode(err) != coppice.EInvalid || coppice.Public(err).Fix == "" {
		t.Errorf("too many issues: %v", err)
	}
}

func TestReadIssuesWithFailures(t *testing.T) {
	t.Parallel()
	broken := coppice.Failf(coppice.ClassEnvironment, "the answer is too large", "")
	limit := coppice.Failf(coppice.ClassRateLimit, "slow down", "")
	m := &forgetest.Memory{}
	for i := range 50 {
		m.Change(fmt.Sprint(i), func(r *coppice.IssueRead) { r.Labels = []string{"agent"} })
	}
	var mu sync.Mutex
	n := 0
	fail := map[string]func(int) error{}
	m.Before = func(_ context.Context, method string) error {
		mu.Lock()
		defer mu.Unlock()
		if fail[method] == nil {
			return nil
		}
		n++
		return fail[method](n)
	}
	f := follow(t, m, coppice.TrackerImport{Labels: []string{"agent"}})
	fail["Issue"] = func(n int) error { return map[bool]error{true: broken}[n <= 3] }
	if got := f.mustPass(); len(got.Issues) != 47 {
		t.Errorf("three broken issues: %d are reported", len(got.Issues))
	}
	fail["Issue"], f.spec.Since = nil, time.Time{}
	if f.mustPass(); len(f.known) != 50 {
		t.Errorf("after a full pass, %d are known", len(f.known))
	}
	fail["Issue"] = func(int) error { return limit }
	f.known, f.spec.Since, n = map[string]coppice.IssueRead{}, time.Time{}, 0
	if _, err := f.pass(); !errors.Is(err, limit) || n > 2*forge.Parallel {
		t.Errorf("a limit: %v after %d calls", err, n)
	}
	// The whole source is not readable any more.
	missing := coppice.Errorf(coppice.ENotFound, "no repository")
	fail["Issue"] = func(int) error { return missing }
	fail["Issues"] = fail["Issue"]
	spec := coppice.TrackerReadSpec{Named: []string{"1", "2"}}
	if got, err := forge.ReadIssues(t.Context(), m, spec); !errors.Is(err, missing) {
		t.Errorf("without the source: %+v, %v", got, err)
	}
	fail["Issues"] = nil
	if got, err := forge.ReadIssues(t.Context(), m, spec); err != nil || len(got.Gone) != 2 {
		t.Errorf("two issues are gone: %+v, %v", got, err)
	}
}

// TestWritesOnce repeats a write that was interrupted before or after each call.
func TestWritesOnce(t *testing.T) {
	t.Parallel()
	yes, title, text := true, "New title", "New text"
	killed := errors.New("killed")
	for cut := 1; ; cut++ {
		m := &forgetest.Memory{}
		m.Change("7", func(r *coppice.IssueRead) { r.Title, r.Labels = "Old title", []string{"agent", "waiting"} })
		m.Comment("7", "ada", "quoting Coppice: "+coppice.IssueMarker("app-1"))
		spec := coppice.TrackerWriteSpec{Issue: "7", Key: "app-1", Comment: "It works on it.\n"}
		if _, err := forge.WriteIssue(t.Context(), m, spec); err != nil {
			t.Fatal(err)
		}
		spec.Comment = "It landed."
		spec.Edit = coppice.IssueEdit{Title: &title, Text: &text, Closed: &yes, Add: []string{"done"}, Drop: []string{"waiting", "none"}}
		n, writes := 0, 0
		count := func(_ context.Context, method string) error {
			if n++; n == cut {
				return killed
			}
			return nil
		}
		m.Before = count
		m.After = func(ctx context.Context, method string) error {
			if method != "Issue" && method != "Comments" {
				writes++
			}
			return count(ctx, method)
		}
		_, err := forge.WriteIssue(t.Context(), m, spec)
		if err == nil && n < cut {
			if cut < 8 {
				t.Errorf("only %d places were cut", cut)
			}
			return
		}
		if !errors.Is(err, killed) {
			t.Fatalf("cut %d: %v", cut, err)
		}
		var got coppice.TrackerWriteResult
		for range 2 {
			if got, err = forge.WriteIssue(t.Context(), m, spec); err != nil {
				t.Fatal(err)
			}
		}
		all := m.All()["7"]
		if writes != 2 || len(all.Comments) != 2 || all.Comments[1].Text != "It landed.\n\n"+coppice.IssueMarker("app-1") || all.Comments[0].Text == all.Comments[1].Text {
			t.Errorf("cut %d: %d writes, comments %+v", cut, writes, all.Comments)
		}
		r := got.Issue
		if r.Title != title || r.Text != text || !r.Closed || !slices.Equal(r.Labels, []string{"agent", "done"}) || len(r.Comments) != 1 {
			t.Errorf("cut %d: %+v", cut, r)
		}
		if !r.UpdatedAt.Before(all.UpdatedAt) {
			t.Errorf("a change in the same second would not be read: %s", r.UpdatedAt)
		}
	}
}

func TestWriteIssueRefuses(t *testing.T) {
	t.Parallel()
	m := &forgetest.Memory{}
	for _, spec := range []coppice.TrackerWriteSpec{{}, {Issue: "1", Comment: "text"}} {
		if _, err := forge.WriteIssue(t.Context(), m, spec); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	if _, err := forge.WriteIssue(t.Context(), m, coppice.TrackerWriteSpec{Issue: "1", Key: "k", Comment: "text"}); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("no issue: %v", err)
	}
	m.Change("1", func(*coppice.IssueRead) {})
	m.Before = func(_ context.Context, method string) error {
		if method == "EditComment" {
			m.Change("1", func(r *coppice.IssueRead) { r.Comments = nil })
		}
		return nil
	}
	for _, text := range []string{"one", "two"} {
		if _, err := forge.WriteIssue(t.Context(), m, coppice.TrackerWriteSpec{Issue: "1", Key: "k", Comment: text}); err != nil {
			t.Fatal(err)
		}
	}
	if list := m.All()["1"].Comments; len(list) != 1 || !strings.HasPrefix(list[0].Text, "two") {
		t.Errorf("a comment that was deleted: %+v", list)
	}
}

func TestClipIssue(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 40<<10)
	r := coppice.IssueRead{ID: "1", Title: long, Text: long, Labels: append(slices.Repeat([]string{"b"}, 100), long), Links: slices.Repeat([]string{long}, 90)}
	for i := range 80 {
		r.Comments = append(r.Comments, coppice.IssueComment{ID: fmt.Sprint(i), Text: long, Author: long})
	}
	r.Comments = append(r.Comments, coppice.IssueComment{ID: "80", Text: coppice.IssueMarker("k"), Own: true}, coppice.IssueComment{ID: "81", Text: coppice.IssueMarker("k")})
	got := forge.ClipIssue(r)
	if n := len(coppice.Raw(got)); n > 512<<10 {
		t.Errorf("the whole issue has %d bytes", n)
	}
	if len(got.Text) != coppice.MaxIssueText || len(got.Links) != coppice.MaxIssueLinks || len(got.Comments) != coppice.MaxIssueComments || got.Comments[49].ID != "81" || got.Comments[48].ID != "79" {
		t.Errorf("%d bytes, %d links, %d comments up to %s", len(got.Text), len(got.Links), len(got.Comments), got.Comments[len(got.Comments)-1].ID)
	}
	if len(r.Comments) != 82 || len(r.Text) != len(long) {
		t.Error("ClipIssue changed its argument")
	}
}
