package engine

import (
	"strings"
	"testing"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

func request(text string) verb.Request { return verb.Request{Text: text} }

// comments adds drafts to the task.
func (b *bundle) comments(texts ...string) (ids []int64) {
	b.t.Helper()
	for _, text := range texts {
		c, err := b.AddComment(b.t.Context(), "app-1", coppice.Comment{Path: "a.go", Side: coppice.SideNew, First: 2, Last: 3, Blob: "b1", Code: "two\nthree\n", Text: text})
		b.must(err)
		ids = append(ids, c.ID)
	}
	return ids
}

func (b *bundle) comment(id int64) coppice.Comment {
	b.t.Helper()
	return read(b, func(r store.Reader) (coppice.Comment, error) { return r.Comments.Get(id) })
}

func TestCommentStates(t *testing.T) {
	t.Parallel()
	b, ctx := inReview(t), t.Context()
	ids := b.comments("first", "second")
	_, err := b.ResolveComment(ctx, "app-1", ids[0], true)
	wantCode(t, "resolve a draft", err, coppice.EConflict)
	b.must(b.DropComment(ctx, "app-1", ids[1]))
	_, err = b.EditComment(ctx, "app-1", ids[1], "x")
	wantCode(t, "edit a removed one", err, coppice.ENotFound)
	m, err := b.SendComments(ctx, "app-1", "")
	b.must(err)
	if c := b.comment(ids[0]); c.State != coppice.CommentSent || c.MessageID != m.ID || !c.SentAt.Equal(noon) {
		t.Errorf("sent: %+v", c)
	}
	wantCode(t, "remove a sent one", b.DropComment(ctx, "app-1", ids[0]), coppice.EConflict)
	c, err := b.ResolveComment(ctx, "app-1", ids[0], true)
	if b.must(err); c.State != coppice.CommentResolved || c.ResolvedAt.IsZero() {
		t.Errorf("resolved: %+v", c)
	}
	c, err = b.ResolveComment(ctx, "app-1", ids[0], false)
	if b.must(err); c.State != coppice.CommentSent || !c.ResolvedAt.IsZero() {
		t.Errorf("reopened: %+v", c)
	}
	c, err = b.EditComment(ctx, "app-1", ids[0], "other words")
	if b.must(err); c.State != coppice.CommentDraft || c.MessageID != 0 || !c.SentAt.IsZero() || c.Text != "other words" {
		t.Errorf("edited: %+v", c)
	}
	b.create(coppice.NewTask{Title: "b"})
	_, err = b.EditComment(ctx, "app-2", ids[0], "x")
	wantCode(t, "a comment of another task", err, coppice.ENotFound)
}

func TestCommentLimits(t *testing.T) {
	t.Parallel()
	b := inReview(t)
	good := coppice.Comment{Path: "a.go", Side: coppice.SideNew, First: 1, Last: 1, Text: "why?"}
	for name, change := range map[string]func(*coppice.Comment){
		"no text":     func(c *coppice.Comment) { c.Text = " \n" },
		"no side":     func(c *coppice.Comment) { c.Side = "left" },
		"line 0":      func(c *coppice.Comment) { c.First = 0 },
		"last first":  func(c *coppice.Comment) { c.First = 2 },
		"many lines":  func(c *coppice.Comment) { c.Last = coppice.MaxCommentLines + 1 },
		"long lines":  func(c *coppice.Comment) { c.Code = strings.Repeat("x", coppice.MaxCommentCode+1) },
		"a zero byte": func(c *coppice.Comment) { c.Text = "a\x00" },
	} {
		c := good
		change(&c)
		_, err := b.AddComment(t.Context(), "app-1", c)
		wantCode(t, name, err, coppice.EInvalid)
	}
	long := good
	long.Text = strings.Repeat("x", coppice.MaxComment+1)
	_, err := b.AddComment(t.Context(), "app-1", long)
	wantCode(t, "a long text", err, coppice.ETooLarge)
	for range coppice.MaxComments {
		_, err := b.AddComment(t.Context(), "app-1", good)
		b.must(err)
	}
	_, err = b.AddComment(t.Context(), "app-1", good)
	wantCode(t, "one too many", err, coppice.EConflict)
}

// The engine decides nothing about drafts and viewed files.
func TestDraftsDecideNothing(t *testing.T) {
	t.Parallel()
	b := inReview(t)
	seq := b.seq()
	b.comments("first")
	b.must(b.MarkViewed(t.Context(), "app-1", "a.go", "b1", true))
	if got := b.turn(); got.Decisions != 0 || b.seq() != seq+2 {
		t.Errorf("%d decisions, %d events", got.Decisions, b.seq()-seq)
	}
}

// Where a review is sent decides how it reaches an agent. The next session, or
// the running one, gets it exactly once.
func TestAReviewReachesAnAgent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*bundle)
		follows string
		refused coppice.Code
	}{
		"in review": {prepare: func(*bundle) {}, follows: "the candidate that waits for your approval is dropped"},
		"done": {follows: "the task continues with the message", prepare: func(b *bundle) {
			b.approves()
			b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit1"})
			b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/x"})
		}},
		"done, its workspace is not removed yet": {follows: "the task continues with the message", prepare: func(b *bundle) {
			b.approves()
			b.finish("app-1", coppice.WorkMove, coppice.MoveResult{Moved: true, Now: "commit1"})
		}},
		"stopped": {follows: "the task continues with the message", prepare: func(b *bundle) {
			_, err := b.Stop(b.t.Context(), "app-1")
			b.must(err)
			b.turn()
			b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/x"})
		}},
		"landing":                  {prepare: (*bundle).approves, refused: coppice.EConflict},
		"an approval not read yet": {prepare: func(b *bundle) { _, err := b.Land(b.t.Context(), "app-1"); b.must(err) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inReview(t)
			c.prepare(b)
			ids := b.comments("say why", "and when")
			b.wantFollows("app-1", c.follows, c.refused)
			m, err := b.SendComments(t.Context(), "app-1", "nearly")
			if c.refused != "" {
				wantCode(t, "sent", err, c.refused)
				if x := b.comment(ids[0]); x.State != coppice.CommentDraft {
					t.Errorf("a refused comment is %s", x.State)
				}
				return
			}
			b.must(err)
			b.turn()
			if b.unsettled("app-1").Kind == coppice.WorkRemove {
				b.wantPending()
				b.finish("app-1", coppice.WorkRemove, coppice.RemoveResult{Head: "head1", Ref: "refs/x"})
			}
			s := b.lastSession("app-1")
			if text := b.prompt(s.ID); s.N != 2 || strings.Count(text, m.Text) != 1 || strings.Count(text, "say why") != 1 {
				t.Errorf("session %d reads:\n%s", s.N, text)
			}
			_, err = b.SendComments(t.Context(), "app-1", "")
			wantCode(t, "nothing to send", err, coppice.EInvalid)
		})
	}
}

