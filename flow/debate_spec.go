package flow

import (
	"cmp"
	"slices"

	"coppice"
)

// DebateSpec says how two agents debate. The title and the description of the flow are
// the question.
type DebateSpec struct {
	Between      []string         `json:"between,omitempty" minItems:"2" maxItems:"2" doc:"The two sides: each is an agent, or an agent, a colon and a model; the two best agents when absent"`
	Rounds       int              `json:"rounds,omitempty" minimum:"1" maximum:"10" doc:"The most rounds until the sides must agree; 3 when absent"`
	Loops        int              `json:"loops,omitempty" minimum:"1" maximum:"20" doc:"How often the debate runs, each time with the summary of the time before; 1 when absent"`
	Action       string           `json:"action,omitempty" doc:"What one side does after the rounds of each loop; its work lands when the flow ends"`
	ActionBy     string           `json:"action_by,omitempty" doc:"The side that does it; the first one when absent"`
	Verify       bool             `json:"verify,omitempty" doc:"The other side verifies the action"`
	VerifyRounds int              `json:"verify_rounds,omitempty" minimum:"1" maximum:"10" doc:"The most verifications of an action, with a fix between two of them; 3 when absent"`
	Then         *coppice.NewTask `json:"then,omitempty" doc:"A task that starts after the debate, with its summary in the description; cannot be combined with action"`
}

// complete checks a spec and fills in the defaults. In a batch the task that follows is
// the item, so it is not checked here.
func (s *DebateSpec) complete(agents []Agent, inBatch bool) error {
	if len(s.Between) == 0 && len(agents) > 0 {
		s.Between = []string{agents[0].Name, agents[min(1, len(agents)-1)].Name}
	}
	if len(s.Between) != 2 {
		return coppice.Errorf(coppice.EInvalid, "a debate has 2 sides, not %d", len(s.Between)).
			WithFix("name two agents, or one agent with two models as AGENT:MODEL").WithField("between")
	}
	for _, choice := range s.Between {
		agent, _ := coppice.SplitChoice(choice)
		if err := cmp.Or(coppice.ValidChoice(choice), knownAgent(agent, agents)); err != nil {
			return coppice.Public(err).WithField("between")
		}
	}
	if err := cmp.Or(inRange("rounds", &s.Rounds, 1, 10, 3), inRange("loops", &s.Loops, 1, 20, 1)); err != nil {
		return err
	}
	if err := s.completeAction(); err != nil || s.Then == nil {
		return err
	}
	if s.Action != "" {
		return coppice.Errorf(coppice.EInvalid, "a debate has an action or a task that follows, not both").WithFix("leave out action or then").WithField("then")
	}
	if inBatch {
		return nil
	}
	if s.Then.Ref != "" {
		return coppice.Errorf(coppice.EInvalid, "a task that follows a debate cannot have a ref").WithFix("leave it out").WithField("then.ref")
	}
	return within("then", checkTask(s.Then, agents, mostQuestion))
}

func (s *DebateSpec) completeAction() error {
	if s.Action == "" {
		field := map[bool]string{true: "verify", false: "action_by"}[s.Verify]
		if s.Verify || s.ActionBy != "" {
			return coppice.Errorf(coppice.EInvalid, "%s needs an action", field).WithFix("add an action, or leave out %s", field).WithField(field)
		}
	} else {
		if err := coppice.ValidText("action", s.Action, coppice.MaxMessage); err != nil {
			return err
		}
		if !coppice.Visible(s.Action) {
			return coppice.Errorf(coppice.EInvalid, "the action is empty").WithFix("say what one side does after the debate, or leave out action").WithField("action")
		}
		s.ActionBy = cmp.Or(s.ActionBy, s.Between[0])
		if !slices.Contains(s.Between, s.ActionBy) {
			return coppice.Errorf(coppice.EInvalid, "%s is not one of the two sides", coppice.Quote(s.ActionBy)).WithFix("use %s or %s", s.Between[0], s.Between[1]).WithField("action_by")
		}
	}
	if s.Verify {
		return inRange("verify_rounds", &s.VerifyRounds, 1, 10, 3)
	}
	if s.VerifyRounds != 0 {
		return coppice.Errorf(coppice.EInvalid, "verify_rounds needs verify").WithFix("set verify, or leave out verify_rounds").WithField("verify_rounds")
	}
	return nil
}
