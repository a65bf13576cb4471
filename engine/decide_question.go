package engine

import (
	"fmt"
	"time"

	"coppice"
)

// answerForPerson answers a question that nobody has answered in the time that the
// policy allows. The agent gets this answer as it would get a person's.
func answerForPerson(v *View) *Decision {
	limit := v.Project.Policy.Health.Question.D()
	for _, q := range waitingQuestions(v) {
		if q.AskedAt.Add(limit).After(v.Now) {
			continue
		}
		q.Answer, q.AnsweredAt = q.Unanswered(limit), v.Now
		return &Decision{
			By: "health", Kind: coppice.EventQuestionAnswered, Questions: []coppice.Question{q},
			Reason: fmt.Sprintf("nobody answered in %s (health.question)", durationText(limit)),
		}
	}
	return nil
}

// answerDue returns when the next question has waited for too long.
func answerDue(v *View) time.Time {
	var at time.Time
	for _, q := range waitingQuestions(v) {
		if due := q.AskedAt.Add(v.Project.Policy.Health.Question.D()); at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at
}

// waitingQuestions returns the questions that have a time limit: open ones of the
// newest session, which runs, or was stopped because it could only wait. A person
// who has the session on a screen answers there.
func waitingQuestions(v *View) (list []coppice.Question) {
	s := v.lastSession()
	if v.Project.Policy.Health.Question == 0 || v.Task.Ended() || s == nil || s.Screen || !s.State.Live() && !s.Rests() {
		return nil
	}
	for _, q := range v.Questions {
		if q.SessionID == s.ID && q.Open() {
			list = append(list, q)
		}
	}
	return list
}
