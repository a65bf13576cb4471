package engine

import (
	"context"
	"slices"
	"strings"

	"coppice"
	"coppice/store"
	"coppice/verb"
)

// Send sends a message to a task, for its running session or the next one, with
// uploaded images by their ids.
func (i *Intake) Send(ctx context.Context, key, text string, images ...string) (coppice.Message, error) {
	return i.say(ctx, key, coppice.MessageNow, text, images)
}

// SendNext sends a message to a task, for when the running session's turn has
// ended.
func (i *Intake) SendNext(ctx context.Context, key, text string, images ...string) (coppice.Message, error) {
	return i.say(ctx, key, coppice.MessageNext, text, images)
}

func (i *Intake) say(ctx context.Context, key, kind, text string, images []string) (coppice.Message, error) {
	var m coppice.Message
	if text == "" {
		return m, coppice.Errorf(coppice.EInvalid, "the message is empty").WithField("text")
	}
	if err := coppice.ValidText("text", text, coppice.MaxMessage); err != nil {
		return m, err
	}
	_, err := i.ask(ctx, key, coppice.EventMessageSent, kind, func(tx store.Tx, t *coppice.Task) error {
		if t.Ended() {
			return coppice.Errorf(coppice.EConflict, "%s has ended (%s)", t.Key, t.Outcome).WithFix("use `coppice continue %s` to continue it", t.Key)
		}
		if t.Stage.Lands() {
			return isLanding(*t)
		}
		if err := i.attach(tx, t, images); err != nil {
			return err
		}
		m.Images = images
		return i.put(tx, t, &m, kind, text)
	})
	return m, err
}

// isLanding says why a task takes no message at this moment.
func isLanding(t coppice.Task) error {
	fix := "wait for the result, or use `coppice requeue %s` with a note"
	if t.Stage.Awaits() {
		fix = "use `coppice continue %s` with the message"
	}
	return coppice.Errorf(coppice.EConflict, "%s is being checked or landed; no session would get the message", t.Key).WithFix(fix, t.Key)
}

func (i *Intake) put(tx store.Tx, t *coppice.Task, m *coppice.Message, kind, text string) error {
	*m = coppice.Message{TaskID: t.ID, Kind: kind, Text: text, Images: m.Images, From: i.by.String(), SentAt: i.now().UTC()}
	return tx.Messages.Put(m)
}

// Interrupt ends the turn of a task's running session. A text starts the next
// turn. Without one the task waits for a person.
func (i *Intake) Interrupt(ctx context.Context, key, text string) (coppice.Message, error) {
	var m coppice.Message
	if err := coppice.ValidText("text", text, coppice.MaxMessage); err != nil {
		return m, err
	}
	_, err := i.ask(ctx, key, coppice.EventMessageSent, coppice.MessageInterrupt, func(tx store.Tx, t *coppice.Task) error {
		s, err := liveSession(tx.Reader(), t)
		if err != nil {
			return err
		}
		if err := verb.Refuses(verb.Interrupt, verb.Facts{Task: *t, Session: s}); err != nil {
			return err
		}
		return i.put(tx, t, &m, coppice.MessageInterrupt, text)
	})
	return m, err
}

// Model makes a task continue with another model: its running session, if the
// agent can change the model during a session, or else its next one.
func (i *Intake) Model(ctx context.Context, key, model string) (coppice.Message, error) {
	var m coppice.Message
	if err := coppice.ValidModel(model); err != nil {
		return m, coppice.Public(err).WithField("model")
	}
	_, err := i.ask(ctx, key, coppice.EventMessageSent, coppice.MessageModel, func(tx store.Tx, t *coppice.Task) error {
		s, err := liveSession(tx.Reader(), t)
		if err != nil {
			return err
		}
		if err := i.put(tx, t, &m, coppice.MessageModel, model); err != nil || s != nil {
			return err
		}
		if next := t.Next; next != nil {
			c := *next
			c.Model = model
			t.Next = &c
		}
		if t.Next == nil || t.Next.Agent == t.Agent {
			t.Model = model
		}
		m.DeliveredAt = m.SentAt
		return tx.Messages.Put(&m)
	})
	return m, err
}

// liveSession returns the task's running session, or nil.
func liveSession(r store.Reader, t *coppice.Task) (*coppice.Session, error) {
	if t.Stage != coppice.StageSession {
		return nil, nil
	}
	s, err := r.Sessions.Last(t.ID)
	if err != nil || s == nil || !s.State.Live() {
		return nil, err
	}
	return s, nil
}

// Answer answers a task's question; 0 means the oldest open one. It remembers an
// "always" to a permission question in the same transaction.
func (i *Intake) Answer(ctx context.Context, key string, question int64, text string) (coppice.Question, error) {
	var q coppice.Question
	if strings.TrimSpace(text) == "" {
		return q, coppice.Errorf(coppice.EInvalid, "the answer is empty").WithField("text")
	}
	if err := coppice.ValidText("text", text, coppice.MaxMessage); err != nil {
		return q, err
	}
	_, err := i.ask(ctx, key, coppice.EventQuestionAnswered, "", func(tx store.Tx, t *coppice.Task) error {
		if question == 0 {
			open, err := tx.Questions.Open(t.ID)
			if err != nil {
				return err
			}
			if open == nil {
				return coppice.Errorf(coppice.EConflict, "%s has no open question", t.Key).WithFix("use `coppice send %s` to send it a message", t.Key)
			}
			q = *open
		} else {
			var err error
			if q, err = tx.Questions.Get(question); err != nil {
				return err
			}
		}
		if q.TaskID != t.ID || !q.Open() {
			return coppice.Errorf(coppice.EConflict, "question %d is not open in %s", q.ID, t.Key)
		}
		answer, err := q.Chosen(text)
		if err != nil {
			return err
		}
		q.Answer, q.AnsweredAt = answer, i.now().UTC()
		if err := tx.Questions.Put(&q); err != nil {
			return err
		}
		return i.remember(tx, t, q)
	})
	return q, err
}

