package engine

import (
	"fmt"
	"time"

	"coppice"
)

// answerForPerson answers a question that nobody has answered in time: in the time
// that the agent waits for an answer, or that the policy allows. The agent gets this
// answer as it would get a person's.
func answerForPerson(v *View) *Decision {
	for _, q := range waitingQuestions(v) {
		due, limit := v.answerBy(q)
		if due.After(v.Now) {
			continue
		}
		q.Answer, q.AnsweredAt = q.Unanswered(limit), v.Now
		why := "health.question"
		if !q.Until.IsZero() {
			q.Answer, why = "[TIMEOUT] "+q.Answer, "timeout_ms of ask_user"
		}
		return &Decision{
			By: "health", Kind: coppice.EventQuestionAnswered, Questions: []coppice.Question{q},
			Reason: fmt.Sprintf("nobody answered in %s (%s)", durationText(limit), why),
		}
	}
	return nil
}

// answerBy returns when a question has waited for too long, and how long that is.
// Zero means never.
func (v *View) answerBy(q coppice.Question) (time.Time, time.Duration) {
	limit := v.Project.Policy.Health.Question.D()
	switch {
	case !q.Until.IsZero():
		return q.Until, q.Until.Sub(q.AskedAt)
	case limit == 0:
		return time.Time{}, 0
	}
	return q.AskedAt.Add(limit), limit
}

// answerDue returns when the next question has waited for too long.
func answerDue(v *View) time.Time {
	var at time.Time
	for _, q := range waitingQuestions(v) {
		if due, _ := v.answerBy(q); at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at
}

// waitingQuestions returns the questions that have a time limit: open ones of the
// newest session, which runs, or ended while it could only wait. A person who has
// the session on a screen answers there.
func waitingQuestions(v *View) (list []coppice.Question) {
	s := v.lastSession()
	if v.Task.Ended() || s == nil || s.Screen || !s.State.Live() && !s.Continues() {
		return nil
	}
	for _, q := range v.Questions {
		if due, _ := v.answerBy(q); q.SessionID == s.ID && q.Open() && !due.IsZero() {
			list = append(list, q)
		}
	}
	return list
}
