package storetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"coppice"
	"coppice/store"
)

// Searched is a store with its searcher. CatchUp returns when everything committed
// can be found.
type Searched struct {
	Store   store.Store
	Search  store.Searcher
	CatchUp func(t *testing.T)
}

// RunSearch runs the suite of searchers.
func RunSearch(t *testing.T, open func(t *testing.T) Searched) {
	for name, test := range map[string]func(*testing.T, Searched){
		"Tasks": testSearchTasks, "Output": testSearchOutput, "Raw": testSearchRaw, "Checks": testSearchChecks, "Share": testSearchShare, "Snippet": testSearchSnippet, "Paths": testSearchPaths, "Bounds": testSearchBounds, "Anything": testSearchAnything, "Forgotten": testFindForgotten, "Among": testSearchAmong,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// find searches for a person's query and returns the places of the hits.
func find(t testing.TB, s Searched, text string, change ...func(*store.SearchQuery)) (store.SearchPage, []string) {
	t.Helper()
	q := store.SearchQuery{Terms: store.ParseSearch(text), Tasks: true, Output: true, Checks: true, Most: 50}
	for _, f := range change {
		f(&q)
	}
	page, err := s.Search.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var places []string
	for _, h := range page.Hits {
		place := h.Task
		if h.Session != "" {
			place = fmt.Sprintf("%s@%d", h.Session, h.Offset)
		}
		if h.Check != 0 {
			place = fmt.Sprintf("%s check %d", h.Task, h.Check)
		}
		places = append(places, place)
	}
	return page, places
}

func wantFound(t *testing.T, s Searched, text string, want ...string) {
	t.Helper()
	if _, got := find(t, s, text); !slices.Equal(got, want) {
		t.Errorf("%q is found in %v, want %v", text, got, want)
	}
}

// changed writes a task and logs the change.
func changed(t *testing.T, s store.Store, kind coppice.EventKind, k coppice.Task) {
	t.Helper()
	update(t, s, func(tx store.Tx) error {
		if err := tx.Tasks.Put(&k); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: start, Kind: kind, ProjectID: k.ProjectID, TaskID: k.ID, Subject: k.Key, By: "person"})
	})
}

func testSearchTasks(t *testing.T, s Searched) {
	p, other := project(t, s.Store, "app"), project(t, s.Store, "web")
	one := task(t, s.Store, p, 1, func(k *coppice.Task) { k.Title, k.Body = "Parse the Größe of files", "with snake_case and camelCase" })
	two := task(t, s.Store, p, 2, func(k *coppice.Task) { k.Title = "Parser gets faster" })
	far := task(t, s.Store, other, 1, func(k *coppice.Task) { k.Title = "Parse pages" })
	for _, k := range []coppice.Task{one, two, far} {
		changed(t, s.Store, coppice.EventTaskCreated, k)
	}
	s.CatchUp(t)
	wantFound(t, s, "parse", "web-1", "app-2", "app-1")
	wantFound(t, s, "PARSE files", "app-1")
	wantFound(t, s, `"parse"`, "web-1", "app-1")
	wantFound(t, s, `"parse the größe"`, "app-1")
	wantFound(t, s, `"parse files"`)
	wantFound(t, s, "parse -faster -pages", "app-1")
	wantFound(t, s, "parse -fast", "web-1", "app-2", "app-1") // excludes the word, not longer words
	wantFound(t, s, "snake_case", "app-1")
	wantFound(t, s, "snake_ca", "app-1")
	wantFound(t, s, "app-2", "app-2")
	wantFound(t, s, "nowhere")
	if _, got := find(t, s, "parse", func(q *store.SearchQuery) { q.ProjectID = other.ID }); !slices.Equal(got, []string{"web-1"}) {
		t.Errorf("in one project: %v", got)
	}
	page, _ := find(t, s, "größe snake")
	if h := page.Hits[0]; h.Title != one.Title || len(h.Marks) != 2 || h.Text[h.Marks[0][0]:][:h.Marks[0][1]] != "Größe" || h.Text[h.Marks[1][0]:][:h.Marks[1][1]] != "snake" {
		t.Errorf("hit %+v", h)
	}

	two.Title = "Lexer gets faster"
	changed(t, s.Store, coppice.EventTaskChanged, two)
	s.CatchUp(t)
	wantFound(t, s, "parser")
	wantFound(t, s, "lexer", "app-2")
}

