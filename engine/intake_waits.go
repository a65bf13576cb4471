package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/answer"
	"coppice/store"
)

// ErrNotYet says that the agent of a session must wait longer.
var ErrNotYet = errors.New("engine: not yet")

// unanswered carries out a step of a call that is not its last one. It stores no
// answer. If the call was answered before, nothing changes, and it returns that
// answer.
func (i *Intake) unanswered(ctx context.Context, of coppice.Session, id string, do func(store.Tx, *Intake, coppice.Session) error) (stored json.RawMessage, err error) {
	err = i.store.Update(ctx, func(tx store.Tx) error {
		if stored, err = tx.Calls.Answer(of.ID, id); err != nil || stored != nil {
			return err
		}
		s, err := tx.Sessions.Get(of.ID)
		if err != nil {
			return err
		}
		if !s.State.Live() {
			return coppice.Errorf(coppice.EConflict, "the session %s has ended", s.Key)
		}
		inside := i.As(coppice.Actor{Kind: coppice.ActorSession, Name: s.Key})
		return do(tx, inside, s)
	})
	return stored, err
}

// Wait stores that the agent of a session waits for tasks below its own. A call
// for the same tasks waits until the same time. A call for others replaces it.
func (i *Intake) Wait(ctx context.Context, of coppice.Session, id string, keys []string, most time.Duration) (stored json.RawMessage, ids []int64, err error) {
	if most <= 0 || most > coppice.MostWait {
		return nil, nil, coppice.Errorf(coppice.EInvalid, "%d is not a valid timeout_ms", most.Milliseconds()).WithFix("use 1 to %d", coppice.MostWait.Milliseconds()).WithField("timeout_ms")
	}
	stored, err = i.unanswered(ctx, of, id, func(tx store.Tx, in *Intake, s coppice.Session) error {
		tasks, err := awaitable(tx.Reader(), s, keys)
		if err != nil {
			return err
		}
		ids = nil
		for _, t := range tasks {
			ids = append(ids, t.ID)
		}
		if s.Waits.Same(ids) {
			return nil
		}
		if err := refuseLocked(tx.Reader(), s, ids); err != nil {
			return err
		}
		now := in.now().UTC()
		s.Waits = &coppice.Waits{Tasks: ids, Since: now, Until: now.Add(most)}
		if err := tx.Sessions.Put(&s); err != nil {
			return err
		}
		return in.sessionEvent(tx, s, coppice.EventSessionState, awaitedText(tasks))
	})
	return stored, ids, err
}

// awaitable returns the tasks that a session names. It can wait only for tasks
// below its own, or below an ended step of the same flow that its own task follows:
// they cannot wait for it.
func awaitable(r store.Reader, s coppice.Session, keys []string) ([]coppice.Task, error) {
	if len(keys) == 0 || len(keys) > coppice.MostAwaited {
		return nil, coppice.Errorf(coppice.EInvalid, "%d tasks are named", len(keys)).WithFix("name 1 to %d tasks", coppice.MostAwaited).WithField("tasks")
	}
	var list []coppice.Task
	for _, key := range keys {
		t, err := TaskFor(r, s, strings.TrimSpace(key))
		if err != nil {
			return nil, err
		}
		above, err := r.Families.Ancestors(t.ID)
		if err != nil {
			return nil, err
		}
		ok, err := below(r, s.TaskID, above)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, coppice.Errorf(coppice.EInvalid, "no session of your task created %s", t.Key).
				WithFix("name only tasks that create_task returned; read_task shows the status of others").WithField("tasks")
		}
		if !slices.ContainsFunc(list, func(o coppice.Task) bool { return o.ID == t.ID }) {
			list = append(list, t)
		}
	}
	return list, nil
}

// below reports whether one of the tasks above another one is the given task, or an
// ended step beside it in the same flow.
func below(r store.Reader, task int64, above []int64) (bool, error) {
	if slices.Contains(above, task) {
		return true, nil
	}
	own, err := r.Tasks.Get(task)
	if err != nil || own.Step == nil {
		return false, err
	}
	some, err := r.Tasks.Some(above)
	for _, t := range some {
		if t.Step != nil && t.Step.Flow == own.Step.Flow && t.Parent == own.Parent && t.Ended() {
			return true, err
		}
	}
	return false, err
}

// WaitOver returns the session if its agent can have the results of the tasks: it
// waits for them, is not parked, and all have ended or the time is over. Otherwise
// it fails with ErrNotYet.
func WaitOver(r store.Reader, session int64, ids []int64, now time.Time) (coppice.Session, error) {
	s, err := r.Sessions.Get(session)
	if err != nil {
		return s, err
	}
	if !s.Waits.Same(ids) {
		return s, coppice.Errorf(coppice.EConflict, "another call of wait_for_tasks replaced this one")
	}
	if s.Parked() {
		return s, ErrNotYet
	}
	tasks, err := r.Tasks.Some(ids)
	if err != nil {
		return s, err
	}
	for _, t := range tasks {
		if !t.Ended() && now.Before(s.Waits.Until) {
			return s, ErrNotYet
		}
	}
	return s, nil
}

// EndWait stores that the agent of a session has the results for which it waited.
func (i *Intake) EndWait(tx store.Tx, s coppice.Session) error {
	s.Waits = nil
	if err := tx.Sessions.Put(&s); err != nil {
		return err
	}
	return i.sessionEvent(tx, s, coppice.EventSessionState, "has the results of its tasks")
}

