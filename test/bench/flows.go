package main

import (
	"context"
	"fmt"
	"time"

	"coppice"
	"coppice/flow"
	"coppice/store"
)

const (
	flowSteps = 20 // of each flow
	manyFlows = 50
)

// plans is a store with flows whose steps come one after the other.
type plans struct {
	*line
	flows []coppice.Task
}

func (l *lab) plans(ctx context.Context, flows int) (*plans, error) {
	q, err := l.line(ctx, 0)
	if err != nil {
		return nil, err
	}
	p := &plans{line: q}
	spec := flow.BatchSpec{Most: 1}
	for n := range flowSteps {
		spec.Tasks = append(spec.Tasks, coppice.NewTask{Title: fmt.Sprintf("Step %d", n+1)})
	}
	for range flows {
		made, err := q.intake.CreateTasks(ctx, "app", []coppice.NewTask{{Title: "A flow", Flow: &coppice.NewFlow{Kind: coppice.FlowBatch, Spec: coppice.Raw(spec)}}})
		if err != nil {
			return nil, err
		}
		p.flows = append(p.flows, made...)
	}
	return p, q.turn(ctx, q.live)
}

// measure ends the open step of each flow, and returns the mean time of the turns in
// which the next step follows.
func (p *plans) measure(ctx context.Context, _ int) (float64, error) {
	took := time.Duration(0)
	for _, f := range p.flows {
		before, err := p.end(ctx, f)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		if err := p.turn(ctx, p.live); err != nil {
			return 0, err
		}
		took += time.Since(began)
		after, err := store.Read(ctx, p.store, func(r store.Reader) ([]coppice.Task, error) { return r.Families.Steps(f.ID) })
		if err == nil && len(after) != before+1 {
			err = fmt.Errorf("%s has %d steps, not %d", f.Key, len(after), before+1)
		}
		if err != nil {
			return 0, err
		}
	}
	return millis(took) / float64(len(p.flows)), nil
}

// end makes the open step of a flow done. It returns how many steps the flow has.
func (p *plans) end(ctx context.Context, f coppice.Task) (n int, err error) {
	err = p.store.Update(ctx, func(tx store.Tx) error {
		steps, err := tx.Families.Steps(f.ID)
		if err != nil {
			return err
		}
		n = len(steps)
		s := steps[n-1]
		s.Stage, s.Outcome, s.EndedAt, s.Next, s.Wait = coppice.StageEnded, coppice.OutcomeDone, time.Now(), nil, nil
		if err := tx.Tasks.Put(&s); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: time.Now(), Kind: coppice.EventFlowAsked, ProjectID: f.ProjectID, TaskID: f.ID, By: "bench"})
	})
	return n, err
}

// flowRows measures the turn in which a step of a flow follows another one, beside
// many other flows.
func flowRows(ctx context.Context, l *lab) ([]row, error) {
	var each []measurement
	for _, n := range []int{1, manyFlows} {
		p, err := l.plans(ctx, n)
		if err != nil {
			return nil, err
		}
		defer p.store.Close()
		each = append(each, p.measure)
	}
	const warm = 2
	n := flowSteps - 1 - warm
	s, err := interleave(ctx, warm, n, each...)
	if err != nil {
		return nil, err
	}
	return []row{row{
		Figure: fmt.Sprintf("a step of a flow, %d flows of %d steps", manyFlows, flowSteps), Ours: s[1].median(), Beside: "itself with 1 flow",
		Baseline: s[0].median(), Unit: "ms", N: n, Samples: sampled(s[1], s[0]),
	}.judge(goal{ratioMost, 1.5})}, nil
}
