package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/store"
	"coppice/verb"
)

// read reads a path of the API.
func read[T any](t *testing.T, b *apitest.Bundle, path string) (out T) {
	t.Helper()
	resp, text := call(t, b, "GET", "/api/v1"+path, "")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", path, resp.StatusCode, text)
	}
	b.Must(json.Unmarshal([]byte(text), &out))
	return out
}

// outline returns the columns of a board that have tasks: "name count: keys".
func outline(board api.Board) string {
	var lines []string
	for _, c := range board.Columns {
		if c.Count == 0 {
			continue
		}
		var keys []string
		for _, task := range c.Tasks {
			keys = append(keys, task.Key)
		}
		lines = append(lines, fmt.Sprintf("%s %d: %s", c.Name, c.Count, strings.Join(keys, " ")))
	}
	return strings.Join(lines, "\n")
}

// seedBoard creates a task in each state that the board distinguishes.
func seedBoard(t *testing.T) *apitest.Bundle {
	t.Helper()
	b := setupApp(t)
	b.Project("/src/web")
	end := func(key string, outcome coppice.Outcome, after time.Duration) {
		b.Change(key, func(k *coppice.Task) {
			k.Stage, k.Outcome, k.EndedAt, k.Landed = coppice.StageEnded, outcome, b.Clock.Now().Add(after), "abc"
		})
	}
	stage := func(key string, s coppice.Stage) { b.Change(key, func(k *coppice.Task) { k.Stage = s }) }
	for i := 1; i <= 9; i++ {
		b.Task("app", coppice.NewTask{Title: fmt.Sprintf("Title %d", i), Agent: "robot"})
	}
	b.Task("web", coppice.NewTask{Title: "Elsewhere", Agent: "other"})
	stage("app-1", coppice.StageSession)
	b.Session("app-1", coppice.SessionWorking, nil)
	stage("app-2", coppice.StageHeld)
	stage("app-3", coppice.StageQueued)
	b.Change("app-4", func(k *coppice.Task) {
		k.Stage, k.Priority, k.Wait = coppice.StageWaiting, 3, &coppice.Wait{On: coppice.WaitPerson, Text: "log in"}
	})
	stage("app-5", coppice.StageQueued)
	b.Change("app-5", func(k *coppice.Task) { k.Priority = 5 })
	end("app-6", coppice.OutcomeDone, time.Hour)
	end("app-7", coppice.OutcomeDone, 3*time.Hour)
	end("app-8", coppice.OutcomeCancelled, 2*time.Hour)
	end("app-9", coppice.OutcomeFailed, time.Hour)
	stage("web-1", coppice.StageQueued)
	return b
}

// wantBoards compares the outlines of boards, by their query.
func wantBoards(t *testing.T, b *apitest.Bundle, boards map[string]string) {
	t.Helper()
	for query, want := range boards {
		if got := outline(read[api.Board](t, b, "/board?"+query)); got != want {
			t.Errorf("%q:\n%s\nwant:\n%s", query, got, want)
		}
	}
}

