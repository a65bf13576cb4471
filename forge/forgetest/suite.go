package forgetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
)

// Run tests an implementation. Each test has a new repository.
func Run(t *testing.T, newBundle func(t *testing.T) Bundle) {
	for name, test := range map[string]func(*testing.T, Bundle){
		"Life": life, "Twice": twice, "Close": closing, "Comments": comments, "Reviews": reviews, "CI": ci, "Conflict": conflict,
		"Errors": failures, "Conditional": conditional, "Pass": pass, "Methods": methods, "Auto": auto, "Stack": stack, "Hostile": hostile,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newBundle(t))
		})
	}
}

// life follows a request from a draft to its merge.
func life(t *testing.T, b Bundle) {
	c := newTransport()
	f := b.open(t, c)
	head := b.Commit(t, "topic/one", "one.txt", "one\n")
	text := b.text("topic/one")
	text.Draft, text.Labels, text.Reviewers = true, []string{"coppice"}, []string{b.Writer}
	opened := write(t, f, put(text))
	if opened.Number == 0 || opened.State != coppice.PullOpen || !strings.HasPrefix(opened.URL, "http") {
		t.Fatalf("opened %+v", opened)
	}
	number := opened.Number
	r := Read(t, f, number)
	if r.Title != text.Title || r.Head != head || r.Branch != text.Branch || r.Base != b.Base || r.State != coppice.PullOpen || r.Author != b.Login || r.Foreign || r.UpdatedAt.IsZero() {
		t.Errorf("read %+v", r)
	}
	if b.has(t, Drafts) && !r.Draft {
		t.Errorf("the request is not a draft")
	}
	if !slices.Equal(r.Labels, text.Labels) {
		t.Errorf("labels %q, want %q", r.Labels, text.Labels)
	}
	if b.has(t, Reviewers) && len(b.Asked(t, number)) != 0 {
		t.Errorf("%v were asked to review a draft", b.Asked(t, number))
	}

	c.take()
	same := put(text)
	same.Number = number
	for _, spec := range []coppice.ForgeWriteSpec{same, put(text)} {
		if again := write(t, f, spec); again.Number != number {
			t.Errorf("a second put has the number %d, want %d", again.Number, number)
		}
	}
	if writes, _ := c.take(); len(writes) != 0 {
		t.Errorf("putting the same text again wrote %v", writes)
	}

	text.Draft, text.Title, text.Labels = false, "Another title", []string{"coppice", "proven"}
	write(t, f, put(text))
	if r = Read(t, f, number); r.Draft || r.Title != text.Title || !slices.Equal(r.Labels, text.Labels) {
		t.Errorf("after the update: %+v", r)
	}
	if b.has(t, Reviewers) && !slices.Equal(b.Asked(t, number), text.Reviewers) {
		t.Errorf("%v were asked, want %v", b.Asked(t, number), text.Reviewers)
	}
	c.take()
	if write(t, f, put(text)); b.has(t, Reviewers) {
		if writes, _ := c.take(); len(writes) != 0 {
			t.Errorf("putting the same text again wrote %v", writes)
		}
	}

	merge := coppice.ForgeWriteSpec{Op: coppice.ForgeMerge, Key: "topic/one", Number: number, Head: strings.Repeat("0", 40), Method: coppice.MergeSquash}
	if got := write(t, f, merge); got.Blocked == "" || got.State != coppice.PullOpen {
		t.Errorf("merging another head: %+v", got)
	}
	var refused *forge.Refused
	if _, err := f.Merge(t.Context(), number, forge.Merge{Head: merge.Head, Method: merge.Method}); b.has(t, HeadCheck) && !errors.As(err, &refused) {
		t.Errorf("the forge merged another head: %v", err)
	}
	merge.Head = head
	merged := write(t, f, merge)
	tip, err := f.Tip(t.Context(), b.Base)
	if merged.State != coppice.PullMerged || merged.Merged == "" || err != nil || tip != merged.Merged {
		t.Errorf("merged %+v, and the base is at %s, %v", merged, tip, err)
	}
	c.take()
	if again := write(t, f, merge); again.Merged != merged.Merged || again.State != coppice.PullMerged {
		t.Errorf("merging again: %+v, want %+v", again, merged)
	}
	ended := put(text)
	ended.Head = head
	if again := write(t, f, ended); again.State != coppice.PullMerged || again.Number != number {
		t.Errorf("putting what is merged: %+v", again)
	}
	if writes, _ := c.take(); len(writes) != 0 {
		t.Errorf("a merged request was written to: %v", writes)
	}
	if b.has(t, Deleting) {
		b.DeleteBranch(t, text.Branch)
		if r = Read(t, f, number); r.Branch != text.Branch || r.State != coppice.PullMerged {
			t.Errorf("after its branch was deleted: %+v", r)
		}
	}
}

