package server

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"coppice"
	"coppice/api"
	apihttp "coppice/api/http"
	"coppice/config"
	"coppice/engine"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/workspace"
)

// settings reads and changes projects' coppice.yaml for the API.
type settings struct {
	server Config
	spaces *workspace.Workspaces
	intake *engine.Intake

	mu sync.Mutex // one change at a time
}

var _ apihttp.Settings = (*settings)(nil)

// Config implements apihttp.Settings.
func (s *settings) Config(_ context.Context, p coppice.Project) (api.ProjectConfig, error) {
	policy, src, err := config.Load(p.Path)
	if err != nil {
		return api.ProjectConfig{}, err
	}
	out := api.ProjectConfig{Path: src.Path, Exists: src.Read, Revision: src.Revision, Server: s.server.Settings()}
	for _, k := range config.Explain(policy, src) {
		row := api.ConfigKey{
			Key: k.Name, Form: k.From == "", Text: k.Value, Default: k.Default, Source: k.From, Line: k.Line, Type: k.Type, Doc: k.Doc, Example: k.Example,
			OneOf: k.OneOf, Names: k.Names, Min: k.Min, Max: k.Max, Least: k.Least, Pattern: k.Pattern, Needed: k.Needed,
		}
		if k.JSON != nil {
			row.Value = coppice.Raw(k.JSON)
		}
		out.Keys = append(out.Keys, row)
	}
	return out, nil
}

// SetConfig implements apihttp.Settings. The project is looked at as it would be
// with the change before the file is touched, and read anew after.
func (s *settings) SetConfig(ctx context.Context, p coppice.Project, c api.ConfigChange) (api.ProjectConfig, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	accept := func(policy coppice.Policy) error {
		_, err := s.spaces.Inspect(ctx, p.Path, policy.Base)
		return err
	}
	// Only what is changed here comes into force: anything else in the file may
	// wait for a person.
	use := func(written coppice.Policy) error {
		inForce := p.Policy
		if written.Base == "" {
			written.Base = inForce.Base
		}
		policy, err := config.With(inForce, written, c.Key)
		if err != nil {
			return err
		}
		repo, err := s.spaces.Inspect(ctx, p.Path, policy.Base)
		if err != nil {
			return err
		}
		_, err = s.intake.ChangePolicy(ctx, coppice.Project{Path: p.Path, Policy: policy, BaseCommit: repo.BaseCommit})
		return err
	}
	change := config.Change{Key: c.Key, Value: json.RawMessage(c.Value), Unset: c.Unset}
	if _, err := config.Apply(p.Path, change, c.Revision, accept, use); err != nil {
		return api.ProjectConfig{}, err
	}
	return s.Config(ctx, p)
}

// Settings tells what the server was started with, as flags of `coppice serve`.
func (c Config) Settings() []api.ServerSetting {
	row := func(name, doc string, value any, isDefault bool) api.ServerSetting {
		source := "flag"
		if isDefault {
			source = "default"
		}
		return api.ServerSetting{Name: name, Value: fmt.Sprint(value), Source: source, Doc: doc}
	}
	listen := c.Listen
	if listen == "" {
		listen = DefaultListen
	}
	names := ""
	for i, n := range c.Names {
		if i > 0 {
			names += ", "
		}
		names += n
	}
	return []api.ServerSetting{
		row("listen", "Where the server listens; loopback only", listen, listen == DefaultListen),
		row("name", "Further names by which the server may be called", names, len(c.Names) == 0),
		row("sessions", "Most live sessions of all projects together; 0 means only the projects' own limits", c.MaxSessions, c.MaxSessions == 0),
		row("keep-events", "How many events the log keeps", c.KeepEvents, c.KeepEvents == defaultKeepEvents),
		row("keep-for", "How long events are kept", span(c.KeepFor), c.KeepFor == defaultKeepFor),
		row("backups", "How many automatic backups are kept", c.Backups, c.Backups == defaultBackups),
		row("backup-every", "How often an automatic backup is made", span(c.BackupEvery), c.BackupEvery == defaultBackupEvery),
		{Name: "state", Value: c.State, Source: "environment", Doc: "Where the database, workspaces and sessions are kept; COPPICE_STATE names another directory"},
	}
}

// span writes a duration as people do.
func span(d time.Duration) string {
	b, err := coppice.Duration(d).MarshalText()
	if err != nil {
		return d.String()
	}
	return string(b)
}

// openIndex opens the search index. Without it the server goes on: it is made
// from the database, and nothing but searching needs it.
func (s *Server) openIndex(ctx context.Context) (store.Searcher, error) {
	x, err := sqlite.OpenIndex(ctx, sqlite.IndexConfig{Path: s.path(sqlite.IndexFile), Store: s.store, Logger: s.cfg.Logger})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.cfg.Logger.Error("there is no search: its index cannot be kept", "error", err)
		return nil, nil
	}
	s.index = x
	return x, nil
}
