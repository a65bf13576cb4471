package cli

import (
	"context"
	"fmt"
	"strings"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

// disk shows what uses disk.
func (e *Env) disk(ctx context.Context, cl *client.Client, within int, asJSON bool) error {
	d, err := cl.Disk(ctx, within)
	if err != nil {
		return err
	}
	if asJSON {
		return e.json(d)
	}
	var rows [][]cell
	add := func(of string, p api.DiskPart) {
		where := p.Path
		if p.Within != "" {
			where = "in the " + p.Within
		}
		size := coppice.Bytes(p.Bytes).String()
		if p.Partial {
			size = "≥ " + size
		}
		files := ""
		if p.Files > 0 {
			files = fmt.Sprint(p.Files)
		}
		rows = append(rows, []cell{{of, bold}, plain(p.What), {size, dim}, {files, dim}, plain(where)})
	}
	for _, p := range d.Projects {
		for _, part := range p.Parts {
			add(p.Prefix, part)
		}
	}
	for _, part := range d.Server {
		add("", part)
	}
	e.table([]column{{head: "PROJECT"}, {head: "WHAT"}, {head: "SIZE", end: true}, {head: "FILES", end: true}, {head: "WHERE", give: true}}, rows)
	e.printf("%v in total, %v free\n", coppice.Bytes(d.Total), coppice.Bytes(d.Free))
	e.kept(d.Kept)
	if d.Partial {
		e.printf("%s\n", e.paint(yellow, "not everything was counted in time; see coppice status --disk --within"))
	}
	return nil
}

// kept shows the size of the history, and its limits.
func (e *Env) kept(list []api.DiskKept) {
	if len(list) == 0 {
		return
	}
	var rows [][]cell
	for _, k := range list {
		var there []string
		if k.Count > 0 || k.Most > 0 {
			there = append(there, fmt.Sprint(k.Count))
		}
		if k.Bytes > 0 || k.Size > 0 {
			there = append(there, coppice.Bytes(k.Bytes).String())
		}
		rows = append(rows, []cell{plain(k.What), {strings.Join(there, ", "), dim}, plain(k.Limit), {k.By, dim}})
	}
	e.printf("\n")
	e.table([]column{{head: "HISTORY"}, {head: "SIZE"}, {head: "KEPT AT MOST"}, {head: "CHANGE WITH", give: true}}, rows)
}
