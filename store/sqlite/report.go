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

// aDay is the length of a day in a span.
const aDay = 24 * time.Hour

// span is a range of time in which a zone's offset stays the same.
type span struct {
	from, to time.Time
	offset   time.Duration
}

// spans splits the range of a query where the zone's offset changes, because days
// with a change are longer or shorter.
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

// days returns the whole days of the zone in a span. It can be empty.
func (s span) days() span {
	d := span{s.from.Add(s.offset + aDay - 1).Truncate(aDay).Add(-s.offset), s.to.Add(s.offset).Truncate(aDay).Add(-s.offset), s.offset}
	if !d.from.Before(d.to) {
		d.from, d.to = s.from, s.from
	}
	return d
}

// Usage implements store.SpendReader. It reads whole days from counters, and the
// rest at both ends from the rows of sessions. The counters have no tasks, so a
// report by task, or of some tasks, reads only sessions.
func (r spend) Usage(q store.UsageQuery) ([]store.UsageRow, error) {
	sums := usageSums{}
	for _, s := range spans(q) {
		days := s.days()
		if q.ByTask || len(taskWhere(q.Among).terms) > 0 {
			days.from, days.to = s.from, s.from
		}
		if err := r.counted(sums, q, days); err != nil {
			return nil, err
		}
		for _, rest := range []span{{s.from, days.from, s.offset}, {days.to, s.to, s.offset}} {
			rows, err := r.made(q, rest, rest.offset, 0, aDay)
			if err != nil {
				return nil, err
			}
			sums.addAll(rows)
		}
	}
	return sums.rows(), nil
}

// counted adds the usage of whole days of a zone. It starts with the UTC days of
// the same dates. Then it moves the usage between midnight in the zone and
// midnight in UTC to the correct date.
func (r *tx) counted(sums usageSums, q store.UsageQuery, s span) error {
	if !s.from.Before(s.to) {
		return nil
	}
	first, last := s.from.Add(s.offset), s.to.Add(s.offset) // the dates, as midnights of UTC
	days, err := r.counters(q, first.Format(time.DateOnly), last.Format(time.DateOnly), 0, 24)
	sums.addAll(days)
	if err != nil || s.offset == 0 {
		return err
	}
	moved, err := r.between(q, s.offset, first, last)
	for _, row := range moved {
		to := row.day.AddDate(0, 0, 1)
		if s.offset < 0 {
			to = row.day.AddDate(0, 0, -1)
		}
		for day, times := range map[time.Time]int64{row.day: -1, to: 1} {
			if !day.Before(first) && day.Before(last) {
				sums.add(row.name, day, row.counts, times)
			}
		}
	}
	return err
}

// between returns the usage between midnight in a zone and midnight in UTC, by UTC
// day. It reads whole hours from counters and the rest from sessions.
func (r *tx) between(q store.UsageQuery, offset time.Duration, first, last time.Time) ([]usageCount, error) {
	from, to := first.Add(-aDay), last // east: before midnight in UTC
	begin, end := aDay-offset, aDay
	whole := (begin + time.Hour - 1).Truncate(time.Hour)
	restBegin, restEnd := begin, whole
	if offset < 0 {
		from, to = first, last.Add(aDay) // west: after midnight in UTC
		begin, end = 0, (-offset).Truncate(time.Hour)
		whole, restBegin, restEnd = begin, end, -offset
	}
	rows, err := r.counters(q, from.Format(hourKey), to.Format(hourKey), int(whole/time.Hour), int(end/time.Hour))
	if err != nil || restBegin == restEnd {
		return rows, err
	}
	rest, err := r.made(q, span{from: from, to: to}, 0, restBegin, restEnd)
	return append(rows, rest...), err
}

// usageCount is the usage of a day that belongs to one row of a report.
type usageCount struct {
	day  time.Time
	name store.UsageRow
	counts
}

// usageSums has the counters of each row of a report.
type usageSums map[store.UsageRow]counts

// add adds counters to the row of a day, multiplied by times.
func (s usageSums) add(name store.UsageRow, day time.Time, c counts, times int64) {
	name.Day = coppice.Day(day)
	s[name] = s[name].plus(c, times)
}

