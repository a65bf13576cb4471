package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
)

// awaitsTasks reports whether a session waits for tasks of which some have not
// ended, and the time to wait is not over.
func awaitsTasks(v *View, s *coppice.Session) bool { return s.Waits != nil && !waitsOver(v, s) }

// waitsOver reports whether a session that waits for tasks can have their results:
// all of them have ended, or it has waited long enough. A task that was removed has
// ended.
func waitsOver(v *View, s *coppice.Session) bool {
	if s.Waits == nil {
		return false
	}
	return !v.Now.Before(s.Waits.Until) || !slices.ContainsFunc(v.Awaited, func(t coppice.Task) bool { return !t.Ended() })
}

// waitsDue returns when the newest session has waited long enough for tasks.
func waitsDue(v *View) time.Time {
	if s := v.lastSession(); s != nil && s.State.Live() && s.Waits != nil && s.Waits.Until.After(v.Now) {
		return s.Waits.Until
	}
	return time.Time{}
}

// waitForTasks returns the wait of a task whose session ended while it waited for
// tasks, or nil if the results can be delivered.
func waitForTasks(v *View, s *coppice.Session) *coppice.Wait {
	if !awaitsTasks(v, s) {
		return nil
	}
	return &coppice.Wait{On: coppice.WaitTasks, Text: awaitedText(v.Awaited), Until: s.Waits.Until}
}

// awaitedText says which tasks have not ended.
func awaitedText(tasks []coppice.Task) string {
	var open []string
	for _, t := range tasks {
		if !t.Ended() {
			open = append(open, t.Key)
		}
	}
	switch {
	case len(open) == 0:
		return "waits for its tasks"
	case len(open) == 1:
		return "waits for " + open[0]
	}
	return fmt.Sprintf("waits for %s and %d more", open[0], len(open)-1)
}

// byCall returns the questions of a session that its agent asked with a tool, and
// whose answer the agent does not have.
func byCall(v *View, s *coppice.Session) (list []coppice.Question) {
	for _, q := range v.Questions {
		if q.SessionID == s.ID && q.ByCall() && q.ClosedAt.IsZero() {
			list = append(list, q)
		}
	}
	return list
}

// inCall reports whether the agent of a session waits in a tool.
func inCall(v *View, s *coppice.Session) bool { return s.Waits != nil || len(byCall(v, s)) > 0 }

// callReady reports whether a tool has what the agent of a session waits for. The
// tool delivers it when the session is not parked.
func callReady(v *View, s *coppice.Session) bool {
	return waitsOver(v, s) || slices.ContainsFunc(byCall(v, s), func(q coppice.Question) bool { return !q.AnsweredAt.IsZero() })
}

// finish asks a session to stop whose agent has called finish_task.
func finish(v *View) *Decision {
	s := v.lastSession()
	if v.Task.Stage != coppice.StageSession || s == nil || !s.State.Live() || s.StopWhy != coppice.StopFinished {
		return nil
	}
	if w := v.open(coppice.WorkRun); w == nil || w.Attempt == 0 {
		return nil
	}
	d := askStop(v, coppice.StopFinished)
	if d != nil {
		d.By = "finish"
	}
	return d
}

// undeliveredWaits returns the newest session of the round that worked, if its
// agent did not get the results for which it waited, or nil. Sessions that prepare
// others, and those that never started, do not count.
func undeliveredWaits(v *View) *coppice.Session {
	for i := len(v.Sessions) - 1; i >= 0; i-- {
		s := &v.Sessions[i]
		if s.Role.Info().Prepares || s.StartedAt.IsZero() {
			continue
		}
		if s.Waits != nil {
			return s
		}
		return nil
	}
	return nil
}

// results returns the results for the next session of a task that waited for
// tasks, as a text of limited size, or "".
func (t *turn) results(v *View) (string, error) {
	s := undeliveredWaits(v)
	if s == nil {
		return "", nil
	}
	list, err := Results(t.tx.Reader(), s.Waits.Tasks, coppice.MostResult)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range list {
		text := fmt.Sprintf("%s (%s): %s\n", r.Task, r.Title, r.Status)
		if r.Result != "" {
			text += r.Result + "\n"
		}
		if b.Len()+len(text) > coppice.MostResults {
			text = fmt.Sprintf("%s: %s; read its result with read_task\n", r.Task, r.Status)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}
