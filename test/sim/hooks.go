package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"coppice"
	"coppice/store"
)

// hooks is what happened to hooks.
type hooks struct {
	Fired    int // runs
	Repeated int // runs that were started more than one time
	Refused  int // landings that a hook refused
}

// hooking is what the world knows of hooks. It is nil unless Options.Hooks is set.
type hooking struct {
	rng     *rand.Rand
	starts  map[string]int  // how often the command of each run was started
	ended   map[string]bool // runs whose result was accepted
	crashes int             // of workers: each repeats what it had started
	passed  map[string]bool // commits that a hook before their landing passed
}

// mine are the user's hooks.
var mine = coppice.Hooks{coppice.HookTaskFailed: {{Run: "mine"}}, coppice.HookServerStarted: {{Run: "mine"}}}

func newHooking(seed uint64) *hooking {
	return &hooking{rng: rand.New(rand.NewPCG(seed, 50)), starts: map[string]int{}, ended: map[string]bool{}, passed: map[string]bool{}}
}

// userHooks returns the user's hooks.
func (s *sim) userHooks() coppice.Hooks {
	if s.hooking == nil {
		return nil
	}
	return mine
}

// hooked gives a project hooks for every event.
func (s *sim) hooked(p *coppice.Policy) {
	if s.hooking == nil {
		return
	}
	p.Hooks, p.Limits.Hooks = coppice.Hooks{}, 1+s.hooking.rng.IntN(3)
	for _, e := range coppice.HookEvents {
		p.Hooks[e.Name] = []coppice.Hook{{Run: "one"}}
	}
	p.Hooks[coppice.HookLanded] = append(p.Hooks[coppice.HookLanded], coppice.Hook{Run: "two"})
	p.Hooks[coppice.HookBeforeLand] = []coppice.Hook{{Run: "gate", OnFailure: coppice.HookBlock}, {Run: "after"}}
}

// serverStarts reports that the server starts.
func (s *sim) serverStarts() error {
	if s.hooking == nil {
		return nil
	}
	if err := s.intake.ServerStarted(s.ctx); !lost(err) {
		return err
	}
	return nil
}

// runHook runs a hook, which fails at times.
func (s *sim) runHook(v coppice.HookSpec) (coppice.HookResult, error) {
	h := s.hooking
	if h == nil { // the command of a reaction
		s.pulling.runs[v.Key] = true
		return coppice.HookResult{}, nil
	}
	h.starts[v.Key]++
	if h.ended[v.Key] {
		return coppice.HookResult{}, fmt.Errorf("the hook %s ran again after its result was stored", v.Key)
	}
	var in coppice.HookInput
	if err := json.Unmarshal(v.Input, &in); err != nil || in.ID != v.Key || in.Event != v.Event {
		return coppice.HookResult{}, fmt.Errorf("the hook %s got %s: %w", v.Key, v.Input, err)
	}
	if h.rng.IntN(6) == 0 {
		return coppice.HookResult{Exit: 1, Output: "no"}, nil
	}
	return coppice.HookResult{}, nil
}

// hookGiven keeps that the result of a hook was accepted.
func (s *sim) hookGiven(it *item) error {
	if it.lease.Work.Kind != coppice.WorkHook || s.hooking == nil {
		return nil
	}
	v, err := coppice.DecodeSpec[coppice.HookSpec](it.lease.Work)
	if err != nil {
		return err
	}
	var in coppice.HookInput
	if err := json.Unmarshal(v.Input, &in); err != nil {
		return err
	}
	s.hooking.ended[v.Key] = true
	if r, ok := it.res.(coppice.HookResult); ok && it.fail == nil && r.Exit == 0 && v.Run == "gate" {
		s.hooking.passed[in.Landing.Commit] = true
	}
	return nil
}

// gateHolds fails if a commit is about to land that no hook passed.
func (s *sim) gateHolds(w coppice.Work, commit string) error {
	if s.hooking == nil || s.hooking.passed[commit] {
		return nil
	}
	return s.st.View(s.ctx, func(r store.Reader) error {
		l, err := r.Landings.Last(w.TaskID)
		if err != nil || l == nil || l.Reverts != "" {
			return err
		}
		return fmt.Errorf("%s lands, and no hook passed it", commit)
	})
}

// hookRuns returns how many runs should follow an event.
func hookRuns(e coppice.Event, projects int) int {
	var pause coppice.PauseChange
	var check struct {
		OnBase bool `json:"on_base"`
	}
	isPause := len(e.Data) > 0 && json.Unmarshal(e.Data, &pause) == nil
	_ = json.Unmarshal(e.Data, &check) // other data has no such field
	switch e.Kind {
	case coppice.EventTaskCreated, coppice.EventSessionCreated, coppice.EventSessionStarted, coppice.EventQuestionAsked, coppice.EventLandingVerified:
		return 1
	case coppice.EventSessionEnded:
		return min(int(e.SessionID), 1)
	case coppice.EventCheckEnded:
		if !check.OnBase {
			return 1
		}
	case coppice.EventLandingReady:
		return 2
	case coppice.EventLandingEnded:
		if strings.HasPrefix(e.Reason, "landed as") {
			return 2
		}
	case coppice.EventTaskEnded:
		if strings.HasPrefix(e.Reason, "failed") {
			return 2
		}
	case coppice.EventProjectChanged:
		if isPause {
			return 1
		}
	case coppice.EventServerStarted:
		return 1 + projects
	}
	return 0
}

// hooksHold checks at the end that each event has exactly one run per hook, that
// all have ended, and that no run was started more often than workers had it.
func (s *sim) hooksHold(r store.Reader, events []coppice.Event) (h hooks, err error) {
	if s.hooking == nil {
		return h, nil
	}
	want := map[string]bool{}
	for _, e := range events {
		for n := range hookRuns(e, len(s.projects)) {
			want[fmt.Sprintf("h%d-%d", e.Seq, n+1)] = true
		}
		if e.Kind == coppice.EventLandingEnded && strings.HasPrefix(e.Reason, "the hook before-land") {
			h.Refused++
		}
	}
	for key := range want {
		w, werr := r.Work.ByKey("hook/" + key)
		if werr != nil {
			return h, werr
		}
		if w == nil { // its row might have been removed, because there are many
			if run, rerr := r.Hooks.ByKey(key); rerr == nil && run.Outcome != coppice.HookSkipped {
				err = errors.Join(err, fmt.Errorf("the hook %s was never offered: %+v", key, run))
			}
			continue
		}
		h.Fired++
		if s.hooking.starts[key] > 1 {
			h.Repeated++
		}
		if w.State != coppice.WorkSettled {
			err = errors.Join(err, fmt.Errorf("the hook %s is %s", key, w.State))
		}
		if n := s.hooking.starts[key]; n > w.Attempt+s.hooking.crashes {
			err = errors.Join(err, fmt.Errorf("the hook %s was started %d times in %d attempts, and workers crashed %d times", key, n, w.Attempt, s.hooking.crashes))
		}
	}
	for key := range s.hooking.starts {
		if !want[key] {
			err = errors.Join(err, fmt.Errorf("the hook %s ran without its event", key))
		}
	}
	return h, err
}