func TestBoard(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	wantBoards(t, b, map[string]string{
		"":                      "Needs you 2: app-4 app-2\nWorking 1: app-1\nWaiting 3: app-5 app-3 web-1\nFailed 1: app-9\nDone 3: app-7 app-8 app-6",
		"limit=1":               "Needs you 2: app-4\nWorking 1: app-1\nWaiting 3: app-5\nFailed 1: app-9\nDone 3: app-7",
		"column=Done&limit=2":   "Done 3: app-7 app-8",
		"status=done":           "Done 2: app-7 app-6",
		"status=needs+you":      "Needs you 2: app-4 app-2",
		"text=TITLE+7":          "Done 1: app-7",
		"project=web":           "Waiting 1: web-1",
		"agent=other":           "Waiting 1: web-1",
		"group=project":         "Needs you 2: app-4 app-2\napp 7: app-1 app-5 app-3 app-9 app-7 app-8 app-6\nweb 1: web-1",
		"group=project&limit=2": "Needs you 2: app-4 app-2\napp 7: app-1 app-5\nweb 1: web-1",
		"group=track":           "Needs you 2: app-4 app-2\napp · main 7: app-1 app-5 app-3 app-9 app-7 app-8 app-6\nweb · main 1: web-1",
		"track=none":            "",
		"archived=true":         "",
	})
	b.Change("app-6", func(k *coppice.Task) { k.Archived = b.Clock.Now() })
	if got := outline(read[api.Board](t, b, "/board?archived=true")); got != "Done 1: app-6" {
		t.Errorf("the archive: %s", got)
	}
	for query, want := range map[string]string{"": "Needs you, Working, Waiting, Failed, Done", "archived=true": "Done", "group=project&project=web": "Needs you, web", "group=project&text=no": "Needs you"} {
		var shown []string
		for _, c := range read[api.Board](t, b, "/board?"+query).Columns {
			if c.Shown {
				shown = append(shown, c.Name)
			}
		}
		if got := strings.Join(shown, ", "); got != want {
			t.Errorf("%s shows %s, want %s", query, got, want)
		}
	}
	whole := read[api.Board](t, b, "/board")
	if whole.Count != 9 || whole.Empty || strings.Join(whole.Projects, " ") != "app web" || strings.Join(whole.Agents, " ") != "other robot" || len(whole.Statuses) != len(coppice.Statuses) {
		t.Errorf("the board: %+v", whole)
	}
	refuses(t, b, http.StatusUnprocessableEntity, "GET", "/api/v1/board?status=odd", "")
}

// What projects need a person for follows the board's filter.
func TestBoardShowsNeeds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.Project("/src/app")
	if got := read[api.Board](t, b, "/board"); !got.Empty || len(got.Needs) != 0 {
		t.Errorf("an empty board: %+v", got)
	}
	p.Needs = coppice.Needs{{Kind: coppice.NeedFeatures, Text: "Statuses changed", Since: b.Clock.Now()}, {Kind: coppice.NeedPolicy, Text: "Policy changed", Since: b.Clock.Now().Add(-time.Hour)}}
	b.Update(func(tx store.Tx) error { return tx.Projects.Put(&p) })
	for query, want := range map[string]int{"": 2, "text=POLICY": 1, "status=needs+you": 2, "status=done": 0, "track=main": 0, "archived=true": 0, "project=app": 2} {
		got := read[api.Board](t, b, "/board?"+query).Needs
		if len(got) != want || want == 2 && got[0].Need.Kind != coppice.NeedPolicy {
			t.Errorf("%q: %+v", query, got)
		}
	}
}

