package control

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	work := func(age time.Duration) *coppice.Work {
		return &coppice.Work{Kind: coppice.WorkRun, Key: "session/7/run", OfferedAt: noon.Add(-age)}
	}
	queue := func(age time.Duration) []BlockedQueue {
		return []BlockedQueue{{Project: "app", Task: "app-4", Since: noon.Add(-age), Why: "a.go has changes.", Fix: "commit them"}}
	}
	agent := func(a api.Agent) []UsedAgent { a.Name = "claude"; return []UsedAgent{{a, "app"}} }
	tracker := func(tries int, fail *coppice.Failure, problem string) []UsedTracker {
		row := coppice.Tracker{Name: "bugs"}
		row.Tries, row.Failure, row.Problem = tries, fail, problem
		return []UsedTracker{{"app", row}}
	}
	for name, c := range map[string]struct {
		facts  HealthFacts
		kind   string // "" for healthy
		text   string
		urgent bool
	}{
		"nothing is known":       {HealthFacts{}, "", "", false},
		"all is well":            {HealthFacts{DiskFree: goodDisk, Since: noon.Add(-time.Hour), LastEvent: noon, Offered: work(time.Minute), Blocked: queue(time.Minute), Lost: mostLost, Agents: agent(api.Agent{Path: "/bin/claude", Login: "yes"})}, "", "", false},
		"a damaged database":     {HealthFacts{Damaged: errors.New("a page is damaged")}, "database", "", true},
		"little disk":            {HealthFacts{DiskFree: goodDisk - 1, State: "/state"}, "disk", "The disk of /state is nearly full", false},
		"no disk":                {HealthFacts{DiskFree: leastDisk - 1}, "disk", "nearly full", true},
		"a clock that is wrong":  {HealthFacts{LastEvent: noon.Add(time.Hour)}, "clock", "1h0m0s in the future", false},
		"a worker that stopped":  {HealthFacts{Offered: work(longOffered)}, "worker", "No worker has taken session.run (session/7/run) for 5m0s", true},
		"an old backup":          {HealthFacts{Since: noon.Add(-48 * time.Hour), Backup: noon.Add(-30 * time.Hour)}, "backup", "is 30h0m0s old", false},
		"no backup":              {HealthFacts{Since: noon.Add(-48 * time.Hour)}, "backup", "no backup", false},
		"a server that was off":  {HealthFacts{Since: noon.Add(-time.Hour), Backup: noon.Add(-240 * time.Hour)}, "", "", false},
		"a blocked queue":        {HealthFacts{Blocked: queue(longBlocked)}, "queue", "The landing queue of app is blocked by app-4, which has waited for 30m0s: a.go has changes.", true},
		"lost hosts":             {HealthFacts{Lost: mostLost + 1}, "hosts", "3 sessions were lost", false},
		"a limit for a while":    {HealthFacts{Limited: []coppice.AgentLimit{{Agent: "claude", Until: noon.Add(time.Hour), Text: "too many requests"}}}, "limit", "claude cannot be used: too many requests", false},
		"a limit that is over":   {HealthFacts{Limited: []coppice.AgentLimit{{Agent: "claude", Until: noon.Add(-time.Hour)}}}, "", "", false},
		"a limit for a person":   {HealthFacts{Limited: []coppice.AgentLimit{{Agent: "claude", Class: coppice.ClassAuth}}}, "limit", "claude cannot be used: auth", true},
		"a missing agent":        {HealthFacts{Agents: agent(api.Agent{})}, "agent", "claude, which app uses, is not installed.", false},
		"a broken agent":         {HealthFacts{Agents: agent(api.Agent{Path: "/bin/claude", Problem: "no node"})}, "agent", "does not work: no node", false},
		"a port in use":          {HealthFacts{Webhooks: errors.New("address already in use")}, "webhooks", "Webhooks of forges cannot be received: address already in use.", false},
		"a configuration":        {HealthFacts{Config: coppice.Errorf(coppice.EInvalid, "config.yaml:1:1: unknown key").WithFix("remove it")}, "config", "the last one that could be read applies: config.yaml:1:1: unknown key", false},
		"a missing token":        {HealthFacts{Trackers: tracker(1, coppice.Failf(coppice.ClassAuth, "the secret T is not set.", "run: coppice secret set T"), "")}, "tracker", "The issues of app (bugs) cannot be read: the secret T is not set.", false},
		"a tracker that is away": {HealthFacts{Trackers: tracker(1, coppice.Failf(coppice.ClassEnvironment, "no route", ""), "")}, "", "", false},
		"it stays away":          {HealthFacts{Trackers: tracker(3, coppice.Failf(coppice.ClassEnvironment, "no route", ""), "")}, "tracker", "cannot be read: no route.", false},
		"no task of an issue":    {HealthFacts{Trackers: tracker(0, nil, "no agent was named")}, "tracker", "The issues of app (bugs) do not become tasks: no agent was named.", false},
		"notifiers":              {HealthFacts{Notifiers: []string{"phone", "team"}, Named: map[string][]string{"app": {"team"}, "web": nil}}, "", "", false},
		"a missing notifier":     {HealthFacts{Notifiers: []string{"phone"}, Named: map[string][]string{"app": {"team", "phone"}}}, "notify", "notify in coppice.yaml of app names team, and your configuration does not have it.", false},
		"only missing ones":      {HealthFacts{Named: map[string][]string{"app": {"team"}}}, "notify", "Nobody gets the notices of this project.", false},
		"a failing notifier":     {HealthFacts{Failing: []coppice.Notification{{Notifier: "phone", NotificationDetails: coppice.NotificationDetails{Failure: coppice.Failf(coppice.ClassAuth, "the token was refused", "set the secret")}}}}, "notify", "The notifier phone does not work: the token was refused", false},
		"no login":               {HealthFacts{Agents: agent(api.Agent{Path: "/bin/claude", Login: "no"})}, "agent", "is not logged in", false},
	} {
		c.facts.Now = noon
		h := Judge(c.facts)
		if c.kind == "" {
			if !h.Healthy || len(h.Problems) > 0 {
				t.Errorf("%s: %+v", name, h)
			}
			continue
		}
		if h.Healthy || len(h.Problems) != 1 {
			t.Errorf("%s: %+v", name, h)
			continue
		}
		if p := h.Problems[0]; p.Kind != c.kind || !strings.Contains(p.Text, c.text) || p.Urgent != c.urgent || p.Fix == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	both := Judge(HealthFacts{Now: noon, Lost: 9, Offered: work(time.Hour), Limited: []coppice.AgentLimit{{Agent: "claude"}}})
	if len(both.Problems) != 3 || !both.Problems[0].Urgent || !both.Problems[1].Urgent || both.Problems[2].Kind != "hosts" {
		t.Errorf("the order is %+v", both.Problems)
	}
}

