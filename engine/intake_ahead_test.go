package engine

import (
	"context"
	"testing"
	"time"

	"coppice"
	"coppice/flow"
	"coppice/store"
)

// writing is a store that knows whether a transaction is open.
type writing struct {
	store.Store
	open bool
}

func (w *writing) Update(ctx context.Context, f func(store.Tx) error) error {
	w.open = true
	defer func() { w.open = false }()
	return w.Store.Update(ctx, f)
}

// The agents of new tasks are looked up before the transaction that creates them, each
// one once.
func TestAgentsAreLookedUpAhead(t *testing.T) {
	t.Parallel()
	b := openApp(t)
	s, asked := &writing{Store: b.store}, map[string]int{}
	look := func(what string) {
		if asked[what]++; s.open || asked[what] > 1 {
			t.Errorf("%s was looked up (%d times), in a transaction: %t", what, asked[what], s.open)
		}
	}
	i := NewIntake(s, b.now, inspected, func(_ coppice.Project, agent string) error { look(agent); return nil }, nil,
		WithUsable(func(coppice.Project) []flow.Agent {
			look("all agents")
			return []flow.Agent{{Name: "ann"}, {Name: "bob"}}
		}))
	debate := &coppice.NewFlow{Kind: coppice.FlowDebate}
	_, err := i.CreateTasks(t.Context(), "app", []coppice.NewTask{{Title: "a", Agent: "zoe"}, {Title: "b", Agent: "zoe"}, {Title: "c"}, {Title: "d", Flow: debate}, {Title: "e", Flow: debate}})
	b.must(err)
	if len(asked) != 3 {
		t.Errorf("%v were looked up, want zoe, the agent of the project, and all agents", asked)
	}
	clear(asked)
	_, err = i.AddSchedule(t.Context(), "app", coppice.NewSchedule{Name: "nightly", Every: coppice.Duration(time.Hour), Task: coppice.NewTask{Title: "f", Flow: debate}})
	b.must(err)
	if asked["all agents"] != 1 {
		t.Errorf("%v were looked up for a schedule, want all agents", asked)
	}
}

// A goal does not choose an agent whose account is limited, or that is logged out.
func TestALimitedAgentIsNotChosen(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]coppice.AgentLimit{
		"limited":    {Agent: "best", Class: coppice.ClassRateLimit, Until: noon.Add(time.Hour), Since: noon},
		"logged out": {Agent: "best", Class: coppice.ClassAuth, Since: noon},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openApp(t)
			b.Intake.usable = func(coppice.Project) []flow.Agent {
				return []flow.Agent{{Name: "best", Scores: coppice.Scores{Lead: 9}}, {Name: "ann", Scores: coppice.Scores{Lead: 2}}, {Name: "bob", Scores: coppice.Scores{Lead: 1}}}
			}
			b.update(func(tx store.Tx) error { return tx.Limits.Put(limit) })
			goal := func() (flow.GoalSpec, error) {
				made := b.create(coppice.NewTask{Title: "goal", Flow: &coppice.NewFlow{Kind: coppice.FlowGoal}})
				return flow.ReadGoal(made[0].Flow.Spec)
			}
			if spec, err := goal(); err != nil || spec.Lead != "ann" || spec.Worker(1) != "bob" || len(spec.Agents) != 2 {
				t.Errorf("the goal has %+v, %v; want ann to lead and bob to work", spec, err)
			}
			b.must(b.ClearLimit(t.Context(), "best"))
			if spec, err := goal(); err != nil || spec.Lead != "best" {
				t.Errorf("without a limit the goal has %+v, %v; want best to lead", spec, err)
			}
		})
	}
}
