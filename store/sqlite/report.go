package sqlite

import (
	"cmp"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// span is a span of time in which a zone's offset stays the same.
type span struct {
	from, to time.Time
	offset   time.Duration
}

// day is the day of the zone that begins at, or contains, a moment.
func (s span) day(at time.Time) string { return coppice.Day(at.Add(s.offset)) }

// spans cuts what is asked for where the zone's offset changes: its days are not
// all equally long.
func spans(q store.UsageQuery) (list []span) {
	zone := q.Zone
	if zone == nil {
		zone = time.UTC
	}
	for from := q.From; from.Before(q.To); {
		to := q.To
		if _, end := from.In(zone).ZoneBounds(); !end.IsZero() && end.Before(to) {
			to = end
		}
		_, offset := from.In(zone).Zone()
		list = append(list, span{from.UTC(), to.UTC(), time.Duration(offset) * time.Second})
		from = to
	}
	return list
}

// grains are the lengths of time that counters sum up, and how a counter's day
// names one: the longest first.
var grains = []grain{{24 * time.Hour, time.DateOnly}, {time.Hour, hourKey}}

type grain struct {
	long time.Duration
	key  string
}

// whole is the part of a span that the longest counters tell which do not cross
// the ends of its days. It is empty when none do.
func (s span) whole() (span, grain) {
	for _, g := range grains {
		w := span{s.from.Add(g.long - 1).Truncate(g.long), s.to.Truncate(g.long), s.offset}
		if s.offset%g.long == 0 && w.from.Before(w.to) {
			return w, g
		}
	}
	return span{s.from, s.from, s.offset}, grain{}
}

// Usage implements store.SpendReader. Counters tell most of it; what is left at
// both ends is read session by session, and so are tasks, of which the counters
// know nothing.
func (r spend) Usage(q store.UsageQuery) ([]store.UsageRow, error) {
	sums := usageSums{}
	for _, s := range spans(q) {
		if q.ByTask {
			if err := r.made(sums, q, s); err != nil {
				return nil, err
			}
			continue
		}
		w, g := s.whole()
		if err := r.counted(sums, q, w, g); err != nil {
			return nil, err
		}
		for _, rest := range []span{{s.from, w.from, s.offset}, {w.to, s.to, s.offset}} {
			if err := r.made(sums, q, rest); err != nil {
				return nil, err
			}
		}
	}
	return sums.rows(), nil
}

// usageSums has the counters of each row of a report.
type usageSums map[store.UsageRow]counts

func (s usageSums) add(name store.UsageRow, c counts) { s[name] = s[name].plus(c, 1) }

// rows are the rows of the report, in order.
func (s usageSums) rows() []store.UsageRow {
	all := make([]store.UsageRow, 0, len(s))
	for row, c := range s {
		if c != (counts{}) { // else it was found to be another model
			row.Sessions, row.Usage = int(c[6]), c.usage()
			all = append(all, row)
		}
	}
	slices.SortFunc(all, func(a, b store.UsageRow) int {
		return cmp.Or(-cmp.Compare(a.Day, b.Day), cmp.Compare(a.ProjectID, b.ProjectID), -cmp.Compare(a.TaskID, b.TaskID),
			cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	return all
}

// counted adds what the counters of a span say.
func (r *tx) counted(sums usageSums, q store.UsageQuery, s span, g grain) error {
	if !s.from.Before(s.to) {
		return nil
	}
	scope := "usage/"
	if q.ProjectID != 0 {
		scope += strconv.FormatInt(q.ProjectID, 10) + "/"
	}
	after := scope[:len(scope)-1] + "0" // what begins with the scope comes before it
	type row struct {
		day, scope string
		counts
	}
	rows, err := list(r.conn, `SELECT day, scope, cost, input, output, cache_read, cache_write, turns, sessions, estimated FROM spend
		WHERE day >= ? AND day < ? AND scope >= ? AND scope < ?`, []any{s.from.Format(g.key), s.to.Format(g.key), scope, after}, func(rows *sql.Rows) (o row, err error) {
		err = rows.Scan(&o.day, &o.scope, &o.counts[0], &o.counts[1], &o.counts[2], &o.counts[3], &o.counts[4], &o.counts[5], &o.counts[6], &o.counts[7])
		return o, err
	})
	for _, o := range rows {
		at, err := time.Parse(g.key, o.day)
		if err != nil {
			return err
		}
		name := strings.SplitN(o.scope, "/", 4) // a model may have slashes
		project, _ := strconv.ParseInt(name[1], 10, 64)
		sums.add(store.UsageRow{Day: s.day(at), ProjectID: project, Agent: name[2], Model: name[3]}, o.counts)
	}
	return err
}

// made adds what sessions used that were made in a span, one by one.
func (r *tx) made(sums usageSums, q store.UsageQuery, s span) error {
	if !s.from.Before(s.to) {
		return nil
	}
	w := &where{}
	w.and("u.made_at >= ? AND u.made_at < ?", s.from.UnixNano(), s.to.UnixNano())
	if q.ProjectID != 0 {
		w.and("u.project_id = ?", q.ProjectID)
	}
	task, key, join, group := "0", "''", "", ""
	if q.ByTask {
		task, key, join, group = "u.task_id", "t.key", " JOIN tasks t ON t.id = u.task_id", ", u.task_id"
	}
	query := "SELECT (u.made_at + ?) / ? AS day, u.project_id, " + task + ", " + key + `, u.agent, u.model,
		sum(CAST(round(u.cost_usd * 1e9) AS INTEGER)), sum(u.input_tokens), sum(u.output_tokens), sum(u.cache_read), sum(u.cache_write),
		sum(u.turns), count(*), sum(u.estimated) FROM usages u` + join + w.String() + " GROUP BY day, u.project_id, u.agent, u.model" + group
	_, err := list(r.conn, query, append([]any{int64(s.offset), int64(24 * time.Hour)}, w.args...), func(rows *sql.Rows) (struct{}, error) {
		var u store.UsageRow
		var c counts
		var day int64
		err := rows.Scan(&day, &u.ProjectID, &u.TaskID, &u.Task, &u.Agent, &u.Model, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7])
		u.Day = coppice.Day(time.Unix(0, day*int64(24*time.Hour)))
		sums.add(u, c)
		return struct{}{}, err
	})
	return err
}