// AskPerson stores a question that the agent of a session asks with a tool. An
// equal question whose answer the agent does not have is the same one.
func (i *Intake) AskPerson(ctx context.Context, of coppice.Session, id, text string, options []string, most time.Duration) (stored json.RawMessage, question int64, err error) {
	if err := coppice.ValidText("question", text, coppice.MaxMessage); err != nil {
		return nil, 0, err
	}
	if !coppice.Visible(text) {
		return nil, 0, coppice.Errorf(coppice.EInvalid, "the question is empty").WithField("question")
	}
	if most <= 0 || most > coppice.MostWait {
		return nil, 0, coppice.Errorf(coppice.EInvalid, "%d is not a valid timeout_ms", most.Milliseconds()).WithFix("use 1 to %d", coppice.MostWait.Milliseconds()).WithField("timeout_ms")
	}
	stored, err = i.unanswered(ctx, of, id, func(tx store.Tx, in *Intake, s coppice.Session) error {
		all, err := tx.Questions.Of(s.TaskID)
		if err != nil {
			return err
		}
		for _, q := range all {
			if q.SessionID == s.ID && q.ByCall() && q.ClosedAt.IsZero() && q.Text == text {
				question = q.ID
				return nil
			}
		}
		now := in.now().UTC()
		q := coppice.Question{TaskID: s.TaskID, SessionID: s.ID, Ref: coppice.CallRef + id, Text: text, Options: options, AskedAt: now, Until: now.Add(most)}
		if err := tx.Questions.Put(&q); err != nil {
			return err
		}
		question = q.ID
		return in.sessionEvent(tx, s, coppice.EventQuestionAsked, text)
	})
	return stored, question, err
}

// Answered returns the question of a session's agent when it has an answer and the
// session is not parked. Otherwise it fails with ErrNotYet.
func Answered(r store.Reader, question int64) (coppice.Question, error) {
	q, err := r.Questions.Get(question)
	if err != nil {
		return q, err
	}
	if !q.ClosedAt.IsZero() {
		return q, coppice.Errorf(coppice.EConflict, "the question is no longer open")
	}
	s, err := r.Sessions.Get(q.SessionID)
	if err == nil && (q.AnsweredAt.IsZero() || s.Parked()) {
		err = ErrNotYet
	}
	return q, err
}

// EndQuestion stores that the agent has the answer to its question.
func (i *Intake) EndQuestion(tx store.Tx, q coppice.Question) error {
	q.ClosedAt = i.now().UTC()
	if err := tx.Questions.Put(&q); err != nil {
		return err
	}
	s, err := tx.Sessions.Get(q.SessionID)
	if err != nil {
		return err
	}
	return i.sessionEvent(tx, s, coppice.EventSessionState, "has the answer")
}

// Finish stores that the agent of a session has finished its work, with its final
// message. The session then stops, and has succeeded.
func (i *Intake) Finish(tx store.Tx, session int64, result string) error {
	if err := coppice.ValidText("result", result, coppice.MaxBody); err != nil {
		return err
	}
	s, err := tx.Sessions.Get(session)
	if err != nil {
		return err
	}
	t, err := tx.Tasks.Get(s.TaskID)
	if err != nil {
		return err
	}
	if s.Role == coppice.RoleAnswer && result != "" {
		if a := answer.Read(result, t.Schema); a.Problem != "" {
			return coppice.Errorf(coppice.EInvalid, "the result is not a valid answer: %s", a.Problem).WithFix("call finish_task again with an answer that matches the schema").WithField("result")
		}
	}
	if result != "" {
		s.Summary = result
	}
	if s.StopWhy == "" {
		s.StopWhy = coppice.StopFinished
	}
	s.Waits = nil
	if err := tx.Sessions.Put(&s); err != nil {
		return err
	}
	return i.sessionEvent(tx, s, coppice.EventSessionState, "its agent has finished")
}

// TaskFor returns the task of a key for a session's agent. Tasks of other projects do
// not exist for it: the error is the same.
func TaskFor(r store.Reader, of coppice.Session, key string) (coppice.Task, error) {
	t, err := r.Tasks.ByKey(key)
	if err == nil && t.ProjectID != of.ProjectID || coppice.ErrorCode(err) == coppice.ENotFound {
		return coppice.Task{}, coppice.Errorf(coppice.ENotFound, "there is no task %s", coppice.Quote(key)).
			WithFix("use the key of a task of your project; read_task without a key shows those around your own")
	}
	return t, err
}

// Relative returns the task that a key names, if it belongs to the same family as a
// session's task. A session's key names its task.
func Relative(r store.Reader, of coppice.Session, key string) (coppice.Task, error) {
	t, err := TaskFor(r, of, key)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		if s, other := r.Sessions.ByKey(key); other == nil && s.ProjectID == of.ProjectID {
			t, err = r.Tasks.Get(s.TaskID)
		}
	}
	if err != nil {
		return t, err
	}
	own, err := firstOfFamily(r, of.TaskID)
	if err != nil {
		return t, err
	}
	theirs, err := firstOfFamily(r, t.ID)
	if err == nil && own != theirs {
		err = coppice.Errorf(coppice.EForbidden, "%s does not belong to the family of your task", t.Key).WithFix("send messages only to tasks above and below yours, and beside it; read_task lists them")
	}
	return t, err
}

// firstOfFamily returns the id of the task above all others of a family.
func firstOfFamily(r store.Reader, task int64) (int64, error) {
	above, err := r.Families.Ancestors(task)
	if len(above) > 0 {
		task = above[len(above)-1]
	}
	return task, err
}

func (i *Intake) sessionEvent(tx store.Tx, s coppice.Session, kind coppice.EventKind, reason string) error {
	return tx.Log.Append(&coppice.Event{
		At: i.now().UTC(), Kind: kind, ProjectID: s.ProjectID, TaskID: s.TaskID, SessionID: s.ID, Subject: s.Key, By: i.by.String(), Reason: reason,
	})
}