func said(kind, rest string) string { return `{"kind":"` + kind + `"` + rest + `}` }

// write appends pieces to a session and returns their offsets.
func write(t *testing.T, s store.Store, session int64, kind coppice.OutputKind, pieces ...string) (offsets []int64) {
	t.Helper()
	update(t, s, func(tx store.Tx) error {
		x, err := tx.Sessions.Get(session)
		if err != nil {
			return err
		}
		at := x.Cursor
		var out []coppice.Output
		for _, p := range pieces {
			out = append(out, coppice.Output{SessionID: session, Offset: at, At: start, Kind: kind, Data: []byte(p)})
			offsets = append(offsets, at)
			at += int64(len(p)) + 8
		}
		return tx.Outputs.Add(session, x.Cursor, at, out)
	})
	return offsets
}

func testSearchOutput(t *testing.T, s Searched) {
	k := task(t, s.Store, project(t, s.Store, "app"), 1, nil)
	first, second := session(t, s.Store, k, 1, nil), session(t, s.Store, k, 2, nil)
	raw := write(t, s.Store, first.ID, coppice.OutputStdout, "{\"rawjson\": \"walrus\"}\n")
	s.CatchUp(t)
	wantFound(t, s, "walrus", fmt.Sprintf("app-1.1@%d", raw[0])) // no event has reported yet what the agent does
	at := write(t, s.Store, first.ID, coppice.OutputEvent,
		said("state", `,"state":"working"`), said("text", `,"text":"I will feed the walrus"`),
		said("tool", `,"name":"Bash","input":{"command":"grep -rn penguin .","deep":[{"path":"src/otter.go"}]}`),
		said("tool_result", `,"text":"src/otter.go: penguin found"`), said("question", `,"text":"Which seal?","options":["grey","ringed"]`),
		said("error", `,"text":"the walrus ran away"`), said("usage", `,"usage":{"turns":1}`), said("turn", `,"text":"I will feed the walrus"`), "no json",
		said("thinking", `,"text":"Zögern \u0000 was not an option 🦭 seal"`))
	s.CatchUp(t)
	place := func(i int) string { return fmt.Sprintf("app-1.1@%d", at[i]) }
	wantFound(t, s, "walrus", place(5), place(1)) // its raw bytes are left out now
	wantFound(t, s, "rawjson")
	wantFound(t, s, "penguin", place(3), place(2))
	wantFound(t, s, "bash otter", place(2))
	wantFound(t, s, "path -x") // the names of a tool's input are not indexed
	wantFound(t, s, "seal ringed", place(4))
	wantFound(t, s, "zögern", place(9))

	more := write(t, s.Store, second.ID, coppice.OutputEvent, said("text", `,"text":"a second walrus"`))
	late := write(t, s.Store, first.ID, coppice.OutputEvent, said("text", `,"text":"the last walrus"`))
	s.CatchUp(t)
	wantFound(t, s, "walrus", fmt.Sprintf("app-1.2@%d", more[0]), fmt.Sprintf("app-1.1@%d", late[0]), place(5), place(1))
	if page, _ := find(t, s, "walrus", func(q *store.SearchQuery) { q.Most = 2 }); len(page.Hits) != 2 || !page.More || page.Behind {
		t.Errorf("a bounded page: %+v", page)
	}
	if page, _ := find(t, s, "walrus", func(q *store.SearchQuery) { q.Output = false }); len(page.Hits) != 0 {
		t.Errorf("tasks only: %+v", page)
	}
}