func TestLandings(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	b.Change("app-1", func(k *coppice.Task) { k.Stage = coppice.StageChecking })
	got := read[api.LandingList](t, b, "/landings")
	reasons := map[string]string{}
	for _, q := range got.Queue {
		reasons[q.Task.Key] = q.Reason
	}
	if len(reasons) != 2 || reasons["app-1"] != "merging with the base" || reasons["app-2"] == "" {
		t.Errorf("the queue: %v", reasons)
	}
	if len(got.Landed) != 2 || got.Landed[0].Key != "app-7" {
		t.Errorf("landed: %+v", got.Landed)
	}
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	start := b.Clock.Now()
	b.Clock.Move(time.Minute)
	old := b.Session("app-7", coppice.SessionDone, func(s *coppice.Session) { s.EndedAt = b.Clock.Now().Add(time.Minute) })
	b.Clock.Move(time.Hour)
	x := b.Session("app-7", coppice.SessionFailed, func(s *coppice.Session) {
		s.EndedAt, s.Failure = b.Clock.Now().Add(time.Minute), &coppice.Failure{Class: coppice.ClassImplementation, Text: "gone"}
	})
	b.Update(func(tx store.Tx) error {
		asked := b.Clock.Now().Add(time.Second)
		return tx.Questions.Put(&coppice.Question{TaskID: x.TaskID, SessionID: x.ID, Text: "?", AskedAt: asked})
	})
	got := read[api.Timeline](t, b, "/timeline")
	if len(got.Rows) != 2 || got.Rows[0].Task != "app-7" || got.Rows[0].Title != "Title 7" || len(got.Rows[0].Bars) != 2 || got.Rows[1].Task != "app-1" {
		t.Fatalf("rows: %+v", got.Rows)
	}
	first, last := got.Rows[0].Bars[0], got.Rows[0].Bars[1]
	if first.Session != old.Key || first.Failed || len(first.Waits) != 0 || !last.Failed || last.State != string(coppice.ClassImplementation) {
		t.Errorf("bars: %+v", got.Rows[0].Bars)
	}
	if len(last.Waits) != 1 || !last.Waits[0].To.Equal(x.EndedAt) {
		t.Errorf("a question that nobody answered ends with its session: %+v", last.Waits)
	}
	if open := got.Rows[1].Bars[0]; !open.To.IsZero() || !open.From.Equal(start) {
		t.Errorf("a session that runs: %+v", open)
	}
	later := read[api.Timeline](t, b, "/timeline?from="+url.QueryEscape(start.Add(30*time.Minute).Format(time.RFC3339)))
	if len(later.Rows) != 2 || len(later.Rows[0].Bars) != 1 || later.Rows[0].Bars[0].Session != x.Key {
		t.Errorf("since then: %+v", later.Rows)
	}
}

func TestGraph(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	after := func(key string, keys ...string) {
		var ids []int64
		for _, name := range keys {
			ids = append(ids, read[api.TaskDetail](t, b, "/tasks/"+name).ID)
		}
		b.Change(key, func(k *coppice.Task) { k.After = ids })
	}
	after("app-5", "app-3", "app-7")
	after("app-8", "app-6")
	keys := func(query string) (all string) {
		for _, task := range read[api.Graph](t, b, "/graph?"+query).Tasks {
			all += task.Key + " "
		}
		return all
	}
	if got := keys(""); got != "app-7 app-5 app-3 " {
		t.Errorf("open: %s", got)
	}
	if got := keys("all=true"); got != "app-8 app-7 app-6 app-5 app-3 " {
		t.Errorf("all: %s", got)
	}
	if got := keys("project=web"); got != "" {
		t.Errorf("of another project: %s", got)
	}
}

// A task says everything that can be done with it, in the order of the table.
func TestCanIsComplete(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	b.Session("app-7", coppice.SessionDone, func(s *coppice.Session) { s.Conversation = "c1" })
	for key, want := range map[string]string{
		"app-1": "interrupt requeue stop take model",
		"app-3": "requeue stop model",
		"app-7": "continue fork revert archive",
		"app-9": "continue retry archive",
	} {
		var got []string
		for _, v := range read[api.TaskDetail](t, b, "/tasks/"+key).Can {
			got = append(got, string(v))
		}
		if words := strings.Join(got, " "); words != want {
			t.Errorf("%s: %s, want %s", key, words, want)
		}
	}
	b.Change("app-7", func(k *coppice.Task) { k.Archived = b.Clock.Now() })
	if got := read[api.TaskDetail](t, b, "/tasks/app-7").Can; got[len(got)-1] != "unarchive" {
		t.Errorf("archived: %v", got)
	}
}

// A task says which of its actions a person most likely wants, and whether its change
// can be reviewed.
func TestPrimaryAndReview(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	b.Session("app-1", coppice.SessionWorking, func(s *coppice.Session) { s.Screen = true })
	b.Change("app-1", func(k *coppice.Task) { k.Sessions = 2 })
	b.Change("app-2", func(k *coppice.Task) { k.Sessions = 1 })
	b.Change("app-5", func(k *coppice.Task) { k.Stage, k.Sessions = coppice.StageReview, 1 })
	b.Change("app-6", func(k *coppice.Task) { k.Wants, k.Sessions = coppice.WantsAnswer, 1 })
	b.Change("app-9", func(k *coppice.Task) { k.Sessions = 1 })
	for key, want := range map[string]string{
		"app-1": "give possible", // a person has it
		"app-2": "land possible", // it waits for approval
		"app-3": " ",             // it has not started
		"app-5": "land wanted",   // it waits for a review
		"app-6": " ",             // it has an answer, and no change
		"app-9": "retry possible",
	} {
		v := read[api.TaskDetail](t, b, "/tasks/"+key)
		if got := string(v.Primary) + " " + string(v.Review); got != want {
			t.Errorf("%s: %q, want %q (can %v)", key, got, want, v.Can)
		}
	}
}

