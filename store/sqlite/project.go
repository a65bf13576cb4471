package sqlite

import (
	"database/sql"
	"errors"
	"slices"

	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func (r *tx) projectOf(row dbsqlc.Project) (coppice.Project, error) {
	var u unpacker
	p := coppice.Project{
		ID: row.ID, Prefix: row.Prefix, Path: row.Path, LastTask: int(row.LastTask),
		CreatedAt: at(row.CreatedAt), PausedAt: at(row.PausedAt),
		PausedTracks: unpackValue[map[string]string](&u, row.PausedTracks), Strikes: unpackValue[map[string]int](&u, row.Strikes),
		Rules: unpackValue[[]coppice.Rule](&u, row.Rules), Needs: unpackValue[coppice.Needs](&u, row.Needs),
		Git: unpackValue[[]coppice.GitSetting](&u, row.Git), Removal: unpackPtr[coppice.Removal](&u, row.Removal),
		Earlier: unpackValue[[]string](&u, row.Earlier),
	}
	p.Policy = r.policy(&u, row.Policy)
	if u.err != nil {
		return p, u.err
	}
	return p, r.withQueue(&p)
}

// withQueue adds the tip and needs of the base's queue to a project.
func (r *tx) withQueue(p *coppice.Project) error {
	q, err := queues{r}.Of(p.ID, "")
	if err != nil {
		return err
	}
	p.BaseCommit = q.Tip
	p.Needs = append(p.Needs, q.Needs...)
	slices.SortStableFunc(p.Needs, func(a, b coppice.Need) int { return a.Since.Compare(b.Since) })
	return nil
}

func (r projects) Get(id int64) (coppice.Project, error) {
	return one(r.projectOf, "project", id)(remember(&r.known.projects, id, func() (dbsqlc.Project, error) { return r.q.Project(r.ctx, id) }))
}

func (r projects) ByPrefix(prefix string) (coppice.Project, error) {
	row, err := r.q.ProjectByPrefix(r.ctx, prefix)
	if errors.Is(err, sql.ErrNoRows) {
		row, err = r.q.ProjectByEarlier(r.ctx, prefix)
	}
	return one(r.projectOf, "project", coppice.Quote(prefix))(row, err)
}

func (r projects) ByPath(path string) (coppice.Project, error) {
	return one(r.projectOf, "project at", coppice.Quote(path))(r.q.ProjectByPath(r.ctx, path))
}

func (r projects) All() ([]coppice.Project, error) {
	return many(r.projectOf)(r.q.Projects(r.ctx))
}

func (r projects) Some(ids []int64) (map[int64]coppice.Project, error) {
	return keyed(r.projectOf, func(p coppice.Project) int64 { return p.ID })(ofIDs(r.ctx, r.q.SomeProjects, ids))
}

func (t projects) Put(p *coppice.Project) error {
	var k packer
	if p.ID == 0 || len(p.Earlier) > 0 {
		// Keys of a removed project with this prefix are not used again.
		last, err := t.q.LastKept(t.ctx, keysOf(p.Prefix))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		p.LastTask = max(p.LastTask, int(last))
	}
	row := dbsqlc.PutProjectParams{
		ID: rowID(p.ID), Prefix: p.Prefix, Path: p.Path, LastTask: int64(p.LastTask),
		CreatedAt: moment(p.CreatedAt), PausedAt: moment(p.PausedAt), Rules: packList(&k, p.Rules), Policy: k.pack(p.Policy),
		Needs: packList(&k, p.Needs.Without(coppice.QueueNeeds...)), Removal: packPtr(&k, p.Removal), Earlier: packList(&k, p.Earlier),
	}
	if p.Git != nil { // an empty list is confirmed, too
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
	fresh := p.ID == 0
	t.known = known{}
	id, err := t.q.PutProject(t.ctx, row)
	if err := t.put(&p.ID, id, err); err != nil || !fresh {
		return err
	}
	return queues(t).Put(&coppice.Queue{ProjectID: p.ID, Tip: p.BaseCommit})
}
