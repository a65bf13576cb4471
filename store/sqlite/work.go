package sqlite

import (
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func workOf(r dbsqlc.Work) (coppice.Work, error) {
	var u unpacker
	w := coppice.Work{
		ID: r.ID, Kind: coppice.WorkKind(r.Kind), Key: r.Key, Pool: r.Pool, Subject: coppice.ParseSubject(r.Subject), ProjectID: r.ProjectID, TaskID: r.TaskID,
		SessionID: r.SessionID, State: coppice.WorkState(r.State), Attempt: int(r.Attempt), Worker: r.Worker,
		LeaseUntil: at(r.LeaseUntil), Spec: raw(r.Spec), Result: raw(r.Result), Failure: unpackPtr[coppice.Failure](&u, r.Failure),
		OfferedAt: at(r.OfferedAt), TakenAt: at(r.TakenAt), FinishedAt: at(r.FinishedAt),
	}
	return w, u.err
}

func (r work) Get(id int64) (coppice.Work, error) {
	return one(workOf, "work", id)(r.q.Work(r.ctx, id))
}

func (r work) ByKey(key string) (*coppice.Work, error) {
	return oneOrNone(workOf)(r.q.WorkByKey(r.ctx, key))
}

func (r work) Unsettled(s coppice.Subject) ([]coppice.Work, error) {
	return many(workOf)(r.q.UnsettledWork(r.ctx, s.String()))
}

func (r work) HeldBy(worker string) ([]coppice.Work, error) {
	return many(workOf)(r.q.WorkHeldBy(r.ctx, worker))
}

func (r work) Count() (map[coppice.WorkState]int, error) {
	rows, err := r.q.CountWork(r.ctx)
	if err != nil {
		return nil, err
	}
	counts := make(map[coppice.WorkState]int, len(rows))
	for _, row := range rows {
		counts[coppice.WorkState(row.State)] = int(row.N)
	}
	return counts, nil
}

// subjectOf returns the subject of a work item: its task unless it names another.
func subjectOf(w *coppice.Work) string {
	if w.Subject == (coppice.Subject{}) {
		w.Subject = coppice.TaskSubject(w.TaskID)
	}
	return w.Subject.String()
}

func (t work) Put(w *coppice.Work) error {
	var p packer
	row := dbsqlc.PutWorkParams{
		ID: rowID(w.ID), Kind: string(w.Kind), Key: w.Key, Pool: w.Pool, Subject: subjectOf(w), ProjectID: w.ProjectID, TaskID: w.TaskID,
		SessionID: w.SessionID, State: string(w.State), Attempt: int64(w.Attempt), Worker: w.Worker,
		LeaseUntil: moment(w.LeaseUntil), Spec: text(w.Spec), Result: text(w.Result), Failure: packPtr(&p, w.Failure),
		OfferedAt: moment(w.OfferedAt), TakenAt: moment(w.TakenAt), FinishedAt: moment(w.FinishedAt), Rank: int64(w.Rank()),
	}
	if err := stored(t.tx, p, &w.ID, t.q.PutWork, row); err != nil {
		return err
	}
	if w.State == coppice.WorkOffered {
		t.touch(store.TopicWork)
	}
	return nil
}

// Renew extends all leases with one statement: a worker has many, and renews them
// often.
func (t work) Renew(leases []coppice.Lease, until time.Time) ([]coppice.Lease, error) {
	type name struct {
		ID, Attempt int64
		Worker      string
	}
	nameOf := func(l coppice.Lease) name { return name{l.Work.ID, int64(l.Attempt), l.Worker} }
	names := make([]name, len(leases))
	for i, l := range leases {
		names[i] = nameOf(l)
	}
	text, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	renewed := map[name]bool{}
	_, err = list(t.conn, `UPDATE work SET lease_until = ? FROM json_each(CAST(? AS TEXT)) AS l
		WHERE work.id = CAST(l.value ->> 'ID' AS INTEGER) AND attempt = l.value ->> 'Attempt' AND worker = l.value ->> 'Worker' AND state = 'taken' RETURNING work.id, attempt, worker`,
		[]any{until.UnixNano(), string(text)}, func(rows *sql.Rows) (n name, err error) {
			err = rows.Scan(&n.ID, &n.Attempt, &n.Worker)
			renewed[n] = true
			return n, err
		})
	return slices.DeleteFunc(slices.Clone(leases), func(l coppice.Lease) bool { return renewed[nameOf(l)] }), err
}

func (r work) Open(kind coppice.WorkKind) ([]coppice.Work, error) {
	return many(workOf)(r.q.OpenWork(r.ctx, string(kind)))
}

// Takeable reads each pool in the order of its index, and merges the results.
func (r work) Takeable(pools []string, kinds []coppice.WorkKind, most int) ([]coppice.Work, error) {
	var all []offered
	for _, pool := range slices.Compact(slices.Sorted(slices.Values(pools))) {
		some, err := r.takeable(pool, kinds, most)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, offered.before)
	return each(all[:min(len(all), most)], nil, func(o offered) (coppice.Work, error) { return r.Get(o.id) })
}

func (t work) Trim(before time.Time) (int, error) {
	if before.IsZero() {
		return 0, nil
	}
	n, err := t.q.TrimWork(t.ctx, before.UnixNano(), store.MostTrimmed)
	return int(n), err
}
