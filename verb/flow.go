package verb

import "coppice"

// notPlanned makes a verb apply to a flow only when its branch lands. Before that,
// the flow works through its steps.
func notPlanned(fits func(Facts) error) func(Facts) error {
	return func(f Facts) error {
		if t := f.Task; t.Planned() {
			return coppice.Errorf(coppice.EConflict, "%s is a flow: its steps do the work", t.Key).
				WithFix("see its steps with `coppice flow show %s`; use `coppice flow resume`, `coppice flow wrap-up` or `coppice stop`", t.Key)
		}
		return fits(f)
	}
}

// notFlow says why a verb of flows does not apply to any other task.
func notFlow(t coppice.Task) error {
	if t.Flow == nil {
		return coppice.Errorf(coppice.EConflict, "%s is not a flow", t.Key).WithFix("`coppice flow list` shows the flows")
	}
	if t.Outcome == coppice.OutcomeDone {
		return coppice.Errorf(coppice.EConflict, "%s is done", t.Key).WithFix("start another flow")
	}
	return nil
}

func fitsPause(f Facts) error {
	t := f.Task
	if err := notFlow(t); err != nil {
		return err
	}
	switch {
	case t.Ended():
		return coppice.Errorf(coppice.EConflict, "%s has ended already (%s)", t.Key, t.Outcome)
	case t.Flow.Lands:
		return coppice.Errorf(coppice.EConflict, "the steps of %s are done, and its branch lands", t.Key).WithFix("stop it with `coppice stop %s`", t.Key)
	case t.Flow.Paused:
		return coppice.Errorf(coppice.EConflict, "%s is paused already", t.Key)
	}
	return nil
}

func fitsResume(f Facts) error {
	t := f.Task
	if err := notFlow(t); err != nil {
		return err
	}
	switch {
	case t.Ended(), t.Planned() && WaitsForPerson(t):
		return nil
	case f.asked(coppice.VerbStop):
		return beingStopped(t)
	}
	return coppice.Errorf(coppice.EConflict, "%s runs already", t.Key).WithFix("pause it first with `coppice flow pause %s`", t.Key)
}

func fitsWrapUp(f Facts) error {
	t := f.Task
	if err := notFlow(t); err != nil {
		return err
	}
	switch {
	case t.Flow.WrapUp && !t.Ended():
		return coppice.Errorf(coppice.EConflict, "%s is being wrapped up already", t.Key)
	case t.Flow.Lands && !t.Ended():
		return coppice.Errorf(coppice.EConflict, "%s lands already", t.Key)
	case f.asked(coppice.VerbStop):
		return beingStopped(t)
	}
	return nil
}