// twice opens requests whose results are lost.
func twice(t *testing.T, b Bundle) {
	f := b.open(t, newTransport())
	b.Commit(t, "lost", "lost.txt", "lost\n")
	text := b.text("lost")
	first, err := f.Create(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create(t.Context(), text); coppice.ErrorCode(err) != coppice.EConflict {
		t.Errorf("a second request of the branch: %v, want a conflict", err)
	}
	if got := write(t, f, put(text)); got.Number != first.Number {
		t.Errorf("put found #%d, want #%d", got.Number, first.Number)
	}
	found, err := f.Find(t.Context(), "lost")
	if err != nil || found.Number != first.Number || found.State != coppice.PullOpen || !strings.Contains(found.Body, coppice.PullMarker("lost")) {
		t.Errorf("Find = %+v, %v", found, err)
	}
	// Somebody else has opened a request of the branch: it has no marker, or another one.
	spec := put(text)
	spec.Key, spec.Text.Body = "other", "no marker"
	_, err = forge.Write(t.Context(), f, spec)
	if e := coppice.Public(err); e.Code != coppice.EConflict || !strings.Contains(e.Fix, fmt.Sprint("adopt ", first.Number)) {
		t.Errorf("put of another task on the same branch: %v", err)
	}
	spec.Number = first.Number // adopted
	if got := write(t, f, spec); got.Number != first.Number {
		t.Errorf("put of an adopted request: %+v", got)
	}
}

// closing closes a request, which is never opened again.
func closing(t *testing.T, b Bundle) {
	c := newTransport()
	f := b.open(t, c)
	number, head := b.started(t, f, "unwanted")
	spec := coppice.ForgeWriteSpec{Op: coppice.ForgeClose, Number: number}
	if got := write(t, f, spec); got.State != coppice.PullClosed {
		t.Errorf("closed: %+v", got)
	}
	c.take()
	again := put(b.text("unwanted"))
	again.Head = head
	for _, s := range []coppice.ForgeWriteSpec{spec, again, {Op: coppice.ForgeMerge, Number: number}} {
		if got := write(t, f, s); got.State != coppice.PullClosed || got.Number != number {
			t.Errorf("%s of a closed request: %+v", s.Op, got)
		}
	}
	if writes, _ := c.take(); len(writes) != 0 {
		t.Errorf("a closed request was written to: %v", writes)
	}
	// More work of the task gets a new request.
	again.Before = number
	again.Head = b.Commit(t, "unwanted", "unwanted.txt", "better\n")
	if got := write(t, f, again); got.Number == number || got.State != coppice.PullOpen {
		t.Errorf("more work on the branch: %+v, the closed one was #%d", got, number)
	}
}

// comments writes comments one time, and reads those of others.
func comments(t *testing.T, b Bundle) {
	f := b.open(t, newTransport())
	number, _ := b.started(t, f, "talk")
	b.Comment(t, number, b.Stranger, "from outside")
	b.Comment(t, number, b.Writer, "from inside")
	spec := coppice.ForgeWriteSpec{Op: coppice.ForgeComment, Key: "talk/1", Number: number, Comment: "It is done."}
	write(t, f, spec)
	write(t, f, spec)
	spec.Key = "talk/10"
	write(t, f, spec)
	list := Read(t, f, number).Comments
	var texts []string
	ids := map[string]bool{}
	for _, c := range list {
		texts, ids[c.ID] = append(texts, c.Author+": "+strings.Split(c.Text, "\n")[0]), true
		if b.has(t, Access) && c.Writes != (c.Author != b.Stranger) || c.Bot || c.At.IsZero() || c.Ours() != (c.Author == b.Login) {
			t.Errorf("comment %+v", c)
		}
	}
	want := []string{b.Stranger + ": from outside", b.Writer + ": from inside", b.Login + ": It is done.", b.Login + ": It is done."}
	if !slices.Equal(texts, want) || len(ids) != len(list) {
		t.Errorf("comments %q with ids %v, want %q", texts, ids, want)
	}
}

// reviews reads what people decide.
func reviews(t *testing.T, b Bundle) {
	f := b.open(t, newTransport())
	number, _ := b.started(t, f, "reviewed")
	want := func(state coppice.ReviewState, step string) coppice.PullRead {
		t.Helper()
		r := Read(t, f, number)
		if r.Review != state {
			t.Errorf("after %s the review is %q, want %q: %+v", step, r.Review, state, r.Comments)
		}
		return r
	}
	want(coppice.ReviewNone, "nothing")
	if b.has(t, Access) {
		b.Review(t, number, b.Stranger, coppice.ReviewApproved, "fine for me")
		want(coppice.ReviewNone, "the approval of a stranger")
	}
	b.Review(t, number, b.Writer, coppice.ReviewChanges, "please test it")
	r := want(coppice.ReviewChanges, "a request for changes")
	if i := slices.IndexFunc(r.Comments, func(c coppice.PullComment) bool { return c.Text == "please test it" }); i < 0 || r.Comments[i].Review != coppice.ReviewChanges || r.Comments[i].Author != b.Writer {
		t.Errorf("reviews: %+v", r.Comments)
	}
	b.Review(t, number, b.Writer, coppice.ReviewNone, "only a remark")
	want(coppice.ReviewChanges, "a remark")
	b.Review(t, number, b.Writer, coppice.ReviewApproved, "thank you")
	want(coppice.ReviewApproved, "an approval")
	if !b.has(t, Lines) {
		return
	}
	b.CommentLine(t, number, b.Writer, "reviewed.txt", 1, "a typo")
	r = want(coppice.ReviewApproved, "a comment on a line")
	i := slices.IndexFunc(r.Comments, func(c coppice.PullComment) bool { return c.Text == "a typo" })
	if i < 0 || r.Comments[i].Path != "reviewed.txt" || r.Comments[i].Line != 1 || r.Comments[i].Thread == "" || r.Comments[i].Resolved {
		t.Fatalf("comments on lines: %+v", r.Comments)
	}
	write(t, f, coppice.ForgeWriteSpec{Op: coppice.ForgeResolve, Number: number, Threads: []string{r.Comments[i].Thread, "999999"}})
}

// ci reads the results of CI for the head.
func ci(t *testing.T, b Bundle) {
	if !b.has(t, Statuses) {
		return
	}
	f := b.open(t, newTransport())
	number, head := b.started(t, f, "checked")
	want := func(state coppice.CIState, names ...string) coppice.PullRead {
		t.Helper()
		r := Read(t, f, number)
		var got []string
		for _, c := range r.Checks {
			got = append(got, c.Name)
		}
		if r.CI != state || !slices.Equal(got, names) {
			t.Errorf("CI is %q with the checks %q, want %q with %q", r.CI, got, state, names)
		}
		return r
	}
	want(coppice.CINone)
	b.SetStatus(t, head, "build", coppice.CIPending, "")
	want(coppice.CIPending, "build")
	b.SetStatus(t, head, "build", coppice.CIPassed, "ok")
	b.SetStatus(t, head, "a/test", coppice.CIFailed, "2 tests failed")
	r := want(coppice.CIFailed, "a/test", "build")
	if failed := r.Failed(); len(failed) != 1 || failed[0].Text != "2 tests failed" {
		t.Errorf("failed checks: %+v", failed)
	}
	b.SetStatus(t, head, "a/test", coppice.CIPassed, "ok")
	want(coppice.CIPassed, "a/test", "build")
	next := b.Commit(t, "checked", "checked.txt", "fixed\n")
	if r = want(coppice.CINone); r.Head != next {
		t.Errorf("the head is %s, want %s", r.Head, next)
	}
}

// conflict lets a request not merge with its base.
func conflict(t *testing.T, b Bundle) {
	if !b.has(t, Conflicts) {
		return
	}
	f := b.open(t, newTransport())
	b.Commit(t, "theirs", "same.txt", "theirs\n")
	theirs := write(t, f, put(b.text("theirs"))).Number
	if r := Read(t, f, theirs); r.Conflicts {
		t.Errorf("a new request has conflicts: %+v", r)
	}
	b.Commit(t, b.Base, "same.txt", "base\n")
	r := Read(t, f, theirs)
	for !r.Conflicts && t.Context().Err() == nil { // a forge computes this in the background
		r = Read(t, f, theirs)
	}
	if got := write(t, f, coppice.ForgeWriteSpec{Op: coppice.ForgeMerge, Number: theirs, Head: r.Head, Method: coppice.MergeMerge}); got.Blocked == "" || got.State != coppice.PullOpen {
		t.Errorf("merging with conflicts: %+v", got)
	}
}

// failures checks the errors of the contract.
func failures(t *testing.T, b Bundle) {
	f := b.open(t, newTransport())
	number, _ := b.started(t, f, "there")
	for name, call := range calls(number + 1000) {
		if name == "Recent" || name == "Create" {
			continue
		}
		if err := call(t.Context(), f); coppice.ErrorCode(err) != coppice.ENotFound && name != "Resolve" {
			t.Errorf("%s of what does not exist: %v, want not_found", name, err)
		}
	}
	failAll(t, calls(number), []string{"Recent", "Read", "Find", "Tip", "Create"}, b.Token, func(token string, tr http.RoundTripper) forge.Forge {
		return b.openAs(t, token, tr)
	})
}

// failAll makes all calls while the service cannot be used. Only the calls in reads read
// something from an answer.
func failAll[F any](t *testing.T, calls map[string]func(context.Context, F) error, reads []string, token string, open func(token string, tr http.RoundTripper) F) {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	later := time.Now().Add(time.Hour).Truncate(time.Second)
	for what, c := range broken(later) {
		tr, token := newTransport(), cmp.Or(c.token, token)
		tr.answer = c.answer
		f := open(token, tr)
		for name, call := range calls {
			if what == "a page" && !slices.Contains(reads, name) {
				continue
			}
			err := call(t.Context(), f)
			var failure *coppice.Failure
			if !errors.As(err, &failure) || failure.Class != c.class || failure.Text == "" || strings.Contains(err.Error(), token) {
				t.Errorf("%s with %s: %#v, want a failure of class %s", name, what, err, c.class)
			} else if c.class == coppice.ClassRateLimit && !failure.RetryAt.Equal(later) {
				t.Errorf("%s with %s: retry at %s, want %s", name, what, failure.RetryAt, later)
			}
			if err := call(ended, f); !errors.Is(err, context.Canceled) {
				t.Errorf("%s with an ended context: %v", name, err)
			}
		}
	}
}

// Answers makes all calls to a forge that answers each request with a status and a body.
// None can panic, and each request of a list has a number.
func Answers(t *testing.T, open forge.Opener, r forge.Remote, status int, body string) {
	t.Helper()
	tr, pauses := newTransport(), 0
	tr.answer = respond(status, nil, body)
	f, err := open(r, forge.Options{Transport: tr, Wait: func(context.Context, time.Duration) error {
		if pauses++; pauses > 3 {
			return context.DeadlineExceeded
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	list, _ := f.Recent(ctx)
	for _, b := range list {
		if b.Number <= 0 {
			t.Errorf("a request without a number: %+v", b)
		}
	}
	for _, call := range calls(1) {
		call(ctx, f)
	}
	text := coppice.PullText{Branch: "work", Base: "main", Title: "Old", Body: "Text", Draft: true, Labels: []string{"l"}, Reviewers: []string{"x", "asked", "ann/core"}}
	f.Create(ctx, text)
	text.Draft = false
	f.Update(ctx, 1, text)
	for _, method := range coppice.PullMerges {
		f.Merge(ctx, 1, forge.Merge{Method: method, Auto: true})
	}
}

// flood answers without end.
func flood(*http.Request) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: endless{}}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func (endless) Close() error { return nil }

// calls are all methods of a forge.
func calls(number int) map[string]func(context.Context, forge.Forge) error {
	missing := fmt.Sprint("missing-", number)
	pull := coppice.PullText{Branch: missing, Base: "missing-base", Title: "t", Body: "b"}
	return map[string]func(context.Context, forge.Forge) error{
		"Recent":  func(ctx context.Context, f forge.Forge) error { _, err := f.Recent(ctx); return err },
		"Read":    func(ctx context.Context, f forge.Forge) error { _, err := f.Read(ctx, number); return err },
		"Find":    func(ctx context.Context, f forge.Forge) error { _, err := f.Find(ctx, missing); return err },
		"Tip":     func(ctx context.Context, f forge.Forge) error { _, err := f.Tip(ctx, missing); return err },
		"Create":  func(ctx context.Context, f forge.Forge) error { _, err := f.Create(ctx, pull); return err },
		"Update":  func(ctx context.Context, f forge.Forge) error { return f.Update(ctx, number, pull) },
		"Comment": func(ctx context.Context, f forge.Forge) error { return f.Comment(ctx, number, "text") },
		"Resolve": func(ctx context.Context, f forge.Forge) error { return f.Resolve(ctx, number, "1") },
		"Close":   func(ctx context.Context, f forge.Forge) error { return f.Close(ctx, number) },
		"Merge": func(ctx context.Context, f forge.Forge) error {
			_, err := f.Merge(ctx, number, forge.Merge{Head: strings.Repeat("1", 40), Method: coppice.MergeMerge})
			return err
		},
	}
}

// answered is what a service answers while it cannot be used, and the class of the failure.
type answered struct {
	class  coppice.Class
	answer func(*http.Request) *http.Response
	token  string // for the wrong token
}

// broken returns the ways in which every service can fail. A limit ends at a time.
func broken(until time.Time) map[string]answered {
	return map[string]answered{
		"a wrong token": {class: coppice.ClassAuth, token: "0123456789012345678901234567890123456789"},
		"a limit":       {class: coppice.ClassRateLimit, answer: respond(429, http.Header{"Retry-After": {until.UTC().Format(http.TimeFormat)}}, "slow down")},
		"an outage":     {class: coppice.ClassEnvironment, answer: respond(502, nil, "<html>bad gateway")},
		"a page":        {class: coppice.ClassEnvironment, answer: respond(200, http.Header{"Content-Type": {"text/html"}}, "<html>log in")},
		"a flood":       {class: coppice.ClassEnvironment, answer: flood},
	}
}