// Fork creates a task that continues a copy of another task's conversation, from
// the head of its branch.
func (i *Intake) Fork(ctx context.Context, key, text string) (coppice.Task, error) {
	var made coppice.Task
	if err := coppice.ValidText("text", text, coppice.MaxMessage); err != nil {
		return made, err
	}
	err := i.store.Update(ctx, func(tx store.Tx) error {
		from, err := tx.Tasks.ByKey(key)
		if err != nil {
			return err
		}
		p, err := knownProject(tx.Projects.Get(from.ProjectID))
		if err != nil {
			return err
		}
		all, err := tx.Sessions.Of(from.ID)
		if err != nil {
			return err
		}
		s := (&View{Sessions: all}).resumableSession()
		if err := verb.Refuses(verb.Fork, verb.Facts{Task: from, Conversation: s != nil}); err != nil {
			return err
		}
		if err := refuseClosed(tx.Reader(), from); err != nil {
			return err
		}
		above, err := flowAbove(tx.Reader(), from)
		if err != nil {
			return err
		}
		made = coppice.Task{
			ProjectID: p.ID, Title: from.Title, Body: from.Body, Priority: from.Priority, Track: from.Track, Agent: s.Agent, Model: from.Model,
			Checks: from.Checks, Category: from.Category, Steps: from.Steps, Budget: from.Budget, ForkOf: from.Key,
		}
		if above != nil {
			made.Parent = from.Parent // its branch stays until the fork has ended
		}
		made.Onto, made.Group, made.Labels, made.Context = from.Onto, from.Group, from.Labels, from.Context
		made.Turns, made.Time, made.UntilDone = from.Turns, from.Time, from.UntilDone
		made.Retry, made.Completion = from.Retry, from.Completion
		if s.Agent == from.Agent {
			made.Effort = from.Effort
		}
		if s.Agent != from.Agent {
			made.Model = s.Model
		}
		if _, ok := p.Policy.Track(made.Track); !ok {
			made.Track = "" // its track was removed; the default one is used
		}
		if err := i.complete(p, &made); err != nil {
			return err
		}
		made.Next = &coppice.Next{Role: coppice.RoleImplement, Agent: made.Agent, Model: made.Model, Resume: conversation(s), Fork: true, Note: text}
		made.Images = from.Images
		if err := i.addTask(tx, &p, &made); err != nil {
			return err
		}
		if err := i.ownImages(tx, made, made.Images); err != nil {
			return err
		}
		return tx.Projects.Put(&p)
	})
	return made, err
}

// mostRules limits how many rules of "always" answers are remembered.
const mostRules = 200

// remember keeps the rule of an answer with "always": the newest first, and each
// once.
func (i *Intake) remember(tx store.Tx, t *coppice.Task, q coppice.Question) error {
	a := coppice.ParsePermission(q.Answer)
	if q.Kind != coppice.QuestionPermission || q.Rule == nil || !a.Always {
		return nil
	}
	p, err := tx.Projects.Get(t.ProjectID)
	if err != nil {
		return err
	}
	rule := a.Rule(*q.Rule)
	rules := slices.DeleteFunc(slices.Clone(p.Rules), func(r coppice.Rule) bool { return r.Tool == rule.Tool && r.Match == rule.Match })
	p.Rules = append([]coppice.Rule{rule}, rules...)
	p.Rules = p.Rules[:min(len(p.Rules), mostRules)]
	if err := tx.Projects.Put(&p); err != nil {
		return err
	}
	return i.event(tx, coppice.EventProjectChanged, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, "remembers: "+ruleText(rule))
}

func ruleText(r coppice.Rule) string {
	words := []string{r.Do}
	for _, w := range []string{r.Tool, r.Match} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// ForgetRule removes the nth remembered rule of a project, counted from 1, and
// returns it.
func (i *Intake) ForgetRule(ctx context.Context, project string, n int) (coppice.Rule, error) {
	var rule coppice.Rule
	err := i.store.Update(ctx, func(tx store.Tx) error {
		p, err := tx.Projects.ByPrefix(project)
		if err != nil {
			return err
		}
		if n < 1 || n > len(p.Rules) {
			return coppice.Errorf(coppice.ENotFound, "there is no rule %d", n).WithFix("see `coppice rules`; %s remembers %d", p.Prefix, len(p.Rules))
		}
		rule = p.Rules[n-1]
		p.Rules = slices.Delete(slices.Clone(p.Rules), n-1, n)
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		return i.event(tx, coppice.EventProjectChanged, coppice.Task{ProjectID: p.ID, Key: p.Prefix}, "forgets: "+ruleText(rule))
	})
	return rule, err
}
