package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
	moderncsqlite "modernc.org/sqlite"

	"coppice"
	"coppice/store"
)

// TestUpgrade opens a database of an earlier version. The migrations calculate the
// new tables and columns from the existing rows.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "coppice.db")
	made := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	older(t, path, made)
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.View(t.Context(), func(r store.Reader) error {
		rows, err := r.Spend.Usage(store.UsageQuery{From: made.AddDate(0, 0, -1), To: made.AddDate(0, 0, 1)})
		if err != nil {
			return err
		}
		want := coppice.Usage{InputTokens: 1, OutputTokens: 2, CacheRead: 3, CacheWrite: 4, CostUSD: 0.5, Turns: 6}
		if len(rows) != 1 || rows[0].Sessions != 3 || rows[0].Usage != want || rows[0].Day != "2026-03-04" {
			t.Errorf("usage %+v", rows)
		}
		for scope, day := range map[string]string{"task/1": "", "project/1": "2026-03-04", "account/a": "2026-03-04"} {
			if u, err := r.Spend.Of(coppice.ParseSubject(scope), day); err != nil || u != want {
				t.Errorf("%s has spent %+v, %v", scope, u, err)
			}
		}
		if s, err := r.Sessions.Get(3); err != nil || s.Budget != 2.5 {
			t.Errorf("the session that runs has reserved %v, %v", s.Budget, err)
		}
		waits, err := r.Tasks.Waits(0)
		if err != nil || waits[coppice.WaitPerson] != 1 || waits[""] != 1 {
			t.Errorf("waits %v %v", waits, err)
		}
		open, err := r.Asks.AllOpen()
		if err != nil {
			return err
		}
		var got []string
		for _, a := range open {
			got = append(got, fmt.Sprintf("%s %s %q by %s", a.Subject, a.Verb, a.Text, a.By))
		}
		if diff := cmp.Diff([]string{
			`task/1 undo "" by person`, `task/1 requeue "note 1" by person`, `task/2 continue "note 2" by person`, `task/2 stop "" by person`,
			`task/2 land "" by person`, `task/1 take "" by person`, `task/2 give "note 2" by person`,
		}, got); diff != "" {
			t.Errorf("open requests (-want +got):\n%s", diff)
		}
		if err := upgradedFlows(t, r); err != nil {
			return err
		}
		return upgraded(t, r)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// upgraded checks the landings, work, needs and timers after the migrations.
func upgraded(t *testing.T, r store.Reader) error {
	t.Helper()
	p, err := r.Projects.ByPrefix("app")
	if err != nil {
		return err
	}
	q, err := r.Queues.Of(p.ID, "")
	if err != nil || q.Tip != "base1" || p.BaseCommit != "base1" || q.Needs.Of(coppice.NeedCheckout) == nil || q.Needs.Of(coppice.NeedPolicy) != nil || len(p.Needs) != 2 {
		t.Errorf("queue %+v, needs %+v, %v", q, p.Needs, err)
	}
	queued, err := r.Landings.Queued(q.ID, 10)
	if err != nil || len(queued) != 1 || queued[0].TaskID != 2 {
		t.Errorf("queued %+v, %v", queued, err)
	}
	list, err := r.Landings.Of(2)
	if err != nil {
		return err
	}
	want := []coppice.Candidate{{ID: 1, LandingID: 1, Base: "b", Tree: "t", Commit: "c", Green: true, CreatedAt: time.Unix(0, 4).UTC()}, {}}
	for i, l := range list {
		if l.Candidate != want[i] {
			t.Errorf("candidate %+v", l.Candidate)
		}
	}
	for _, c := range []struct {
		of   coppice.Subject
		want string
	}{{coppice.QueueSubject(q.ID), "move"}, {coppice.TaskSubject(1), "run"}} {
		work, err := r.Work.Unsettled(c.of)
		if err != nil || len(work) != 1 || work[0].Key != c.want || work[0].Subject != c.of {
			t.Errorf("%s has %+v, %v", c.of, work, err)
		}
	}
	timers, err := r.Timers.Due(time.Unix(0, 10), 10)
	if err != nil {
		return err
	}
	var got []string
	for _, m := range timers {
		got = append(got, m.Kind+"/"+m.ID)
	}
	if diff := cmp.Diff([]string{"account/ann", "task/2"}, got); diff != "" {
		t.Errorf("timers (-want +got):\n%s", diff)
	}
	return nil
}

// upgradedFlows checks that tasks and schedules without later fields are read, and
// that such tasks are neither flows, steps nor made from templates.
func upgradedFlows(t *testing.T, r store.Reader) error {
	t.Helper()
	k, err := r.Tasks.Get(2)
	if err != nil || k.Flow != nil || k.Step != nil || k.Template != "" || k.Schedule != 0 || k.Parent != 1 {
		t.Errorf("a task without later fields: %+v, %v", k.TaskDetails, err)
	}
	flows, err := r.Tasks.List(store.TaskFilter{Flows: coppice.FlowKinds})
	if err != nil || len(flows) != 0 {
		t.Errorf("%d flows, %v", len(flows), err)
	}
	steps, err := r.Families.Steps(1)
	if err != nil || len(steps) != 0 {
		t.Errorf("%d steps, %v", len(steps), err)
	}
	stats, err := r.Tasks.TemplateStats(0)
	if err != nil || len(stats) != 0 {
		t.Errorf("statistics %+v, %v", stats, err)
	}
	schedule, err := r.Schedules.ByName(1, "nightly")
	if err != nil || schedule.Task.Title != "x" || schedule.Runs != 0 || !schedule.NextAt.IsZero() {
		t.Errorf("a schedule without later fields: %+v, %v", schedule, err)
	}
	return nil
}

// older creates a database of an earlier version and closes it.
func older(t *testing.T, path string, made time.Time) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	connector, err := moderncsqlite.NewConnector(dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectSQLite3, db, migrations(), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	fill := func(version int64, queries ...string) {
		if _, err := p.UpTo(t.Context(), version); err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			if _, err := db.ExecContext(t.Context(), q); err != nil {
				t.Fatal(q, err)
			}
		}
	}
	task := func(id int, wait, asked string) string {
		return fmt.Sprintf(`INSERT INTO tasks (id, project_id, num, key, title, priority, track, agent, model, category, feature, budget, fork_of, created_by,
			stop_asked, retry_asked, retry_note, land_asked, undo_asked, again_asked, take_asked, give_asked, stage, round, sessions, outcome, landed, warning,
			begun, folded, body, wait)
			VALUES (%d, 1, %d, 'app-%d', '', 0, 'main', 'a', 'm', '', '', 0, '', 'person', %s, 'waiting', 0, 0, '', '', '', FALSE, '', '', %s)`, id, id, id, asked, wait)
	}
	session := func(n int, usage string) string {
		return fmt.Sprintf(`INSERT INTO sessions (id, project_id, task_id, n, key, round, role, track, agent, model, resume, fork, screen, state, live, created_at,
			conversation, signal, from_commit, head, stat, usage, cursor, stop_why, stop_tries, warning, path, summary)
			VALUES (%d, 1, 1, %d, 'app-1.%d', 0, '', '', 'a', 'm', '', FALSE, FALSE, 'done', FALSE, %d, '', '', '', '', '', %s, 0, '', 0, '', '', '')`, n, n, n, made.UnixNano()+int64(n), usage)
	}
	timers, err := os.ReadFile("testdata/timers.sql")
	if err != nil {
		t.Fatal(err)
	}
	fill(2, fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		`INSERT INTO projects (id, prefix, path, base_commit, last_task, check_env, policy) VALUES (1, 'app', '/app', 'base1', 2, 'e', '{}')`,
		task(1, `'{"on":"person","text":"why"}'`, "TRUE, TRUE, 'note 1', FALSE, TRUE, FALSE, TRUE, FALSE"),
		task(2, "NULL", "TRUE, FALSE, 'note 2', TRUE, FALSE, TRUE, FALSE, TRUE"),
		session(1, `'{"input_tokens":1,"output_tokens":2,"cache_read_tokens":3,"cache_write_tokens":4,"cost_usd":0.5,"turns":6}'`), session(2, "NULL"), session(3, "NULL"))
	fill(6,
		`UPDATE projects SET needs =
			'[{"kind":"checkout","text":"x","since":"2026-03-04T05:06:07Z"},{"kind":"policy","text":"y","since":"2026-03-04T05:06:08Z"}]'`,
		`INSERT INTO landings (id, project_id, task_id, session_id, round, head, created_at, base, tree, commit_hash, green, verified, queued_at, waits, tries, steps, outcome, evidence)
			VALUES (1, 1, 2, 0, 0, 'h', 4, 'b', 't', 'c', TRUE, FALSE, 5, '', 0, 0, '', ''), (2, 1, 2, 0, 0, 'h', 6, '', '', '', FALSE, FALSE, NULL, '', 0, 0, '', '')`,
		`INSERT INTO work (kind, key, pool, project_id, task_id, session_id, state, attempt, worker) VALUES ('land.move', 'move', 'control', 1, 2, 0, 'taken', 1, 'local')`,
		`INSERT INTO work (kind, key, pool, project_id, task_id, session_id, state, attempt, worker) VALUES ('session.run', 'run', 'local', 1, 1, 3, 'taken', 1, 'local')`,
		`UPDATE work SET spec = '{"budget":"2.5 USD"}' WHERE kind = 'session.run'`,
		`UPDATE sessions SET live = TRUE, state = 'working' WHERE id = 3`,
		`INSERT INTO trash (id, project_id, task_id, what, path, branch, head, ref, archive, removed_at, expires_at) VALUES (7, 1, 2, 'workspace', '', '', '', '', '', 1, 9)`,
		string(timers))
	fill(37, `UPDATE tasks SET details = '{"parent":1}' WHERE id = 2`)
	fill(38, `INSERT INTO schedules (project_id, name, details) VALUES (1, 'nightly', '{"task":{"title":"x"}}')`)
}
