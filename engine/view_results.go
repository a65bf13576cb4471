package engine

import (
	"cmp"
	"strings"

	"coppice"
	"coppice/store"
)

// TaskResult is how a task ended, for the agent that waits for it.
type TaskResult struct {
	Task   string         `json:"task"`
	Title  string         `json:"title"`
	Status coppice.Status `json:"status"`
	Result string         `json:"result,omitempty"`
}

// Results returns the results of tasks, in order, each with at most most bytes. A
// task that was removed is left out. A task that has not ended has no result.
func Results(r store.Reader, ids []int64, most int) ([]TaskResult, error) {
	tasks, err := r.Tasks.Some(ids)
	if err != nil {
		return nil, err
	}
	var list []TaskResult
	for _, id := range ids {
		t, ok := tasks[id]
		if !ok {
			continue
		}
		one, err := ResultOf(r, t, most)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// ResultOf returns the result of one task.
func ResultOf(r store.Reader, t coppice.Task, most int) (TaskResult, error) {
	sessions, err := r.Sessions.Of(t.ID)
	if err != nil {
		return TaskResult{}, err
	}
	l, err := r.Landings.Last(t.ID)
	if err != nil {
		return TaskResult{}, err
	}
	q, err := r.Questions.Open(t.ID)
	if err != nil {
		return TaskResult{}, err
	}
	status, _ := t.Status(last(sessions), l, q, "")
	return TaskResult{Task: t.Key, Title: t.Title, Status: status, Result: cut(resultText(t, sessions), most)}, nil
}

// resultText returns what an ended task says: its answer, the final message of the
// last session that worked on it, or why it failed.
func resultText(t coppice.Task, sessions []coppice.Session) string {
	if !t.Ended() {
		return ""
	}
	text := ""
	if t.Flow != nil {
		text = t.Flow.Result
	}
	for i := len(sessions) - 1; i >= 0 && text == ""; i-- {
		s := sessions[i]
		if judges(s.Role) || s.Role.Info().Prepares {
			continue
		}
		if s.Answer != nil {
			text = s.Answer.Text
		}
		text = cmp.Or(text, s.Summary)
	}
	if t.Failure != nil && t.Outcome == coppice.OutcomeFailed {
		text = strings.TrimSpace("failed: " + t.Failure.Text + "\n" + text)
	}
	return text
}

// cut shortens a text to a number of bytes, between two characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const more = "… (cut)"
	return strings.ToValidUTF8(text[:max(0, most-len(more))], "") + more
}
