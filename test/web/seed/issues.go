package seed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coppice"
)

// Issues writes issues of the trackers gitea and linear of a project, as a pass would
// report them: issues that wait, one that is blocked, one whose changed text waits for a
// person, one that cannot be written, and one that was reopened. The next pass is so late
// that the engine leaves them as they are. The project has at least 3 ended tasks.
func Issues(ctx context.Context, path, prefix string, now time.Time) error {
	return open(ctx, path, prefix, func(p *past) error {
		rows, err := p.tx.Trackers.In(p.p.ID)
		if err != nil || len(rows) != 2 {
			return fmt.Errorf("the project has %d trackers, want 2: %w", len(rows), err)
		}
		slices.SortFunc(rows, func(a, b coppice.Tracker) int { return strings.Compare(a.Name, b.Name) })
		for i := range rows {
			rows[i].NextAt, rows[i].ReadAt, rows[i].FullAt, rows[i].Matching, rows[i].Failure = now.Add(1000*time.Hour), now, now, 4, nil
		}
		rows[1].Failure = coppice.Failf(coppice.ClassAuth, "the secret "+strings.ToUpper(longName)+" is not set", "run `coppice secret set LINEAR_API_KEY`")
		for i := range rows {
			if err := p.tx.Trackers.Put(&rows[i]); err != nil {
				return err
			}
		}
		put := func(number, task int, title string, status coppice.IssueStatus, change func(*coppice.Issue)) error {
			i := coppice.Issue{ProjectID: p.p.ID, TrackerID: rows[0].ID, Issue: fmt.Sprint(number), Status: status}
			i.Read = coppice.IssueRead{ID: i.Issue, URL: "https://forge.example/issues/" + i.Issue, Title: title, Text: "First\n\n" + hostile + "\n" + longName, Author: "ann", UpdatedAt: now}
			if task != 0 {
				t, err := p.tx.Tasks.ByKey(fmt.Sprintf("%s-%d", p.p.Prefix, task))
				if err != nil {
					return err
				}
				i.TaskID, i.Agreed = t.ID, coppice.IssueFields{Title: t.Title, Text: t.Body, Status: status}
			}
			if change != nil {
				change(&i)
			}
			return p.tx.Issues.Put(&i)
		}
		for _, err := range []error{
			put(1, 1, "Rename "+longName+" everywhere", coppice.IssueWorking, func(i *coppice.Issue) { i.Held = true }),
			put(2, 2, hostile, coppice.IssueDone, func(i *coppice.Issue) {
				i.Failure = coppice.Failf(coppice.ClassAuth, "the token has no write access to "+longName, "")
			}),
			put(3, 3, "Reopened", coppice.IssueFailed, func(i *coppice.Issue) { i.Reopened, i.EndedAt = true, now }),
			put(4, 0, "Show "+longName+" in the footer", "", nil),
			put(5, 0, "It is blocked", "", func(i *coppice.Issue) { i.Read.BlockedBy = []string{"4"} }),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
}
