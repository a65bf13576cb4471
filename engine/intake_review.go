package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/flow"
	"coppice/prompt"
	"coppice/store"
	"coppice/verb"
)

// AddComment adds a draft of a review comment. The caller has read the comment's
// blob and code from the task's change.
func (i *Intake) AddComment(ctx context.Context, key string, c coppice.Comment) (coppice.Comment, error) {
	err := i.review(ctx, key, c.Path, func(tx store.Tx, t coppice.Task) error {
		all, err := tx.Comments.Of(t.ID)
		if err != nil {
			return err
		}
		if len(all) >= coppice.MaxComments {
			return coppice.Errorf(coppice.EConflict, "%s has %d comments, which is the limit", t.Key, len(all)).WithFix("send the drafts, or delete some of them")
		}
		if err := validComment(c); err != nil {
			return err
		}
		c.ID, c.TaskID, c.By, c.State, c.CreatedAt = 0, t.ID, i.by.String(), coppice.CommentDraft, i.now().UTC()
		return tx.Comments.Put(&c)
	})
	return c, err
}

// validComment checks a comment's text and how much it is about.
func validComment(c coppice.Comment) error {
	lines := c.Last - c.First + 1
	switch {
	case strings.TrimSpace(c.Text) == "":
		return coppice.Errorf(coppice.EInvalid, "the comment is empty").WithFix("write what should change").WithField("text")
	case c.Side != coppice.SideOld && c.Side != coppice.SideNew && c.Side != coppice.SideDocument:
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid side", coppice.Quote(string(c.Side))).WithFix("use old, new or document").WithField("side")
	case c.First < 1 || lines < 1:
		return coppice.Errorf(coppice.EInvalid, "%d to %d is not a valid range of lines", c.First, c.Last).WithFix("count lines from 1, the first one first").WithField("first")
	case lines > coppice.MaxCommentLines || len(c.Code) > coppice.MaxCommentCode:
		return coppice.Errorf(coppice.EInvalid, "the comment is about %d lines with %d bytes; the limits are %d lines and %d bytes",
			lines, len(c.Code), coppice.MaxCommentLines, coppice.MaxCommentCode).WithFix("choose fewer lines").WithField("last")
	}
	return coppice.ValidText("text", c.Text, coppice.MaxComment)
}

// EditComment changes the text of a comment. A comment that was sent or resolved
// is a draft again.
func (i *Intake) EditComment(ctx context.Context, key string, id int64, text string) (coppice.Comment, error) {
	return i.changeComment(ctx, key, id, func(c *coppice.Comment) error {
		c.Text, c.State, c.MessageID = text, coppice.CommentDraft, 0
		c.SentAt, c.ResolvedAt = time.Time{}, time.Time{}
		return validComment(*c)
	})
}

// ResolveComment resolves a comment that was sent, or reopens it.
func (i *Intake) ResolveComment(ctx context.Context, key string, id int64, on bool) (coppice.Comment, error) {
	return i.changeComment(ctx, key, id, func(c *coppice.Comment) error {
		if c.State == coppice.CommentDraft {
			return coppice.Errorf(coppice.EConflict, "comment %d is a draft", id).WithFix("send it or delete it")
		}
		c.State, c.ResolvedAt = coppice.CommentSent, time.Time{}
		if on {
			c.State, c.ResolvedAt = coppice.CommentResolved, i.now().UTC()
		}
		return nil
	})
}

func (i *Intake) changeComment(ctx context.Context, key string, id int64, change func(*coppice.Comment) error) (c coppice.Comment, err error) {
	err = i.review(ctx, key, fmt.Sprint("comment ", id), func(tx store.Tx, t coppice.Task) error {
		if c, err = commentOf(tx, t, id); err != nil {
			return err
		}
		if err := change(&c); err != nil {
			return err
		}
		return tx.Comments.Put(&c)
	})
	return c, err
}

// DropComment removes a draft.
func (i *Intake) DropComment(ctx context.Context, key string, id int64) error {
	return i.review(ctx, key, fmt.Sprint("comment ", id), func(tx store.Tx, t coppice.Task) error {
		c, err := commentOf(tx, t, id)
		if err != nil {
			return err
		}
		if c.State != coppice.CommentDraft {
			return coppice.Errorf(coppice.EConflict, "comment %d was sent already", id).WithFix("resolve it instead")
		}
		return tx.Comments.Drop(id)
	})
}

func commentOf(tx store.Tx, t coppice.Task, id int64) (coppice.Comment, error) {
	c, err := tx.Comments.Get(id)
	if err == nil && c.TaskID != t.ID {
		err = coppice.Errorf(coppice.ENotFound, "%s has no comment %d", t.Key, id)
	}
	return c, err
}

// MarkViewed stores that the person has viewed a content of a file of the task's
// change, or has not.
func (i *Intake) MarkViewed(ctx context.Context, key, path, blob string, on bool) error {
	return i.review(ctx, key, path, func(tx store.Tx, t coppice.Task) error {
		if !on {
			return tx.Viewed.Drop(t.ID, i.by.String(), path)
		}
		return tx.Viewed.Put(coppice.Viewed{TaskID: t.ID, By: i.by.String(), Path: path, Blob: blob})
	})
}

// review changes what belongs to the review of a task. The engine decides nothing
// about it, so the event is only for other clients.
func (i *Intake) review(ctx context.Context, key, what string, f func(store.Tx, coppice.Task) error) error {
	return i.store.Update(ctx, func(tx store.Tx) error {
		t, err := knownTask(tx.Reader(), key)
		if err != nil {
			return err
		}
		if err := f(tx, t); err != nil {
			return err
		}
		return i.event(tx, coppice.EventReviewChanged, t, what)
	})
}

