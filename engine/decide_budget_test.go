package engine

import (
	"strings"
	"testing"

	"coppice"
)

func cost(usd float64) func(*coppice.Session) {
	return func(s *coppice.Session) { s.Usage.CostUSD = usd }
}

func TestBudget(t *testing.T) {
	t.Parallel()
	five := policy(func(p *coppice.Policy) { p.Budget.Task = 5 })
	ten := task(func(t *coppice.Task) { t.Budget = 10 })
	next := task(func(t *coppice.Task) { t.Next = &coppice.Next{Role: coppice.RoleFix, Agent: "ann"} })
	screen := task(func(t *coppice.Task) { t.Next = &coppice.Next{Role: coppice.RoleFix, Agent: "ann", Screen: true} })
	earlier := func(v *View) { v.Earlier = append(v.Earlier, coppice.Session{ID: 1, Usage: coppice.Usage{CostUSD: 4}}) }
	stops := "budget: work.offered; session working; stop 1 for budget; offer session.stop session/11/stop/1 to local"
	waits := "budget: task.stage; to waiting; fails: budget; waits on person: has cost 5.12 USD of 5 USD [raise its budget (coppice set app-7 --budget N), or retry it to grant the same amount again]"
	run(t, budget, []decision{
		{"no bound", viewOf(coppice.StageSession, space(), ran("", live, cost(1000)), taken(coppice.WorkRun)), "nothing"},
		{"below", viewOf(coppice.StageSession, five, space(), ran("", live, cost(4.99)), taken(coppice.WorkRun)), "nothing"},
		{"reached in a session", viewOf(coppice.StageSession, five, space(), ran("", live, cost(5)), taken(coppice.WorkRun)), stops},
		{"over all rounds", viewOf(coppice.StageSession, five, earlier, space(), ran("", live, cost(1)), taken(coppice.WorkRun)), stops},
		{"its own bound goes first", viewOf(coppice.StageSession, five, ten, space(), ran("", live, cost(5)), taken(coppice.WorkRun)), "nothing"},
		{"a person's own session is theirs", viewOf(coppice.StageSession, five, space(), ran("", live, cost(5), onScreen), taken(coppice.WorkRun)), "nothing"},
		{"before the next session", viewOf(coppice.StageQueued, five, next, ran("head1", cost(5.12))), waits},
		{"not before a person's own", viewOf(coppice.StageQueued, five, screen, ran("head1", cost(5.12))), "nothing"},
		{"what is done may land", viewOf(coppice.StageChecking, five, ran("head1", cost(5.12))), "nothing"},
	})
	run(t, settle, []decision{
		{"a session that was stopped for it", viewOf(coppice.StageSession, five, space(), ran("", live, cost(5), why(coppice.StopBudget)),
			finished(coppice.WorkRun, coppice.RunResult{Stopped: true, Usage: coppice.Usage{CostUSD: 5.12}})),
			"settle: session.ended; session failed; session fails: budget; stop 1 for budget; settled"},
	})
	v := viewOf(coppice.StageSession, five, space(), ran("", live, cost(5), why(coppice.StopBudget)),
		finished(coppice.WorkRun, coppice.RunResult{Stopped: true, Usage: coppice.Usage{CostUSD: 5.12}}))
	if d := settle(v); d.Session.Failure.Text != "has cost 5.12 USD of 5 USD" {
		t.Errorf("it says: %s", d.Session.Failure.Text)
	}
}