func testSearchRaw(t *testing.T, s Searched) {
	k := task(t, s.Store, project(t, s.Store, "app"), 1, nil)
	x := session(t, s.Store, k, 1, nil)
	at := write(t, s.Store, x.ID, coppice.OutputStdout, "\x1b[31mred \x1b[1mbadger\x1b[0m\r\n", "plain ferret\n")
	write(t, s.Store, x.ID, coppice.OutputEvent, said("state", `,"state":"idle"`))
	err := write(t, s.Store, x.ID, coppice.OutputStderr, "a ferret went wrong")
	host := write(t, s.Store, x.ID, coppice.OutputHost, said("notice", `,"text":"the host's ferret"`), "a bare ferret")
	app := write(t, s.Store, x.ID, coppice.OutputApp, "\x1b[32mGET\x1b[0m /ferret 500 \xff\xfe\x00 broken", "listening on :8080")
	write(t, s.Store, x.ID, coppice.OutputImage, "\x89PNG ferret")
	s.CatchUp(t)
	place := func(offset int64) string { return fmt.Sprintf("app-1.1@%d", offset) }
	wantFound(t, s, `"red badger"`, place(at[0]))
	wantFound(t, s, "ferret", place(app[0]), place(host[1]), place(host[0]), place(err[0]), place(at[1]))
	wantFound(t, s, "notice")
	wantFound(t, s, "get ferret broken", place(app[0]))
	wantKind(t, s, "listening", coppice.OutputApp)
	wantKind(t, s, `"the host"`, coppice.OutputHost)
	wantKind(t, s, "wrong", coppice.OutputStderr)

	// When events report what the agent does, only its stdout is left out.
	event := write(t, s.Store, x.ID, coppice.OutputEvent, said("text", `,"text":"I saw a ferret"`))
	more := write(t, s.Store, x.ID, coppice.OutputApp, "one more ferret")
	s.CatchUp(t)
	wantFound(t, s, "ferret", place(more[0]), place(event[0]), place(app[0]), place(host[1]), place(host[0]), place(err[0]))
	wantFound(t, s, "badger")
	wantKind(t, s, "saw", coppice.OutputEvent)
}

func wantKind(t *testing.T, s Searched, text string, want coppice.OutputKind) {
	t.Helper()
	page, places := find(t, s, text)
	if len(page.Hits) != 1 || page.Hits[0].Kind != want {
		t.Errorf("%q is found in %v as %+v, want one of %s", text, places, page.Hits, want)
	}
}

// check adds a check of a task.
func check(t *testing.T, s store.Store, k coppice.Task, command, log string) coppice.Check {
	t.Helper()
	c := coppice.Check{ProjectID: k.ProjectID, TaskID: k.ID, LandingID: 1, Tree: "tree", Command: command, Exit: 1, Log: log, EndedAt: start}
	update(t, s, func(tx store.Tx) error {
		if err := tx.Checks.Put(&c); err != nil {
			return err
		}
		return tx.Log.Append(&coppice.Event{At: start, Kind: coppice.EventCheckEnded, ProjectID: k.ProjectID, TaskID: k.ID, Subject: k.Key, By: "engine"})
	})
	return c
}