// Work that failed can land if a person has fixed its branch. Still a retry is more
// likely.
func TestRetryIsPrimaryOfFailedWork(t *testing.T) {
	t.Parallel()
	f := verb.Facts{Branch: true, Task: coppice.Task{Key: "app-1", Stage: coppice.StageEnded, Outcome: coppice.OutcomeFailed}}
	f.Landing = &coppice.Landing{EndedAt: time.Unix(1, 0), Outcome: coppice.LandingRefused}
	can := verb.Can(f)
	if got := verb.Primary(f, can); got != coppice.VerbRetry || !slices.Contains(can, coppice.VerbLand) {
		t.Errorf("%q of %v", got, can)
	}
}

// A task says which of its sessions run on a terminal.
func TestTerminalsOfATask(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	b.Session("app-1", coppice.SessionWorking, func(s *coppice.Session) { s.Screen = true })
	b.Session("app-1", coppice.SessionWorking, func(s *coppice.Session) { s.Agent = "painter" })
	if got := read[api.TaskDetail](t, b, "/tasks/app-1").Terminals; strings.Join(got, " ") != "app-1.2" {
		t.Errorf("without profiles: %v", got)
	}
	b.Server.Stop()
	b.Config.Terminal = func(p coppice.Project, agent string) bool { return p.Prefix == "app" && agent == "painter" }
	b.Boot()
	if got := read[api.TaskDetail](t, b, "/tasks/app-1").Terminals; strings.Join(got, " ") != "app-1.2 app-1.3" {
		t.Errorf("with profiles: %v", got)
	}
}

// The command for attaching works while the newest session runs on a terminal.
func TestNewestSessionCanBeAttached(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	for _, c := range []struct {
		state  coppice.SessionState
		screen bool
	}{{coppice.SessionWorking, true}, {coppice.SessionDone, true}, {coppice.SessionWorking, false}} {
		s := b.Session("app-1", c.state, func(s *coppice.Session) { s.Screen = c.screen })
		if got, want := read[api.TaskDetail](t, b, "/tasks/app-1").CanAttach, c.screen && c.state.Live(); got != want {
			t.Errorf("%s, %s, screen %v: %v", s.Key, c.state, c.screen, got)
		}
	}
}

// What a task says that can be done with it, the server does.
func TestTasksSayWhatTheyAccept(t *testing.T) {
	t.Parallel()
	b := seedBoard(t)
	for _, c := range read[api.Board](t, b, "/board").Columns {
		if want := c.Name != "Failed" && c.Name != "Done"; c.Ordered != want {
			t.Errorf("column %s is ordered by priority: %v", c.Name, c.Ordered)
		}
		for _, k := range c.Tasks {
			_, err := b.Client.Send(b.Ctx, k.Key, "hello")
			if (err == nil) != k.CanSend {
				t.Errorf("%s takes messages: %v, but: %v", k.Key, k.CanSend, err)
			}
			budget := coppice.USD(2)
			_, err = b.Client.ChangeTask(b.Ctx, k.Key, coppice.TaskChange{Budget: &budget})
			if (err == nil) != k.CanChange {
				t.Errorf("%s can change: %v, but: %v", k.Key, k.CanChange, err)
			}
		}
	}
	for _, c := range read[api.Board](t, b, "/board?group=project").Columns {
		if c.Ordered {
			t.Errorf("column %s of a project is ordered by priority", c.Name)
		}
	}
}