func (s usageSums) addAll(rows []usageCount) {
	for _, row := range rows {
		s.add(row.name, row.day, row.counts, 1)
	}
}

// rows returns the rows of the report, in order.
func (s usageSums) rows() []store.UsageRow {
	all := make([]store.UsageRow, 0, len(s))
	for row, c := range s {
		if c != (counts{}) { // all zero if the model of a session changed
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

// counters reads the counters of reports with from <= day < to. If from is an
// hour, it reads only counters with hour <= hour of the day < before.
func (r *tx) counters(q store.UsageQuery, from, to string, hour, before int) ([]usageCount, error) {
	scope := "usage/"
	if q.ProjectID != 0 {
		scope += strconv.FormatInt(q.ProjectID, 10) + "/"
	}
	w := &where{}
	w.and("day >= ? AND day < ? AND scope >= ? AND scope < ?", from, to, scope, scope[:len(scope)-1]+"0") // "0" follows "/" in ASCII
	day := "day"
	if strings.HasPrefix(from, hourKey[:1]) {
		day = "substr(day, 2, 10)"
		w.and("CAST(substr(day, 13) AS INTEGER) >= ? AND CAST(substr(day, 13) AS INTEGER) < ?", hour, before)
	}
	query := "SELECT " + day + ` AS d, scope, sum(cost), sum(input), sum(output), sum(cache_read), sum(cache_write), sum(turns), sum(sessions), sum(estimated)
		FROM spend` + w.String() + " GROUP BY d, scope"
	return list(r.conn, query, w.args, func(rows *sql.Rows) (u usageCount, err error) {
		var date, scope string
		c := &u.counts
		if err = rows.Scan(&date, &scope, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]); err != nil {
			return u, err
		}
		name := strings.SplitN(scope, "/", 4) // the name of a model can have slashes
		u.name.Agent, u.name.Model = name[2], name[3]
		if u.name.ProjectID, err = strconv.ParseInt(name[1], 10, 64); err == nil {
			u.day, err = time.Parse(time.DateOnly, date)
		}
		return u, err
	})
}

// made returns sums over sessions by the day on which they were created, in a zone
// with an offset. It reads sessions that were created in a span and, within the
// UTC day, between begin and end.
func (r *tx) made(q store.UsageQuery, s span, offset, begin, end time.Duration) ([]usageCount, error) {
	if !s.from.Before(s.to) {
		return nil, nil
	}
	w := &where{}
	w.and("u.made_at >= ? AND u.made_at < ?", s.from.UnixNano(), s.to.UnixNano())
	if end-begin < aDay {
		w.and("u.made_at % ? >= ? AND u.made_at % ? < ?", int64(aDay), int64(begin), int64(aDay), int64(end))
	}
	if q.ProjectID != 0 {
		w.and("u.project_id = ?", q.ProjectID)
	}
	if among := taskWhere(q.Among); len(among.terms) > 0 {
		w.and("u.task_id IN (SELECT id FROM tasks"+among.String()+")", among.args...)
	}
	task, key, join, group := "0", "''", "", ""
	if q.ByTask {
		task, key, join, group = "u.task_id", "t.key", " JOIN tasks t ON t.id = u.task_id", ", u.task_id"
	}
	query := "SELECT (u.made_at + ?) / ? AS day, u.project_id, " + task + ", " + key + `, u.agent, u.model,
		sum(CAST(round(u.cost_usd * 1e9) AS INTEGER)), sum(u.input_tokens), sum(u.output_tokens), sum(u.cache_read), sum(u.cache_write),
		sum(u.turns), count(*), sum(u.estimated) FROM usages u` + join + w.String() + " GROUP BY day, u.project_id, u.agent, u.model" + group
	return list(r.conn, query, append([]any{int64(offset), int64(aDay)}, w.args...), func(rows *sql.Rows) (usageCount, error) {
		var u usageCount
		var day int64
		n, c := &u.name, &u.counts
		err := rows.Scan(&day, &n.ProjectID, &n.TaskID, &n.Task, &n.Agent, &n.Model, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7])
		u.day = time.Unix(0, day*int64(aDay)).UTC()
		return u, err
	})
}