func testSearchChecks(t *testing.T, s Searched) {
	k, far := task(t, s.Store, project(t, s.Store, "app"), 1, nil), task(t, s.Store, project(t, s.Store, "web"), 1, nil)
	first := check(t, s.Store, k, "make otter", "\x1b[31mFAIL\x1b[0m the heron \xff\x00 flew")
	s.CatchUp(t)
	other := check(t, s.Store, far, "make heron", strings.Repeat("padding ", 30_000)+"and the end of it")
	for i := range 30 { // more than one transaction of an index takes
		check(t, s.Store, k, "make many", fmt.Sprintf("run r%d", i))
	}
	s.CatchUp(t)
	place := func(c coppice.Check) string { return fmt.Sprintf("%s check %d", k.Key, c.ID) }
	wantFound(t, s, "fail heron flew", place(first))
	wantFound(t, s, "otter", place(first))
	wantFound(t, s, `"end of it"`, fmt.Sprintf("web-1 check %d", other.ID))
	wantFound(t, s, "heron", fmt.Sprintf("web-1 check %d", other.ID), place(first))
	if _, got := find(t, s, "heron", func(q *store.SearchQuery) { q.ProjectID = k.ProjectID }); !slices.Equal(got, []string{place(first)}) {
		t.Errorf("in one project: %v", got)
	}
	for _, i := range []int{0, 7, 8, 29} {
		if _, got := find(t, s, fmt.Sprintf(`"r%d"`, i)); len(got) != 1 {
			t.Errorf("r%d is found in %v", i, got)
		}
	}
	page, _ := find(t, s, "flew")
	if h := page.Hits[0]; h.Session != "" || h.Kind != "" || h.Command != "make otter" || h.Title != k.Title || h.At != start || h.Text[h.Marks[0][0]:][:h.Marks[0][1]] != "flew" {
		t.Errorf("hit %+v", h)
	}
	if page, _ := find(t, s, "heron", func(q *store.SearchQuery) { q.Checks = false }); len(page.Hits) != 0 {
		t.Errorf("without checks: %+v", page)
	}
}

// testSearchAmong finds only hits of the tasks that a filter chooses.
func testSearchAmong(t *testing.T, s Searched) {
	p := project(t, s.Store, "app")
	var want []string
	for i, labels := range [][]string{{"ui"}, nil, {"api", "ui"}} {
		k := task(t, s.Store, p, i+1, func(k *coppice.Task) { k.Title, k.Labels = "Find the stork", labels })
		changed(t, s.Store, coppice.EventTaskCreated, k)
		at := write(t, s.Store, session(t, s.Store, k, 1, nil).ID, coppice.OutputEvent, said("text", `,"text":"a stork"`))
		c := check(t, s.Store, k, "make stork", "")
		if k.Labels != nil {
			want = append(want, k.Key, fmt.Sprintf("%s.1@%d", k.Key, at[0]), fmt.Sprintf("%s check %d", k.Key, c.ID))
		}
	}
	s.CatchUp(t)
	if _, got := find(t, s, "stork"); len(got) != 9 {
		t.Errorf("without a filter: %v", got)
	}
	for label, n := range map[string]int{"ui": 6, "api": 3, "none": 0} {
		page, got := find(t, s, "stork", func(q *store.SearchQuery) { q.Among.Label = label })
		for _, place := range got {
			if !slices.Contains(want, place) {
				t.Errorf("with the label %s: %s", label, place)
			}
		}
		if len(got) != n || page.More {
			t.Errorf("with the label %s: %v", label, got)
		}
	}
	// The limit counts only hits that the filter chooses.
	if page, got := find(t, s, "stork", func(q *store.SearchQuery) { q.Among.Label, q.Most, q.Checks, q.Output = "ui", 2, false, false }); !slices.Equal(got, []string{"app-3", "app-1"}) || page.More {
		t.Errorf("two tasks: %v, more %v", got, page.More)
	}
}

// testSearchShare finds more hits of each kind than fit on the page.
func testSearchShare(t *testing.T, s Searched) {
	p := project(t, s.Store, "app")
	k := task(t, s.Store, p, 1, func(k *coppice.Task) { k.Title = "crane" })
	changed(t, s.Store, coppice.EventTaskCreated, k)
	x := session(t, s.Store, k, 1, nil)
	for range 9 {
		write(t, s.Store, x.ID, coppice.OutputApp, "a crane")
		check(t, s.Store, k, "make", "a crane")
	}
	s.CatchUp(t)
	page, _ := find(t, s, "crane", func(q *store.SearchQuery) { q.Most = 8 })
	var tasks, pieces, checks int
	for _, h := range page.Hits {
		switch {
		case h.Check != 0:
			checks++
		case h.Session != "":
			pieces++
		default:
			tasks++
		}
	}
	if tasks != 1 || pieces != 4 || checks != 3 || !page.More {
		t.Errorf("%d tasks, %d pieces, %d checks", tasks, pieces, checks)
	}
	if page, _ := find(t, s, "crane", func(q *store.SearchQuery) { q.Most = 19 }); len(page.Hits) != 19 || page.More {
		t.Errorf("%d hits of all", len(page.Hits))
	}
}

