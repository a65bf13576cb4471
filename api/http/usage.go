package http

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
	"coppice/engine"
	"coppice/store"
)

// usageDays is the default number of days of a usage report, and mostUsageDays
// the limit.
const (
	usageDays     = 30
	mostUsageDays = 3700
)

type usageIn struct {
	From    string `query:"from" maxLength:"10" doc:"The first day, as in 2026-03-04; the default is 30 days ago"`
	To      string `query:"to" maxLength:"10" doc:"The last day; the default is today"`
	Project string `query:"project" maxLength:"16" doc:"Only this project"`
	Group   string `query:"group" enum:"task,none" default:"none" doc:"task has a row for each task"`
	TZ      string `query:"tz" maxLength:"5" doc:"When days start: minutes east of UTC; the default is the server's time zone"`
	Most    int    `query:"most" minimum:"1" maximum:"10000" default:"5000" doc:"The most rows"`
	MarksIn
}

func (s *Server) usageRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/usage", id: "usage", tag: "server",
		about: "Show what sessions used, by day, project, agent and model"}, s.usage)
}

// span reads the requested days.
func (s *Server) span(in *usageIn) (from, to time.Time, zone *time.Location, err error) {
	now := s.cfg.Now()
	zone = now.Location()
	if in.TZ != "" {
		minutes, err := wholeNumber(in.TZ, -24*60, 24*60)
		if err != nil {
			return from, to, nil, coppice.Errorf(coppice.EInvalid, "%s is not a valid time zone", coppice.Quote(in.TZ)).
				WithFix("send the minutes east of UTC, such as 120").WithField("tz")
		}
		zone = time.FixedZone("", minutes*60)
	}
	day := func(word, field string, otherwise time.Time) (time.Time, error) {
		if word == "" {
			return otherwise, nil
		}
		at, err := time.ParseInLocation(time.DateOnly, word, zone)
		if err != nil || at.Year() < 1970 || at.Year() > 2200 {
			return at, coppice.Errorf(coppice.EInvalid, "%s is not a valid day", coppice.Quote(word)).WithFix("write it as 2026-03-04").WithField(field)
		}
		return at, nil
	}
	y, m, d := now.In(zone).Date()
	if to, err = day(in.To, "to", time.Date(y, m, d, 0, 0, 0, 0, zone)); err != nil {
		return from, to, nil, err
	}
	if from, err = day(in.From, "from", to.AddDate(0, 0, 1-usageDays)); err != nil {
		return from, to, nil, err
	}
	switch {
	case from.After(to):
		err = coppice.Errorf(coppice.EInvalid, "the first day is after the last").WithFix("swap from and to").WithField("from")
	case to.Sub(from) > mostUsageDays*24*time.Hour:
		err = coppice.Errorf(coppice.EInvalid, "that is more than %d days", mostUsageDays).WithFix("ask for fewer").WithField("from")
	}
	return from, to, zone, err
}

func (s *Server) usage(ctx context.Context, in *usageIn) (out api.UsageReport, err error) {
	from, to, zone, err := s.span(in)
	if err != nil {
		return out, err
	}
	out = api.UsageReport{From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Rows: []api.UsageRow{}, Budgets: []api.Budget{}}
	q := store.UsageQuery{From: from, To: to.AddDate(0, 0, 1), Zone: zone, ByTask: in.Group == "task"}
	in.narrow(&q.Among)
	err = s.cfg.Store.View(ctx, func(r store.Reader) error {
		projects, err := r.Projects.All()
		if err != nil {
			return err
		}
		today, err := r.Spend.ByScope(coppice.Day(s.cfg.Now()))
		if err != nil {
			return err
		}
		accounts, err := r.Spend.Budgets()
		if err != nil {
			return err
		}
		out.Accounts = accountBudgets(accounts, today)
		prefixes, policies := map[int64]string{}, map[int64]coppice.Policy{}
		if in.Project != "" {
			p, err := byPrefix(r, in.Project)
			if err != nil {
				return err
			}
			q.ProjectID = p.ID
		}
		for _, p := range projects {
			prefixes[p.ID], policies[p.ID] = p.Prefix, p.Policy
			if q.ProjectID == 0 || p.ID == q.ProjectID {
				out.Budgets = append(out.Budgets, api.Budget{
					Project: p.Prefix, TaskUSD: float64(p.Policy.Budget.Task), DayUSD: float64(p.Policy.Budget.Day), Today: float64(today[coppice.ProjectSubject(p.ID)]),
				})
			}
		}
		rows, err := r.Spend.Usage(q)
		if err != nil {
			return err
		}
		budgets, err := taskBudgets(r, rows[:min(len(rows), in.Most)], policies)
		for _, u := range rows {
			out.Total = out.Total.Add(u.Usage)
			out.Count += u.Sessions
			if out.More = len(out.Rows) == in.Most; out.More {
				continue
			}
			out.Rows = append(out.Rows, api.UsageRow{
				Day: u.Day, Project: prefixes[u.ProjectID], Agent: u.Agent, Model: u.Model, Task: u.Task, Sessions: u.Sessions, Usage: u.Usage,
				BudgetUSD: float64(budgets[u.TaskID].most), Over: budgets[u.TaskID].over,
			})
		}
		return err
	})
	return out, err
}

// taskBudget is what a task can cost, and whether it has spent that.
type taskBudget struct {
	most coppice.USD
	over bool
}

// taskBudgets returns the budgets of the tasks of rows.
func taskBudgets(r store.Reader, rows []store.UsageRow, policies map[int64]coppice.Policy) (map[int64]taskBudget, error) {
	var ids []int64
	for _, u := range rows {
		if u.TaskID != 0 {
			ids = append(ids, u.TaskID)
		}
	}
	slices.Sort(ids)
	tasks, err := r.Tasks.Some(slices.Compact(ids))
	budgets := map[int64]taskBudget{}
	for id, t := range tasks {
		if b := (taskBudget{most: policies[t.ProjectID].BudgetFor(t)}); b.most > 0 && err == nil {
			var spent coppice.USD
			spent, err = engine.Spent(r, id)
			b.over = spent >= b.most
			budgets[id] = b
		}
	}
	return budgets, err
}

// accountBudgets returns the budgets of accounts, and what they have spent today.
func accountBudgets(budgets map[string]coppice.USD, today map[coppice.Subject]coppice.USD) (list []api.AccountBudget) {
	for _, name := range slices.Sorted(maps.Keys(budgets)) {
		of := coppice.AccountSubject(name)
		list = append(list, api.AccountBudget{
			Account: name, DayUSD: float64(budgets[name]), Today: float64(today[of]), Warning: engine.DayWarning(of, today[of], budgets[name]),
		})
	}
	return list
}

func byPrefix(r store.Reader, prefix string) (coppice.Project, error) {
	if err := coppice.ValidPrefix(prefix); err != nil {
		return coppice.Project{}, err
	}
	return r.Projects.ByPrefix(prefix)
}
