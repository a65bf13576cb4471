package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"coppice/store"
)

// indexChecks is the maximum number of checks in one transaction of the index.
const indexChecks = 8

// checkRow has the indexed fields of a check. Checks are only added, with
// increasing ids.
type checkRow struct {
	id, project  int64
	command, log string
}

func (x *Index) lastCheck(ctx context.Context) (id int64, err error) {
	err = with(ctx, x.writer, func(c *conn) error {
		return c.QueryRowContext(c.ctx, "SELECT checks FROM anchor").Scan(&id)
	})
	return id, err
}

// stepChecks reads the next checks and reports whether there might be more.
func (x *Index) stepChecks(ctx context.Context) (more bool, err error) {
	last, err := x.lastCheck(ctx)
	if err != nil {
		return false, err
	}
	var rows []checkRow
	err = x.store.view(ctx, func(t *tx) (err error) {
		rows, err = list(t.conn, "SELECT id, project_id, command, log FROM checks WHERE id > ? ORDER BY id"+limit, []any{last, indexChecks}, func(rows *sql.Rows) (c checkRow, err error) {
			err = rows.Scan(&c.id, &c.project, &c.command, &c.log)
			return c, err
		})
		return err
	})
	if err != nil || len(rows) == 0 {
		return false, err
	}
	err = x.change(ctx, func(c *conn) error {
		for _, k := range rows {
			if _, err := c.ExecContext(c.ctx, "INSERT OR REPLACE INTO check_words (rowid, scope, words) VALUES (?, ?, ?)", k.id, scope(k.project), checkText(k.command, k.log)); err != nil {
				return err
			}
		}
		_, err := c.ExecContext(c.ctx, "UPDATE anchor SET checks = ?", rows[len(rows)-1].id)
		return err
	})
	return len(rows) == indexChecks, err
}

// checkHit returns the hit of a check, or nil if the check was removed.
func checkHit(r *tx, id int64, terms []store.Term) (*store.Hit, error) {
	h := &store.Hit{Check: id}
	var log string
	var ended sql.NullInt64
	var task int64
	err := r.QueryRowContext(r.ctx, `SELECT c.ended_at, c.command, c.log, t.id, t.key, t.title FROM checks c
		JOIN tasks t ON t.id = c.task_id WHERE c.id = ?`, id).Scan(&ended, &h.Command, &log, &task, &h.Task, &h.Title)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h.At = at(ended)
	path, err := workspacePath(r, task)
	h.Text, h.Marks = snippetIn(path, checkText(h.Command, log), terms)
	return h, err
}