func testSearchSnippet(t *testing.T, s Searched) {
	k := task(t, s.Store, project(t, s.Store, "app"), 1, nil)
	x := session(t, s.Store, k, 1, nil)
	write(t, s.Store, x.ID, coppice.OutputStdout, "\x1b[31mred \x1b[1mbadger\x1b[0m\r\n")
	s.CatchUp(t)
	page, _ := find(t, s, "badger")
	if h := page.Hits[0]; h.Text != "red badger" && h.Text != "red badger " {
		t.Errorf("snippet %q", h.Text)
	}

	// Messages to people are Markdown. Output of programs is not.
	message := "# Added **Beaver**\n\n- one `code` of [docs](http://d.test/x)\n* a ** b, *c* *d* of *.go, __init__\n```go\n# kept **so**\n```\n1. end"
	write(t, s.Store, x.ID, coppice.OutputEvent, said("text", `,"text":`+strconv.Quote(message)), said("tool_result", `,"text":"otter **raw**"`))
	write(t, s.Store, x.ID, coppice.OutputStderr, "ferret `raw`")
	s.CatchUp(t)
	for word, want := range map[string]string{
		"beaver": "Added Beaver one code of docs (http://d.test/x) a ** b, c d of *.go, __init__ go # kept **so** 1. end", "otter": "otter **raw**", "ferret": "ferret `raw`",
	} {
		page, _ := find(t, s, word)
		h := page.Hits[0]
		if h.Text != want || len(h.Marks) != 1 || !strings.EqualFold(h.Text[h.Marks[0][0]:][:h.Marks[0][1]], word) {
			t.Errorf("snippet %q with marks %v, want %q", h.Text, h.Marks, want)
		}
	}
}

// testSearchPaths finds words in texts with paths into workspaces. A snippet shows them
// relative to the workspace, unless the word is in the part that it would leave out.
func testSearchPaths(t *testing.T, s Searched) {
	const beside = "/var/lib/people/state/workspaces/0123456789abcdef0123456789abcdef"
	k := task(t, s.Store, project(t, s.Store, "app"), 1, func(k *coppice.Task) { k.Body = "as in " + beside + "/coppice-9/osprey.go" })
	x := session(t, s.Store, k, 1, func(x *coppice.Session) { x.Path = beside + "/coppice-1" })
	write(t, s.Store, x.ID, coppice.OutputEvent, said("tool_result", `,"text":"compiled `+beside+`/coppice-1/web/otter.go and /etc/otter"`))
	write(t, s.Store, x.ID, coppice.OutputStderr, "cd "+beside+"/coppice-check-2 && ferret "+beside+"/coppice-1")
	check(t, s.Store, k, "make", strings.Repeat("padding ", 100)+beside+"/coppice-check-7/lib/badger.c:7: error")
	changed(t, s.Store, coppice.EventTaskCreated, k)
	s.CatchUp(t)
	for word, want := range map[string]string{
		"osprey": "as in osprey.go", "otter": "compiled web/otter.go and /etc/otter", "ferret": "cd . && ferret .", "badger": "padding lib/badger.c:7: error",
		"0123456789abcdef0123456789abcdef": beside,
	} {
		page, _ := find(t, s, word)
		if len(page.Hits) == 0 {
			t.Errorf("%s is not found", word)
			continue
		}
		h := page.Hits[0]
		if whole := want == beside; !strings.Contains(h.Text, want) || strings.Contains(h.Text, "/var/lib") != whole || len(h.Marks) == 0 || !strings.EqualFold(h.Text[h.Marks[0][0]:][:h.Marks[0][1]], word) {
			t.Errorf("the snippet for %s is %q with marks %v, want %q", word, h.Text, h.Marks, want)
		}
	}
}

