package server

import (
	"context"
	"fmt"
	"time"

	"coppice"
	"coppice/api"
	"coppice/store/sqlite"
)

// Settings returns what the server was started with, as flags of `coppice
// serve`.
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
	address := row("listen", "The address on which the server listens; loopback only", listen, listen == DefaultListen)
	if c.ListenFrom != "" {
		address.Source = c.ListenFrom
	}
	return []api.ServerSetting{
		address,
		row("name", "Other host names of the server", names, len(c.Names) == 0),
		row("sessions", "The most live sessions of all projects together; 0 means only the projects' limits", c.MaxSessions, c.MaxSessions == 0),
		row("keep-events", "How many events the log keeps", c.KeepEvents, c.KeepEvents == defaultKeepEvents),
		row("keep-for", "How long events are kept", span(c.KeepFor), c.KeepFor == defaultKeepFor),
		row("backups", "How many automatic backups are kept", c.Backups, c.Backups == defaultBackups),
		row("backup-every", "How often an automatic backup is written", span(c.BackupEvery), c.BackupEvery == defaultBackupEvery),
		{Name: "state", Value: c.State, Source: "environment", Doc: "Where the database, workspaces and sessions are kept; COPPICE_STATE names another directory"},
	}
}

// span formats a duration for people.
func span(d time.Duration) string {
	b, err := coppice.Duration(d).MarshalText()
	if err != nil {
		return d.String()
	}
	return string(b)
}

// openIndex opens the search index. The server can run without it: the index is
// built from the database, and only searching needs it.
func (s *Server) openIndex(ctx context.Context) (err error) {
	s.index, err = sqlite.OpenIndex(ctx, sqlite.IndexConfig{Path: s.path(sqlite.IndexFile), Store: s.store, Logger: s.cfg.Logger})
	if err != nil && ctx.Err() == nil {
		s.cfg.Logger.Error("search is not available: its index cannot be opened", "error", err)
	}
	return ctx.Err()
}