// SendComments sends all drafts of a task, and a text about the whole change, as
// one message. A running session gets it, or the next one. If the task waits for
// a person or has ended, it continues. If a flow waits for the approval of a document,
// the comments are about that document, and its author gets them.
func (i *Intake) SendComments(ctx context.Context, key, text string) (m coppice.Message, err error) {
	if err := coppice.ValidText("text", text, coppice.MaxMessage); err != nil {
		return m, err
	}
	_, err = i.ask(ctx, key, coppice.EventTaskCommented, "a review for its agent", func(tx store.Tx, t *coppice.Task) error {
		about, answers, err := approvedBy(tx.Reader(), *t)
		if err != nil {
			return err
		}
		if t.Planned() && about == "" {
			return coppice.Errorf(coppice.EConflict, "%s has no document that waits for your approval", t.Key).WithFix("edit one of its documents: `coppice flow docs %s` lists them", t.Key)
		}
		drafts, err := tx.Comments.Of(t.ID)
		if err != nil {
			return err
		}
		drafts = slices.DeleteFunc(drafts, func(c coppice.Comment) bool {
			return c.State != coppice.CommentDraft || (c.Side == coppice.SideDocument) != (about != "") || about != "" && c.Path != about
		})
		if len(drafts) == 0 && strings.TrimSpace(text) == "" {
			return coppice.Errorf(coppice.EInvalid, "%s has no draft, and the request has no text", t.Key).WithFix("write a comment first, or a text about the whole change").WithField("text")
		}
		if err := i.deliver(tx, t, &m, text, drafts, answers); err != nil {
			return err
		}
		for _, c := range drafts {
			c.State, c.SentAt, c.MessageID = coppice.CommentSent, m.SentAt, m.ID
			if err := tx.Comments.Put(&c); err != nil {
				return err
			}
		}
		return nil
	})
	return m, err
}

// approvedBy returns the document of a flow that waits for an approval, and the document
// for comments on it. They are empty for any other task.
func approvedBy(r store.Reader, t coppice.Task) (document, comments string, err error) {
	if !t.IsFlow() || t.Ended() {
		return "", "", nil
	}
	in, _, err := flowView(r, t)
	if err != nil {
		return "", "", err
	}
	document, comments = flow.Approves(t.Flow.Kind, in)
	return document, comments, nil
}

// deliver makes sure that an agent gets drafts and a text: as a message of the task, or
// as the document of a flow that is for comments.
func (i *Intake) deliver(tx store.Tx, t *coppice.Task, m *coppice.Message, text string, drafts []coppice.Comment, document string) error {
	review, most := prompt.Review(text, drafts), coppice.MaxMessage
	if document != "" {
		review, most = prompt.Comments(text, drafts), coppice.MaxDocument
	}
	if len(review) > most {
		return coppice.Errorf(coppice.EInvalid, "the %d drafts have %d bytes together; a message has at most %d", len(drafts), len(review), most).
			WithFix("delete some of the drafts, or write them about fewer lines")
	}
	if document != "" {
		*m = coppice.Message{TaskID: t.ID, Kind: coppice.MessageNow, Text: review, From: i.by.String(), SentAt: i.now().UTC()}
		return i.writeDocument(tx, *t, &coppice.Document{Name: document, Text: review})
	}
	_, wake, err := i.reviewPath(tx.Reader(), *t)
	if err == nil {
		err = wake(tx)
	}
	if err != nil {
		return err
	}
	return i.put(tx, t, m, coppice.MessageNow, review)
}

// AfterReview returns what follows if a review of a task is sent now, or why that
// is refused.
func (i *Intake) AfterReview(r store.Reader, t coppice.Task) (follows string, err error) {
	follows, _, err = i.reviewPath(r, t)
	return follows, err
}

// reviewPath returns what follows if a review is sent, for people, and what makes
// sure that a session gets it: a task that waits for a person or has ended
// continues. It refuses a task of which no session would get the review.
func (i *Intake) reviewPath(r store.Reader, t coppice.Task) (follows string, wake func(store.Tx) error, err error) {
	f, err := i.facts(r, t)
	if err != nil {
		return "", nil, err
	}
	continues := verb.Of(coppice.VerbContinue)
	switch {
	case t.Wants == coppice.WantsAnswer:
		return "", nil, coppice.Errorf(coppice.EConflict, "%s wants an answer; it has no change to review", t.Key).WithFix("ask more with `coppice continue %s`", t.Key)
	case continues.Fits(f) == nil:
		follows = "the task continues with the message"
		if t.Stage.Awaits() {
			follows += ", and the candidate that waits for your approval is dropped"
		}
		return follows, func(tx store.Tx) error {
			return i.replace(tx, t, f.Asks, continues, coppice.Ask{Verb: coppice.VerbContinue})
		}, nil
	case t.Stage.Lands():
		return "", nil, isLanding(t)
	case verb.WaitsForPerson(t):
		return "the task continues with the message", func(tx store.Tx) error { return i.retryWaiting(tx, t, "its review was sent") }, nil
	case t.Stage == coppice.StageSession:
		follows = "the running session gets the message"
	default:
		follows = "the next session starts with the message"
	}
	return follows, func(store.Tx) error { return nil }, nil
}