// A task whose budget is used up waits, continues with a larger one, and gets
// the same amount again when a person retries it.
func TestBudgetUsedUp(t *testing.T) {
	t.Parallel()
	b := openApp(t, func(p *coppice.Project) { p.Policy.Budget.Task = 2 })
	b.create(coppice.NewTask{Title: "a"})
	b.prepares("app-1")
	left := func() coppice.USD {
		spec := specOf[coppice.RunSpec](b, b.unsettled("app-1"))
		return spec.Budget
	}
	if left() != 2 {
		t.Errorf("%v is left at first", left())
	}
	fails := func(usd float64) {
		b.finish("app-1", coppice.WorkRun, coppice.RunResult{
			Head: "head1", Conversation: "talk1", Usage: coppice.Usage{CostUSD: usd}, Failure: coppice.Failf(coppice.ClassBudget, "has cost too much", ""),
		})
	}
	fails(2.5)
	if x := b.task("app-1"); x.Wait == nil || x.Wait.On != coppice.WaitPerson {
		t.Fatalf("%+v", x)
	}
	less, more := coppice.USD(2.25), coppice.USD(4)
	_, err := b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Budget: &less})
	b.must(err)
	b.turn()
	if x := b.task("app-1"); x.Stage != coppice.StageWaiting {
		t.Errorf("it continues with too little: %s", x.Stage)
	}
	_, err = b.ChangeTask(t.Context(), "app-1", coppice.TaskChange{Budget: &more})
	b.must(err)
	b.turn()
	if got := left(); got != 1.5 {
		t.Errorf("%v is left of a larger one", got)
	}
	fails(1.5)
	_, err = b.Retry(t.Context(), "app-1", "")
	b.must(err)
	b.turn()
	if x := b.task("app-1"); x.Budget != 6 || left() != 2 {
		t.Errorf("retry grants %v in all, %v is left", x.Budget, left())
	}
	if s := b.session("app-1.3"); s.Resume != "talk1" {
		t.Errorf("it continues as %+v", s)
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	text := func(n int) string { return strings.Repeat("word ", n/5) }
	steps := func(n int) []string { return make([]string, n) }
	for _, c := range []struct {
		title, body string
		steps       int
		want        string
	}{
		{"Fix a typo in the README", "", 0, LevelSimple},
		{"Rename the flag", text(300), 2, LevelSimple},
		{"Fix the docs", text(3000), 0, LevelMedium},
		{"Add a button", "", 0, LevelSimple},
		{"Add a button", "", 3, LevelMedium},
		{"Add a button", text(500), 0, LevelMedium},
		{"Add a button", "It must survive a race condition.", 5, LevelMedium},
		{"Add a page", text(2500), 4, LevelComplex},
		{"Add a page", text(6500), 0, LevelComplex},
		{"Refactor the parser", "", 0, LevelComplex},
		{"Migrate to the new schema", "", 0, LevelComplex},
		{"Rename and refactor the store", "", 0, LevelComplex},
		{"Fix a race condition", "", 0, LevelComplex},
		{"Describe the doctor", "", 0, LevelSimple},
		{"Trace the racecourse", text(500), 0, LevelMedium},
	} {
		if got := Level(coppice.Task{Title: c.title, Body: c.body, Steps: steps(c.steps)}); got != c.want {
			t.Errorf("%s (%d bytes, %d steps): %s, want %s", c.title, len(c.body), c.steps, got, c.want)
		}
	}
}

func TestAutoModel(t *testing.T) {
	t.Parallel()
	all := map[string]string{LevelSimple: "small", LevelMedium: "middle", LevelComplex: "big"}
	for name, c := range map[string]struct {
		models map[string]string
		level  string // "" for the rules
		title  string
		want   string
	}{
		"simple":         {all, "", "Fix a typo", "small"},
		"complex":        {all, "", "Refactor it", "big"},
		"injected":       {all, LevelMedium, "Fix a typo", "middle"},
		"no such level":  {map[string]string{LevelMedium: "middle"}, "", "Fix a typo", "middle"},
		"names no model": {nil, "", "Fix a typo", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, func(cfg *Config) {
				cfg.Models = func(agent string, own *coppice.Profile) map[string]string {
					if agent != "ann" || own == nil || own.Protocol != "lines" {
						t.Errorf("asked about %s, %+v", agent, own)
					}
					return c.models
				}
				if c.level != "" {
					cfg.Classify = func(coppice.Task) string { return c.level }
				}
			})
			b.project(func(p *coppice.Project) { p.Policy.Agents = map[string]coppice.Profile{"ann": {Protocol: "lines"}} })
			b.create(coppice.NewTask{Title: c.title, Model: coppice.ModelAuto})
			b.turn()
			if s := b.session("app-1.1"); s.Model != c.want {
				t.Errorf("starts with %q, want %q", s.Model, c.want)
			}
		})
	}
}
