package control

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"coppice"
	"coppice/api"
	"coppice/config"
	"coppice/engine"
	"coppice/workspace"
)

// Settings reads and changes projects' coppice.yaml and prompts, and the notifiers in the
// user's configuration, for the API.
type Settings struct {
	Spaces *workspace.Workspaces
	Intake *engine.Intake
	Server []api.ServerSetting // what the server was started with
	Limits Limits              // of the history

	UseNotify func(coppice.NotifyPolicy) // gets the changed notifiers and routes; can be nil

	mu sync.Mutex // one change at a time
}

// Config returns the value of every key of a project, and its source.
func (s *Settings) Config(_ context.Context, p coppice.Project) (api.ProjectConfig, error) {
	policy, src, err := config.Load(p.Path)
	if err != nil {
		return api.ProjectConfig{}, err
	}
	limits, err := s.Limits.settings()
	if err != nil {
		return api.ProjectConfig{}, err
	}
	out := api.ProjectConfig{Path: src.Path, Exists: src.Read, Revision: src.Revision, Server: slices.Concat(s.Server, limits)}
	for _, k := range config.Explain(policy, src) {
		out.Keys = append(out.Keys, configKey(k))
	}
	return out, nil
}

func configKey(k config.Key) api.ConfigKey {
	row := api.ConfigKey{
		Key: k.Name, Form: k.From == "", Text: k.Value, Default: k.Default, Source: k.From, Line: k.Line, Type: k.Type, Shape: k.Shape, Doc: k.Doc, Example: k.Example,
		OneOf: k.OneOf, Names: k.Names, Min: k.Min, Max: k.Max, Least: k.Least, Pattern: k.Pattern, Needed: k.Needed, Secret: k.Secret,
	}
	if k.JSON != nil {
		row.Value = coppice.Raw(k.JSON)
	}
	return row
}

// SetConfig makes one change, or only returns its diff with DryRun. If it fails,
// nothing changes. The project is inspected with the change before the file is
// written, and read again afterwards.
func (s *Settings) SetConfig(ctx context.Context, p coppice.Project, c api.ConfigChange) (api.ProjectConfig, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var tip string // of the base that the file names
	accept := func(policy coppice.Policy) error {
		repo, err := s.Spaces.Inspect(ctx, p.Path, policy.Base)
		tip = repo.BaseCommit
		return err
	}
	// Only this change is applied: other changes in the file might wait for a
	// person.
	use := func(written coppice.Policy) error {
		_, err := s.Intake.EditPolicy(ctx, p.Path, tip, func(current coppice.Policy) (coppice.Policy, error) {
			if written.Base == "" {
				written.Base = current.Base
			}
			return config.With(current, written, c.Key)
		})
		return err
	}
	change := config.Change{Key: c.Key, Value: json.RawMessage(c.Value), Unset: c.Unset}
	var diff string
	var err error
	if c.DryRun {
		diff, err = config.Preview(p.Path, change, c.Revision, accept)
	} else {
		_, err = config.Apply(p.Path, change, c.Revision, accept, use)
	}
	if err != nil {
		return api.ProjectConfig{}, withField(err)
	}
	out, err := s.Config(ctx, p)
	out.Diff = diff
	return out, err
}

// Notify returns the keys of the user's configuration below notify.
func (s *Settings) Notify(context.Context) (api.NotifySettings, error) {
	u, src, err := config.UserOf(s.Limits.Environ)
	if err != nil {
		return api.NotifySettings{}, withoutLine(err)
	}
	out := api.NotifySettings{Path: src.Path, Exists: src.Read, Revision: src.Revision, Secrets: slices.Sorted(maps.Keys(u.Secrets)), Missing: u.MissingSecrets()}
	for _, k := range config.ExplainUser(u, src) {
		if strings.HasPrefix(k.Name, "notify.") {
			out.Keys = append(out.Keys, configKey(k))
		}
	}
	for _, k := range coppice.NotifyKinds {
		out.Kinds = append(out.Kinds, api.NotifierKind{Name: k.Name, Needs: k.Needs, Allows: k.Allows, Fields: k.Fields(), Secret: k.Secret})
	}
	return out, nil
}

// SetNotify changes one key of the user's configuration, or only returns the diff with
// DryRun. If it fails, nothing changes. The server uses the change when it returns.
func (s *Settings) SetNotify(ctx context.Context, c api.ConfigChange) (api.NotifySettings, error) {
	path, err := config.UserPath(s.Limits.Environ)
	if err != nil {
		return api.NotifySettings{}, err
	}
	dir := filepath.Dir(path)
	change := config.Change{Key: c.Key, Value: c.Value, Unset: c.Unset}
	var diff string
	if c.DryRun {
		diff, err = config.PreviewUser(dir, change, c.Revision)
	} else {
		var u config.User
		if u, err = config.ApplyUser(ctx, dir, change, c.Revision); err == nil && s.UseNotify != nil {
			s.UseNotify(u.Notify)
		}
	}
	if err != nil {
		return api.NotifySettings{}, withoutLine(withField(err))
	}
	out, err := s.Notify(ctx)
	out.Diff = diff
	return out, err
}

// withoutLine removes the text of the line from an error about a place in the user's
// configuration: it can contain a secret that a person wrote there by mistake. From an
// error about a field of a form it removes the place, too.
func withoutLine(err error) error {
	var at *config.At
	var e *coppice.Error
	if !errors.As(err, &at) || !errors.As(err, &e) {
		return err
	}
	short := *e
	short.Cause = coppice.FirstLine(e.Cause)
	if at.Key != "" { // the field says it, and the file does not have the mistake
		short.Cause = strings.TrimPrefix(short.Cause, at.Error()+": ")
	}
	return &short
}

// withField names the key that an error is about, for a form that shows the error
// beside its field.
func withField(err error) error {
	var at *config.At
	var e *coppice.Error
	if errors.As(err, &at) && errors.As(err, &e) && at.Key != "" && e.Field == "" {
		return e.WithField(at.Key)
	}
	return err
}
