package forge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coppice"
	"coppice/forge"
)

// fake is a forge whose requests a test prepares. It fails in calls that the test
// does not expect.
type fake struct {
	forge.Forge
	t      *testing.T
	recent []forge.Brief
	find   func() (forge.Brief, error)
	create func() (forge.Brief, error)
	merge  func() (string, error)
	read   func(context.Context, int) (coppice.PullRead, error)

	mu    sync.Mutex
	calls []string
}

func (f *fake) note(s string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, s)
}

func (f *fake) Recent(context.Context) ([]forge.Brief, error)     { return f.recent, nil }
func (f *fake) Tip(context.Context, string) (string, error)       { return "tip", nil }
func (f *fake) Find(context.Context, string) (forge.Brief, error) { return f.find() }
func (f *fake) Create(_ context.Context, text coppice.PullText) (forge.Brief, error) {
	f.note("create " + text.Body)
	return f.create()
}
func (f *fake) Update(_ context.Context, n int, _ coppice.PullText) error {
	f.note(fmt.Sprint("update ", n))
	return nil
}
func (f *fake) Merge(context.Context, int, forge.Merge) (string, error) {
	f.note("merge")
	return f.merge()
}
func (f *fake) Read(ctx context.Context, n int) (coppice.PullRead, error) {
	f.note(fmt.Sprint("read ", n))
	return f.read(ctx, n)
}

var errMissing = coppice.Errorf(coppice.ENotFound, "missing")

func TestPutAfterARace(t *testing.T) {
	t.Parallel()
	found := []forge.Brief{{}, {Number: 7, State: coppice.PullOpen, Body: coppice.PullMarker("k")}}
	f := &fake{t: t, find: func() (forge.Brief, error) {
		next := found[0]
		found = found[1:]
		if next.Number == 0 {
			return next, errMissing
		}
		return next, nil
	}, create: func() (forge.Brief, error) {
		return forge.Brief{}, coppice.Errorf(coppice.EConflict, "exists")
	}}
	got, err := forge.Write(t.Context(), f, coppice.ForgeWriteSpec{Op: coppice.ForgePut, Key: "k", Text: coppice.PullText{Branch: "b", Body: "text\n"}})
	want := []string{"create text\n\n" + coppice.PullMarker("k"), "update 7"}
	if err != nil || got.Number != 7 || !slices.Equal(f.calls, want) {
		t.Errorf("%+v, %v after %q, want %q", got, err, f.calls, want)
	}
	f = &fake{t: t, find: func() (forge.Brief, error) { return forge.Brief{}, errMissing }, create: f.create}
	if _, err := forge.Write(t.Context(), f, coppice.ForgeWriteSpec{Op: coppice.ForgePut, Key: "k", Text: coppice.PullText{Branch: "b"}}); err == nil || len(f.calls) != 1 {
		t.Errorf("a request that cannot be found: %v after %q", err, f.calls)
	}
}

func TestPutLooksUp(t *testing.T) {
	t.Parallel()
	ours := coppice.PullMarker("k")
	for name, c := range map[string]struct {
		found  forge.Brief
		number int // that Coppice knows
		before int
		closed bool // the one before was
		want   string
	}{
		"none":                        {want: "create"},
		"open":                        {found: forge.Brief{Number: 5, State: coppice.PullOpen, Body: ours}, want: "update 5"},
		"open, of a longer key":       {found: forge.Brief{Number: 5, State: coppice.PullOpen, Body: coppice.PullMarker("k2")}, want: "conflict"},
		"open, without a marker":      {found: forge.Brief{Number: 5, State: coppice.PullOpen}, want: "conflict"},
		"adopted":                     {found: forge.Brief{Number: 5, State: coppice.PullOpen}, number: 5, want: "update 5"},
		"adopted, of another project": {number: 6, want: "read 6, update 6"},
		"merged":                      {found: forge.Brief{Number: 5, State: coppice.PullMerged, Body: ours, Head: "h"}, want: ""},
		"closed":                      {found: forge.Brief{Number: 5, State: coppice.PullClosed, Body: ours, Head: "h"}, want: ""},
		"closed, with a commit more":  {found: forge.Brief{Number: 5, State: coppice.PullClosed, Body: ours, Head: "theirs"}, want: ""},
		"closed, the one before":      {found: forge.Brief{Number: 5, State: coppice.PullClosed, Body: ours, Head: "old"}, before: 5, want: "create"},
		"merged, the one before":      {found: forge.Brief{Number: 5, State: coppice.PullMerged, Body: ours, Head: "h"}, before: 5, want: "create"},
		"closed, then merged":         {found: forge.Brief{Number: 5, State: coppice.PullMerged, Body: ours, Head: "h"}, before: 5, closed: true, want: ""},
		"an older head was merged":    {found: forge.Brief{Number: 5, State: coppice.PullMerged, Body: ours, Head: "old"}, before: 5, closed: true, want: "create"},
		"closed, of another task":     {found: forge.Brief{Number: 5, State: coppice.PullClosed, Head: "h"}, want: "create"},
	} {
		f := &fake{t: t, create: func() (forge.Brief, error) { return forge.Brief{Number: 8, State: coppice.PullOpen}, nil }}
		f.find = func() (forge.Brief, error) {
			if c.found.Number == 0 {
				return forge.Brief{}, errMissing
			}
			return c.found, nil
		}
		f.read = func(_ context.Context, n int) (coppice.PullRead, error) {
			return coppice.PullRead{Number: n, State: coppice.PullOpen}, nil
		}
		got, err := forge.Write(t.Context(), f, coppice.ForgeWriteSpec{Op: coppice.ForgePut, Key: "k", Number: c.number, Before: c.before, Closed: c.closed, Head: "h", Text: coppice.PullText{Branch: "b", Body: ours}})
		calls := strings.ReplaceAll(strings.Join(f.calls, ", "), " "+ours, "")
		if err != nil {
			calls += string(coppice.ErrorCode(err))
		}
		if calls != c.want || err == nil && c.found.Number != 0 && c.want != "create" && got.State != c.found.State {
			t.Errorf("%s: %q and %+v, %v, want %q", name, calls, got, err, c.want)
		}
	}
}