// The facts come from the store, and from what the server passes in.
func TestHealthReadsFacts(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := sqlitetest.Open(t, sqlite.Config{})
	h := Health{
		Store: s, Now: func() time.Time { return noon }, State: "/state", Started: noon, Intact: func() error { return nil },
		DiskFree: func() uint64 { return 1 << 40 }, Backup: func() (time.Time, error) { return noon, nil },
		Agents: func(_ context.Context, p *coppice.Project, _ bool) (api.AgentList, error) {
			return api.AgentList{Agents: []api.Agent{{Name: "claude"}, {Name: "codex"}, {Name: "other"}}}, nil
		},
	}
	if got, err := h.Check(t.Context(), true); err != nil || !got.Healthy || got.Started != noon || got.Backup != noon || got.DiskFree != 1<<40 || got.State != "/state" {
		t.Fatalf("an empty server: %+v, %v", got, err)
	}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		p := coppice.Project{Prefix: "app", Path: "/src/app", Policy: coppice.DefaultPolicy()}
		p.Policy.Agent.Use, p.Policy.Agent.Fallback = "claude", []string{"codex:small"}
		err := tx.Projects.Put(&p)
		k := coppice.Task{ProjectID: p.ID, Num: 4, Key: "app-4", Stage: coppice.StageLanding}
		err = errors.Join(err, tx.Tasks.Put(&k))
		q, found := tx.Queues.Of(p.ID, "")
		q.Needs = coppice.Needs{{Kind: coppice.NeedCheckout, Text: "a.go has changes", Fix: "commit them"}}
		l := coppice.Landing{ProjectID: p.ID, TaskID: k.ID, QueueID: q.ID, QueuedAt: noon.Add(-time.Hour), Waits: "a.go has changes"}
		w := coppice.Work{Kind: coppice.WorkMerge, Key: "merge", ProjectID: p.ID, TaskID: k.ID, State: coppice.WorkOffered, OfferedAt: noon.Add(-time.Hour)}
		err = errors.Join(err, found, tx.Queues.Put(&q), tx.Landings.Put(&l), tx.Work.Put(&w))
		for range mostLost + 1 {
			err = errors.Join(err, tx.Log.Append(&coppice.Event{At: noon.Add(-time.Minute), Kind: coppice.EventSessionEnded, Reason: "lost: its host disappeared", By: "settle"}))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.Check(t.Context(), true)
	var kinds []string
	for _, p := range got.Problems {
		kinds = append(kinds, p.Kind)
	}
	if want := "worker queue hosts agent agent"; err != nil || strings.Join(kinds, " ") != want || got.Problems[1].Fix != "commit them" {
		t.Errorf("%+v, %v, want %s", got, err, want)
	}
	if got, err := h.Check(t.Context(), false); err != nil || len(got.Problems) != 3 {
		t.Errorf("without agents: %+v, %v", got, err)
	}
}

func TestForgesAreShown(t *testing.T) {
	t.Parallel()
	hooks := coppice.ForgePolicy{Webhook: "HOOK"}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	arrived := coppice.ForgeRow{ForgeDetails: coppice.ForgeDetails{HookAt: at}}
	for name, c := range map[string]struct {
		facts HealthFacts
		text  string
		fix   string // a part; empty for none
	}{
		"polling":      {HealthFacts{Forges: []UsedForge{{Project: "app"}}}, "the forge is read every 30s while a pull request is open", ""},
		"no listener":  {HealthFacts{Forges: []UsedForge{{"app", hooks, arrived}}}, "no webhooks are received", "webhooks.listen"},
		"port in use":  {HealthFacts{Listens: true, Webhooks: errors.New("in use"), Forges: []UsedForge{{"app", hooks, arrived}}}, "no webhooks are received", ""},
		"none arrived": {HealthFacts{Listens: true, Forges: []UsedForge{{"app", hooks, coppice.ForgeRow{}}}}, "no webhook has arrived", "test delivery"},
		"they arrive":  {HealthFacts{Listens: true, Forges: []UsedForge{{"app", hooks, arrived}}}, "webhooks arrive; the last one at 2026-03-01T12:00:00Z", ""},
	} {
		got := Judge(c.facts).Forges
		if len(got) != 1 || got[0].Project != "app" || !strings.Contains(got[0].Text, c.text) || !strings.Contains(got[0].Fix, c.fix) || (got[0].Fix == "") != (c.fix == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
