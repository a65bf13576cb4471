package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/cmd/coppice/server"
	"coppice/cmd/coppice/setup"
	"coppice/control"
	"coppice/store/sqlite"
)

// database reports whether the database is sound, and how much of the history is
// kept. It asks the server if one runs.
func (p *program) database(ctx context.Context) []setup.Row {
	cl := client.New(p.state)
	defer cl.Close()
	st, err := cl.Status(ctx, "")
	if err != nil {
		return append(atRest(filepath.Join(p.state, server.Database)), limitsOf(os.Environ()))
	}
	rows := []setup.Row{{Name: "database", Level: setup.OK, Detail: "in use by the server"}}
	for _, w := range st.Warnings {
		rows = append(rows, setup.Row{Name: "server", Level: setup.Fail, Detail: w, Fix: "see the server's log"})
	}
	rows = append(rows, healthOf(ctx, cl)...)
	d, err := cl.Disk(ctx, 1)
	if err != nil {
		return append(rows, limitsOf(os.Environ()))
	}
	return append(rows, historyOf(d.Kept))
}

// healthOf returns what the running server says about its health, except what
// other rows say.
func healthOf(ctx context.Context, cl *client.Client) (rows []setup.Row) {
	h, err := cl.Health(ctx, false)
	if err != nil {
		return nil // a server of an earlier release
	}
	for _, p := range h.Problems {
		level := setup.Warn
		if p.Urgent {
			level = setup.Fail
		}
		if p.Kind != "database" && p.Kind != "disk" {
			rows = append(rows, setup.Row{Name: p.Kind, Level: level, Detail: p.Text, Fix: p.Fix})
		}
	}
	for _, f := range h.Forges {
		row := setup.Row{Name: "forge of " + f.Project, Level: setup.OK, Detail: f.Text}
		if f.Fix != "" {
			row.Level, row.Fix = setup.Warn, f.Fix
		}
		rows = append(rows, row)
	}
	return rows
}

// atRest reports on a database that no server has open.
func atRest(path string) []setup.Row {
	if _, err := os.Stat(path); err != nil {
		return nil // it does not exist yet
	}
	if sqlite.Unclean(path) {
		return []setup.Row{{
			Name: "database", Level: setup.Warn, Detail: path + " was not closed cleanly, or was changed since",
			Fix: "start `coppice serve`: it checks the database, and `coppice status` shows what it finds",
		}}
	}
	return []setup.Row{{Name: "database", Level: setup.OK, Detail: "closed cleanly"}}
}

// limitsOf reports how much of the history is kept.
func limitsOf(environ []string) setup.Row {
	kept, err := control.Limits{Environ: environ}.Kept()
	if err != nil {
		e := coppice.Public(err)
		return setup.Row{Name: "history", Level: setup.Fail, Detail: e.Cause, Fix: e.Fix}
	}
	return historyOf(kept[:2]) // only the server knows the others
}

// historyOf writes the limits of the history in a line.
func historyOf(kept []api.DiskKept) setup.Row {
	var parts []string
	for _, k := range kept {
		parts = append(parts, k.What+" "+k.Limit)
	}
	return setup.Row{Name: "history", Level: setup.OK, Detail: "kept at most: " + strings.Join(parts, "; ")}
}