// testSearchBounds writes more than one transaction of an index takes.
func testSearchBounds(t *testing.T, s Searched) {
	p := project(t, s.Store, "app")
	k := task(t, s.Store, p, 1, nil)
	x, long := session(t, s.Store, k, 1, nil), session(t, s.Store, k, 2, nil)
	var pieces []string
	for i := range 900 {
		pieces = append(pieces, said("text", fmt.Sprintf(`,"text":"number n%d of many"`, i)))
	}
	write(t, s.Store, x.ID, coppice.OutputEvent, pieces...)
	write(t, s.Store, long.ID, coppice.OutputEvent, said("text", `,"text":"begins `+strings.Repeat("padding ", 100_000)+`ends"`))
	for i := range 600 {
		changed(t, s.Store, coppice.EventTaskCreated, task(t, s.Store, p, i+2, func(k *coppice.Task) { k.Title = fmt.Sprintf("task t%d of many", i) }))
	}
	s.CatchUp(t)
	for _, i := range []int{0, 255, 256, 599, 899} {
		if _, got := find(t, s, fmt.Sprintf(`"n%d"`, i)); len(got) != 1 {
			t.Errorf("n%d is found in %v", i, got)
		}
	}
	for _, i := range []int{0, 256, 599} {
		if _, got := find(t, s, fmt.Sprintf(`"t%d"`, i)); len(got) != 1 {
			t.Errorf("t%d is found in %v", i, got)
		}
	}
	page, _ := find(t, s, "many", func(q *store.SearchQuery) { q.Most = 10 })
	tasks := 0
	for _, h := range page.Hits {
		if h.Session == "" {
			tasks++
		}
	}
	if len(page.Hits) != 10 || tasks != 5 || !page.More {
		t.Errorf("%d hits, %d of them tasks", len(page.Hits), tasks)
	}
	if page, _ := find(t, s, "begins"); len(page.Hits) != 1 || len(page.Hits[0].Text) > 400 {
		t.Errorf("a long piece: %+v", page)
	}
}

// testSearchAnything searches for random text. A search fails only if the query has
// no word. Every snippet is valid text with complete matches marked.
func testSearchAnything(t *testing.T, s Searched) {
	k := task(t, s.Store, project(t, s.Store, "app"), 1, func(k *coppice.Task) { k.Title = "near not and or" })
	x := session(t, s.Store, k, 1, nil)
	changed(t, s.Store, coppice.EventTaskCreated, k)
	write(t, s.Store, x.ID, coppice.OutputStdout, "near NOT and OR \"quoted\" co:lumn {a} (b) ^c * é ﬁ ǆ İstanbul 🦭\n", strings.Repeat("é🦭ab \t\n", 500))
	s.CatchUp(t)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("ab né\"'-*^():{}+,NOTEARD \x00\\🦭ﬁİ_.")))).Draw(rt, "text")
		page, err := s.Search.Search(t.Context(), store.SearchQuery{Terms: store.ParseSearch(text), Tasks: true, Output: true, Checks: true, Most: 5})
		if err != nil && coppice.ErrorCode(err) != coppice.EInvalid {
			rt.Fatalf("%q: %v", text, err)
		}
		for _, h := range page.Hits {
			if !utf8.ValidString(h.Text) || strings.ContainsAny(h.Text, "\n\r\t\x00\x1b") {
				rt.Fatalf("%q: snippet %q", text, h.Text)
			}
			last := 0
			for _, m := range h.Marks {
				if m[0] < last || m[1] <= 0 || m[0]+m[1] > len(h.Text) || !utf8.ValidString(h.Text[m[0]:m[0]+m[1]]) {
					rt.Fatalf("%q: marks %v in %q", text, h.Marks, h.Text)
				}
				last = m[0] + m[1]
			}
		}
	})
}
