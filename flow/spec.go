package flow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"coppice"
)

// readSpec reads a spec as people write it. It refuses unknown fields. Fields that are
// absent stay as they are in the defaults.
func readSpec[T any](raw json.RawMessage, defaults T) (T, error) {
	spec := defaults
	if len(bytes.TrimSpace(raw)) == 0 {
		return spec, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(&spec)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("it has text after its end")
		}
	}
	if err == nil {
		return spec, nil
	}
	if e := (*coppice.Error)(nil); errors.As(err, &e) {
		return spec, e
	}
	if e := (*json.UnmarshalTypeError)(nil); errors.As(err, &e) {
		return spec, coppice.Errorf(coppice.EInvalid, "the value cannot be a JSON %s", e.Value).WithFix("see docs/flows.md for the fields of the spec").WithField(e.Field)
	}
	return spec, coppice.Errorf(coppice.EInvalid, "the spec cannot be read: %s", strings.TrimPrefix(err.Error(), "json: ")).
		WithFix("see docs/flows.md for the fields of the spec").WithField("spec")
}

// inRange checks a number of a spec, and sets its default if it is absent.
func inRange(field string, n *int, least, most, absent int) error {
	if *n == 0 {
		*n = absent
	}
	if *n < least || *n > most {
		return coppice.Errorf(coppice.EInvalid, "%d is not a valid value for %s", *n, field).WithFix("use a number from %d to %d", least, most).WithField(field)
	}
	return nil
}

// within adds to an error in which part of a spec its field is.
func within(part string, err error) error {
	if err == nil {
		return nil
	}
	e := coppice.Public(err)
	return e.WithField(strings.TrimSuffix(part+"."+e.Field, "."))
}

// knownAgent refuses an agent that the project cannot use.
func knownAgent(name string, agents []Agent) error {
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return coppice.Errorf(coppice.EInvalid, "there is no agent %s", coppice.Quote(name)).
		WithFix("use one of: %s", cmp.Or(strings.Join(names, ", "), "(the project has none: run coppice init in the repository)")).WithField("agent")
}

// free returns the agents whose accounts are not limited, or all if each one is.
func free(agents []Agent) []Agent {
	if left := slices.DeleteFunc(slices.Clone(agents), func(a Agent) bool { return a.Limited }); len(left) > 0 {
		return left
	}
	return agents
}

// checkTask checks a task of a spec, and gives it a title if it has none. What depends
// on the project's policy is checked when the task is created.
func checkTask(t *coppice.NewTask, agents []Agent, mostBody int) error {
	if t.Flow != nil {
		return coppice.Errorf(coppice.EInvalid, "a step cannot be a flow itself").WithFix("create that flow as a separate task, with after if the order matters").WithField("flow")
	}
	if strings.TrimSpace(t.Title) == "" {
		t.Title = coppice.TitleOf(t.Body)
	}
	if t.Agent != "" {
		if err := knownAgent(t.Agent, agents); err != nil {
			return err
		}
	}
	if t.Model != "" && t.Model != coppice.ModelAuto {
		if err := coppice.ValidModel(t.Model); err != nil {
			return within("model", err)
		}
	}
	if t.Priority < coppice.MinPriority || t.Priority > coppice.MaxPriority {
		return coppice.Errorf(coppice.EInvalid, "the priority %d is out of range", t.Priority).
			WithFix("use a number from %d to %d; a higher one comes first", coppice.MinPriority, coppice.MaxPriority).WithField("priority")
	}
	_, labels := coppice.Labels(t.Labels)
	return cmp.Or(
		coppice.ValidTitle(t.Title), coppice.ValidText("body", t.Body, mostBody), coppice.ValidContext(t.Context), coppice.ValidRetry(t.Retry),
		coppice.ValidCompletion(t.Completion), coppice.TaskDetails{Turns: t.Turns, Time: t.Time, UntilDone: t.UntilDone}.ValidLimits(), t.Budget.Valid("budget"), labels)
}