func TestMergedByAnother(t *testing.T) {
	t.Parallel()
	state := coppice.PullOpen
	f := &fake{t: t}
	f.read = func(context.Context, int) (coppice.PullRead, error) {
		return coppice.PullRead{Number: 3, State: state, Head: "h", Merged: map[bool]string{true: "m"}[state == coppice.PullMerged]}, nil
	}
	f.merge = func() (string, error) { state = coppice.PullMerged; return "", &forge.Refused{Text: "not allowed"} }
	spec := coppice.ForgeWriteSpec{Op: coppice.ForgeMerge, Number: 3, Head: "h"}
	if got, err := forge.Write(t.Context(), f, spec); err != nil || got.State != coppice.PullMerged || got.Merged != "m" || got.Blocked != "" {
		t.Errorf("somebody else merged it: %+v, %v", got, err)
	}
	state = coppice.PullOpen
	f.merge = func() (string, error) { return "", &forge.Refused{Text: "not allowed"} }
	if got, err := forge.Write(t.Context(), f, spec); err != nil || got.State != coppice.PullOpen || got.Blocked != "not allowed" {
		t.Errorf("the forge refuses: %+v, %v", got, err)
	}
}

func TestBadChange(t *testing.T) {
	t.Parallel()
	for _, spec := range []coppice.ForgeWriteSpec{{Op: "rename", Number: 1}, {Op: coppice.ForgeMerge}, {Op: coppice.ForgeClose}, {Op: coppice.ForgeComment}, {Op: coppice.ForgeResolve}} {
		if _, err := forge.Write(t.Context(), &fake{t: t}, spec); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

func wants(n int) (list []coppice.PullWant) {
	for i := range n {
		list = append(list, coppice.PullWant{Task: int64(i), Number: i + 1, Whole: true})
	}
	return list
}

func TestReadsAtMostFourInParallel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release, done := make(chan struct{}), make(chan struct{})
		f := &fake{t: t}
		f.read = func(_ context.Context, n int) (coppice.PullRead, error) {
			<-release
			return coppice.PullRead{Number: n}, nil
		}
		var got coppice.ForgeReadResult
		var err error
		go func() {
			defer close(done)
			got, err = forge.Read(t.Context(), f, coppice.ForgeReadSpec{Pulls: wants(40)})
		}()
		synctest.Wait()
		if len(f.calls) != forge.Parallel || forge.Parallel != 4 {
			t.Errorf("%d requests in parallel", len(f.calls))
		}
		close(release)
		<-done
		if err != nil || len(got.Pulls) != 40 {
			t.Errorf("%d requests, %v", len(got.Pulls), err)
		}
		for i, p := range got.Pulls {
			if p.Task != int64(i) || p.Read.Number != i+1 {
				t.Errorf("the request %d is %+v", i, p)
			}
		}
	})
}

func TestReadWithFailures(t *testing.T) {
	t.Parallel()
	broken := coppice.Failf(coppice.ClassEnvironment, "the answer is too large", "")
	limit := coppice.Failf(coppice.ClassRateLimit, "slow down", "")
	fail := map[int]error{2: broken, 3: errMissing}
	f := &fake{t: t}
	f.read = func(ctx context.Context, n int) (coppice.PullRead, error) {
		if n > 5 { // no answer comes after that of the limit
			<-ctx.Done()
		}
		return coppice.PullRead{Number: n}, fail[n]
	}
	got, err := forge.Read(t.Context(), f, coppice.ForgeReadSpec{Base: "main", Pulls: wants(4)})
	if err != nil || len(got.Pulls) != 3 || got.Pulls[1].Read.State != coppice.PullClosed || got.Tip != "tip" {
		t.Errorf("one broken and one missing request: %+v, %v", got, err)
	}
	if _, err = forge.Read(t.Context(), f, coppice.ForgeReadSpec{Pulls: wants(4)[1:2]}); err != broken {
		t.Errorf("only a broken request: %v", err)
	}
	fail[5], f.calls = limit, nil
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err = forge.Read(ctx, f, coppice.ForgeReadSpec{Pulls: wants(100)}); err != limit || len(got.Pulls) != 0 || len(f.calls) > 5+forge.Parallel {
		t.Errorf("a limit of the forge: %v after %d calls", err, len(f.calls))
	}
}