// A running session gets a review like any message, and a task that waits for a
// person continues.
func TestAReviewOfUnfinishedWork(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	b.create(coppice.NewTask{Title: "a"})
	b.wantFollows("app-1", "the next session starts with the message", "")
	s := b.working("app-1")
	b.comments("say why")
	b.wantFollows("app-1", "the running session gets the message", "")
	m, err := b.SendComments(t.Context(), "app-1", "")
	b.must(err)
	b.turn()
	send := specOf[coppice.SendSpec](b, b.wantWork("app-1", coppice.WorkSend))
	if send.Text != m.Text || send.Session != s.Key {
		t.Errorf("sends %q to %s", send.Text, send.Session)
	}

	b = open(t)
	b.project()
	x := b.staged("waits", func(x *coppice.Task) {
		x.Stage, x.Next = coppice.StageWaiting, &coppice.Next{Role: coppice.RoleImplement, Agent: "ann"}
		x.Wait = &coppice.Wait{On: coppice.WaitPerson, Text: wasInterrupted}
	})
	b.comments("say why")
	b.wantFollows(x.Key, "the task continues with the message", "")
	m, err = b.SendComments(t.Context(), x.Key, "")
	b.must(err)
	b.turn()
	if text := b.prompt(b.lastSession(x.Key).ID); strings.Count(text, m.Text) != 1 {
		t.Errorf("it reads:\n%s", text)
	}
}

func wantCode(t *testing.T, what string, err error, code coppice.Code) {
	t.Helper()
	if coppice.ErrorCode(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// wantFollows checks what people read before they send a review.
func (b *bundle) wantFollows(key, want string, refused coppice.Code) {
	b.t.Helper()
	t := b.task(key)
	b.view(func(r store.Reader) error {
		got, err := b.AfterReview(r, t)
		wantCode(b.t, "what follows", err, refused)
		if !strings.Contains(got, want) {
			b.t.Errorf("%q follows, want %q", got, want)
		}
		return nil
	})
}

// wantPending checks that no message is marked as failed.
func (b *bundle) wantPending() {
	b.t.Helper()
	for _, m := range b.messages(b.task("app-1").ID) {
		if m.Failed != "" {
			b.t.Errorf("message %d failed: %s", m.ID, m.Failed)
		}
	}
}
