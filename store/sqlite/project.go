package sqlite

import (
	"database/sql"
	"errors"

	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func (r *tx) projectOf(row dbsqlc.Project) (coppice.Project, error) {
	var u unpacker
	p := coppice.Project{
		ID: row.ID, Prefix: row.Prefix, Path: row.Path, BaseCommit: row.BaseCommit, LastTask: int(row.LastTask),
		CreatedAt: at(row.CreatedAt), PausedAt: at(row.PausedAt),
		PausedTracks: unpackValue[map[string]string](&u, row.PausedTracks), Strikes: unpackValue[map[string]int](&u, row.Strikes), CheckEnv: row.CheckEnv,
		Rules: unpackValue[[]coppice.Rule](&u, row.Rules), Needs: unpackValue[[]coppice.Need](&u, row.Needs),
		Git: unpackValue[[]coppice.GitSetting](&u, row.Git), Removal: unpackPtr[coppice.Removal](&u, row.Removal),
	}
	p.Policy = r.policy(&u, row.Policy)
	return p, u.err
}

func (r projects) Get(id int64) (coppice.Project, error) {
	row, err := r.q.Project(r.ctx, id)
	if err != nil {
		return coppice.Project{}, lookup(err, "project", id)
	}
	return r.projectOf(row)
}

func (r projects) ByPrefix(prefix string) (coppice.Project, error) {
	row, err := r.q.ProjectByPrefix(r.ctx, prefix)
	if err != nil {
		return coppice.Project{}, lookup(err, "project", coppice.Quote(prefix))
	}
	return r.projectOf(row)
}

func (r projects) ByPath(path string) (coppice.Project, error) {
	row, err := r.q.ProjectByPath(r.ctx, path)
	if err != nil {
		return coppice.Project{}, lookup(err, "project at", coppice.Quote(path))
	}
	return r.projectOf(row)
}

func (r projects) All() ([]coppice.Project, error) {
	rows, err := r.q.Projects(r.ctx)
	return each(rows, err, r.projectOf)
}

func (t projects) Put(p *coppice.Project) error {
	var k packer
	if p.ID == 0 {
		// Keys that were given before it was forgotten are not given again.
		last, err := t.q.Floor(t.ctx, keysOf(p.Prefix))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		p.LastTask = max(p.LastTask, int(last))
	}
	row := dbsqlc.PutProjectParams{
		ID: rowID(p.ID), Prefix: p.Prefix, Path: p.Path, BaseCommit: p.BaseCommit, LastTask: int64(p.LastTask),
		CreatedAt: moment(p.CreatedAt), PausedAt: moment(p.PausedAt), CheckEnv: p.CheckEnv, Rules: packList(&k, p.Rules), Policy: k.pack(p.Policy),
		Needs: packList(&k, p.Needs), Removal: packPtr(&k, p.Removal),
	}
	if p.Git != nil { // an empty list was confirmed as well
		row.Git = sql.NullString{String: k.pack(p.Git), Valid: true}
	}
	if len(p.PausedTracks) > 0 {
		row.PausedTracks = sql.NullString{String: k.pack(p.PausedTracks), Valid: true}
	}
	if len(p.Strikes) > 0 {
		row.Strikes = sql.NullString{String: k.pack(p.Strikes), Valid: true}
	}
	if k.err != nil {
		return k.err
	}
	id, err := t.q.PutProject(t.ctx, row)
	return t.put(&p.ID, id, err)
}