func TestReadsWhatDiffers(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	brief := func(n int, change func(*forge.Brief)) forge.Brief {
		b := forge.Brief{Number: n, State: coppice.PullOpen, Head: "h", UpdatedAt: at.UTC()}
		change(&b)
		return b
	}
	f := &fake{t: t, recent: []forge.Brief{
		brief(1, func(*forge.Brief) {}), brief(2, func(b *forge.Brief) { b.Head = "other" }), brief(3, func(b *forge.Brief) { b.UpdatedAt = at.Add(1) }),
		brief(4, func(b *forge.Brief) { b.State = coppice.PullMerged }), brief(9, func(*forge.Brief) {}),
	}}
	f.read = func(_ context.Context, n int) (coppice.PullRead, error) { return coppice.PullRead{Number: n}, nil }
	spec := coppice.ForgeReadSpec{Pulls: wants(5)} // the list does not have the last one
	for i := range spec.Pulls {
		spec.Pulls[i].Whole, spec.Pulls[i].Head, spec.Pulls[i].UpdatedAt = false, "h", at
	}
	got, err := forge.Read(t.Context(), f, spec)
	slices.Sort(f.calls)
	if err != nil || len(got.Pulls) != 3 || strings.Join(f.calls, ", ") != "read 2, read 3, read 4" {
		t.Errorf("%+v, %v after %q", got, err, f.calls)
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 20<<10)
	r := coppice.PullRead{Title: long, URL: long, Branch: "\xff", Labels: slices.Repeat([]string{long}, 100)}
	for i := range 80 {
		r.Comments = append(r.Comments, coppice.PullComment{ID: fmt.Sprint(i), Text: long, Path: long})
		r.Checks = append(r.Checks, coppice.PullCheck{Name: fmt.Sprintf("%02d", i), State: coppice.CIPassed, Text: "a\nb", Log: long + "the end"})
	}
	r.Checks[79].State = coppice.CIFailed
	got := forge.Clip(r)
	if n := len(coppice.Raw(got)); n > 1<<20 {
		t.Errorf("the whole request has %d bytes", n)
	}
	if len(got.Comments) != coppice.MaxPullComments || got.Comments[0].ID != "30" || len(got.Comments[0].Text) != coppice.MaxPullComment {
		t.Errorf("%d comments from %s", len(got.Comments), got.Comments[0].ID)
	}
	last := got.Checks[len(got.Checks)-1]
	if len(got.Checks) != coppice.MaxPullChecks || last.Name != "79" || !strings.HasSuffix(last.Log, "the end") || len(last.Log) > coppice.MaxPullLog || last.Text != "a" || got.Branch != "?" {
		t.Errorf("%d checks, the last one is %+v", len(got.Checks), last)
	}
	if len(r.Comments) != 80 || len(r.Comments[79].Text) != len(long) {
		t.Error("Clip changed its argument")
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		checks string
		want   coppice.CIState
	}{{"", coppice.CINone}, {"passed", coppice.CIPassed}, {"passed pending", coppice.CIPending}, {"pending passed", coppice.CIPending}, {"failed pending", coppice.CIFailed}, {"passed failed", coppice.CIFailed}} {
		var checks []coppice.PullCheck
		for s := range strings.FieldsSeq(c.checks) {
			checks = append(checks, coppice.PullCheck{State: coppice.CIState(s)})
		}
		if got := forge.CIOf(checks); got != c.want {
			t.Errorf("%q is %q, want %q", c.checks, got, c.want)
		}
	}
	for _, c := range []struct {
		reviews string // author and decision; an author in capital letters can write
		want    coppice.ReviewState
	}{
		{"", ""}, {"A:approved", "approved"}, {"a:approved", ""}, {"A:changes A:approved", "approved"}, {"A:approved A:changes", "changes"},
		{"A:approved B:changes", "changes"}, {"B:changes A:approved", "changes"}, {"A:changes A:", "changes"}, {"A:approved b:changes", "approved"},
	} {
		var list []coppice.PullComment
		for s := range strings.FieldsSeq(c.reviews) {
			author, state, _ := strings.Cut(s, ":")
			list = append(list, coppice.PullComment{Author: author, Writes: author == strings.ToUpper(author), Review: coppice.ReviewState(state)})
		}
		if got := forge.ReviewOf(list); got != c.want {
			t.Errorf("%q is %q, want %q", c.reviews, got, c.want)
		}
	}
}
