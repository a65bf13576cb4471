package answerlink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coppice"
	"coppice/engine"
	"coppice/store"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// bundle is a server of pages, with a project and questions of its task app-1.
type bundle struct {
	t     *testing.T
	db    *sqlite.Store
	pages *Pages
	srv   *httptest.Server
	log   bytes.Buffer

	mu  sync.Mutex
	now time.Time
}

func setup(t *testing.T) *bundle {
	t.Helper()
	db := sqlitetest.Open(t, sqlite.Config{})
	b := &bundle{t: t, db: db, now: noon}
	clock := func() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.now }
	intake := engine.NewIntake(db, clock, nil, nil, nil)
	b.pages = New(Config{
		Key: Key("a-token-for-tests"), Store: db, Answer: intake.As(coppice.Actor{Kind: coppice.ActorPerson, Name: "answer-link"}).Answer, Now: clock,
		Mask: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }, Log: slog.New(slog.NewTextHandler(&b.log, nil)),
	})
	b.srv = httptest.NewServer(b.pages)
	t.Cleanup(b.srv.Close)
	b.update(func(tx store.Tx) error {
		p := coppice.Project{Prefix: "app", Path: "/app", CreatedAt: noon, Policy: coppice.DefaultPolicy()}
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		task := coppice.Task{ProjectID: p.ID, Key: "app-1", Title: "Paint <it>", CreatedAt: noon, Stage: coppice.StageSession}
		if err := tx.Tasks.Put(&task); err != nil {
			return err
		}
		return tx.Sessions.Put(&coppice.Session{TaskID: task.ID, Key: "app-1/1", Agent: "ann", State: coppice.SessionWaiting, StartedAt: noon})
	})
	return b
}

func (b *bundle) update(f func(store.Tx) error) {
	b.t.Helper()
	if err := b.db.Update(b.t.Context(), f); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bundle) pass(d time.Duration) { b.mu.Lock(); b.now = b.now.Add(d); b.mu.Unlock() }

// ask stores a question and returns its link.
func (b *bundle) ask(q coppice.Question) (id int64, link string) {
	b.t.Helper()
	q.TaskID, q.SessionID, q.AskedAt = 1, 1, b.now
	if q.Ref == "" {
		q.Ref = fmt.Sprint(b.now.UnixNano(), q.Text)
	}
	b.update(func(tx store.Tx) error { return tx.Questions.Put(&q) })
	link, err := b.pages.Link(b.t.Context(), q.ID, b.now.Add(time.Hour))
	if err != nil || !strings.HasPrefix(link, Path) {
		b.t.Fatalf("%q, %v", link, err)
	}
	return q.ID, link
}

func (b *bundle) question(id int64) coppice.Question {
	b.t.Helper()
	q, err := b.pages.question(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return q
}

// call sends a request; a form is sent with POST.
func (b *bundle) call(method, link string, fields url.Values) (status int, page string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.srv.URL+link, strings.NewReader(fields.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if fields != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.srv.Client().Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	csp := resp.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "script-src") || resp.Header.Get("Cache-Control") != "no-store" || bytes.Contains(bytes.ToLower(text), []byte("<script")) {
		b.t.Errorf("%s: %v", csp, resp.Header)
	}
	return resp.StatusCode, string(text)
}

// Opening a link shows the question and changes nothing. Posting the form answers it, one
// time.
func TestAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, link := b.ask(coppice.Question{Text: "Which <b>colour</b>? The password is hunter2.\u202e", Options: []string{"red & green", "blue"}, Descriptions: []string{"warm", "cold"}})
	for range 3 {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			status, page := b.call(method, link, nil)
			if status != http.StatusOK || method == http.MethodGet && !strings.Contains(page, "Which &lt;b&gt;colour&lt;/b&gt;? The password is [redacted].</pre>") {
				t.Errorf("%s: %d: %s", method, status, page)
			}
			if method == http.MethodGet && (!strings.Contains(page, `value="1">red &amp; green <small>warm</small>`) || !strings.Contains(page, "app-1: Paint &lt;it&gt;")) {
				t.Errorf("%s", page)
			}
		}
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch} {
		if status, _ := b.call(method, link, url.Values{"option": {"2"}}); status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, status)
		}
	}
	if b.question(id).Open() != true {
		t.Fatal("reading has answered the question")
	}
	if status, page := b.call(http.MethodGet, link+"?option=2&text=x", nil); status != http.StatusOK || !b.question(id).Open() {
		t.Errorf("%d: %s", status, page)
	}
	if status, page := b.call(http.MethodPost, link, url.Values{"option": {"2"}}); status != http.StatusOK || !strings.Contains(page, "The answer was sent") {
		t.Errorf("%d: %s", status, page)
	}
	if q := b.question(id); q.Answer != "blue" {
		t.Errorf("the answer is %q", q.Answer)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		status, page := b.call(method, link, url.Values{"option": {"1"}})
		if status != http.StatusGone || !strings.Contains(page, "This question has an answer") || strings.Contains(page, "colour") || b.question(id).Answer != "blue" {
			t.Errorf("%s: %d: %s", method, status, page)
		}
	}
	var events []coppice.Event
	b.update(func(tx store.Tx) (err error) {
		events, err = tx.Log.Events(0, 100, store.EventFilter{})
		return err
	})
	if last := events[len(events)-1]; last.Kind != coppice.EventQuestionAnswered || last.By != "person:answer-link" {
		t.Errorf("%+v", last)
	}
}

// The forms of questions, and what each accepts.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		q      coppice.Question
		form   url.Values
		status int
		answer string
		has    string
	}{
		"text":                  {coppice.Question{Text: "Why?"}, url.Values{"text": {"because\r\nof it"}}, 200, "because\nof it", "<textarea"},
		"own answer":            {coppice.Question{Text: "Which?", Options: []string{"a", "b"}}, url.Values{"text": {"neither"}}, 200, "neither", "Or write an answer"},
		"several":               {coppice.Question{Text: "Which?", Options: []string{"a", "b", "c"}, Several: true}, url.Values{"option": {"1", "3"}}, 200, "a, c", `type="checkbox"`},
		"permission":            {coppice.Question{Kind: coppice.QuestionPermission, Text: "rm", Options: []string{coppice.AnswerAllow, coppice.AnswerDeny}}, url.Values{"option": {"2"}}, 200, coppice.AnswerDeny, "asks permission: rm"},
		"permission in words":   {coppice.Question{Kind: coppice.QuestionPermission, Text: "rm", Options: []string{coppice.AnswerAllow, coppice.AnswerDeny}}, url.Values{"text": {"sure"}}, 400, "", "asks permission"},
		"two options":           {coppice.Question{Text: "Which?", Options: []string{"a", "b"}}, url.Values{"option": {"1", "2"}}, 400, "", "name=\"option\""},
		"an option too many":    {coppice.Question{Text: "Which?", Options: []string{"a", "b"}}, url.Values{"option": {"3"}}, 400, "", "Which?"},
		"an option of a hacker": {coppice.Question{Text: "Which?", Options: []string{"a", "b"}}, url.Values{"option": {"<script>"}}, 400, "", "Which?"},
		"nothing":               {coppice.Question{Text: "Why?"}, url.Values{"text": {" \n"}}, 400, "", "Why?"},
		"a zero byte":           {coppice.Question{Text: "Why?"}, url.Values{"text": {"a\x00b"}}, 400, "", "Why?"},
		"too much":              {coppice.Question{Text: "Why?"}, url.Values{"text": {strings.Repeat("x", maxBody)}}, 400, "", "Why?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, link := b.ask(c.q)
			if _, page := b.call(http.MethodGet, link, nil); !strings.Contains(page, c.has) {
				t.Errorf("%s", page)
			}
			status, page := b.call(http.MethodPost, link, c.form)
			if q := b.question(id); status != c.status || q.Answer != c.answer || q.Open() == (c.answer != "") {
				t.Errorf("%d, %q: %s", status, q.Answer, page)
			}
			if c.status == 400 && (!strings.Contains(page, "was not accepted") || !strings.Contains(page, "<form")) {
				t.Errorf("%s", page)
			}
		})
	}
}

// A link that is changed, of another server, or of another question shows nothing.
func TestTampering(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, link := b.ask(coppice.Question{Text: "Which colour?"})
	other, _ := b.ask(coppice.Question{Text: "Which size?"})
	foreign := New(Config{Key: Key("another-token"), Store: b.db, Now: b.pages.cfg.Now})
	strange, err := foreign.Link(t.Context(), id, b.now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.TrimPrefix(link, Path), ".")
	longer := claim{id, b.now.Add(48 * time.Hour), b.now}.text()
	wrong := map[string]string{
		"foreign": strange, "of another question": Path + strings.Join([]string{fmt.Sprint(other), parts[1], parts[2], parts[3]}, "."), "longer": Path + longer + "." + parts[3],
		"none": Path, "no signature": Path + strings.Join(parts[:3], "."), "empty signature": Path + strings.Join(parts[:3], ".") + ".", "short": link[:len(link)-1], "more": link + "A",
		"padded": link + "=", "a path": link + "/x", "long": Path + strings.Repeat("a", 5000), "upper case": Path + strings.ToUpper(strings.TrimPrefix(link, Path)),
	}
	for i := len(Path); i < len(link); i += 7 { // one character changed
		c := byte('A')
		if link[i] == c {
			c = 'B'
		}
		wrong[fmt.Sprint("character ", i)] = link[:i] + string(c) + link[i+1:]
	}
	for name, l := range wrong {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			status, page := b.call(method, l, url.Values{"text": {"red"}})
			if status != http.StatusNotFound || !strings.Contains(page, "This link is not valid") || strings.Contains(page, "colour") || strings.Contains(page, "app-1") {
				t.Errorf("%s: %d: %s", name, status, page)
			}
		}
		b.pass(10 * time.Second) // for the rate limit
	}
	if !b.question(id).Open() || !b.question(other).Open() {
		t.Error("a question was answered")
	}
}

func TestOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, link := b.ask(coppice.Question{Text: "Which colour?"})
	gone := func(what, says string) {
		t.Helper()
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			status, page := b.call(method, link, url.Values{"text": {"red"}})
			if status != http.StatusGone || !strings.Contains(page, says) || strings.Contains(page, "colour") {
				t.Errorf("%s: %d: %s", what, status, page)
			}
		}
	}
	b.pass(time.Hour - time.Second)
	if status, _ := b.call(http.MethodGet, link, nil); status != http.StatusOK {
		t.Errorf("a second before its end: %d", status)
	}
	b.pass(time.Second)
	gone("after an hour", "This link has expired")
	b.pass(-time.Hour)

	q := b.question(id)
	q.ClosedAt = noon
	b.update(func(tx store.Tx) error { return tx.Questions.Put(&q) })
	gone("withdrawn", "Nobody waits for an answer")
	if l, err := b.pages.Link(t.Context(), id, b.now.Add(time.Hour)); l != "" || err != nil {
		t.Errorf("a link to a closed question: %q, %v", l, err)
	}
	if _, err := b.pages.Link(t.Context(), 99, b.now); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("%v", err)
	}

	// A person answers in the dashboard while the page is open.
	id, link = b.ask(coppice.Question{Text: "Which colour?"})
	if _, err := b.pages.cfg.Answer(t.Context(), "app-1", id, "green"); err != nil {
		t.Fatal(err)
	}
	gone("answered elsewhere", "This question has an answer")
	if b.question(id).Answer != "green" {
		t.Error("the answer was replaced")
	}

	// A restored backup gave the id to another question.
	id, link = b.ask(coppice.Question{Text: "Which colour?"})
	q = b.question(id)
	q.AskedAt = q.AskedAt.Add(time.Minute)
	b.update(func(tx store.Tx) error { return tx.Questions.Put(&q) })
	gone("another question", "Nobody waits for an answer")
}

// Of several people who answer at the same time, one is right, and the others see that.
func TestConcurrentAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, link := b.ask(coppice.Question{Text: "Which colour?"})
	var wg sync.WaitGroup
	statuses := make(chan int, 10)
	for i := range cap(statuses) {
		wg.Go(func() {
			status, _ := b.call(http.MethodPost, link, url.Values{"text": {fmt.Sprint("colour ", i)}})
			statuses <- status
		})
	}
	wg.Wait()
	close(statuses)
	count := map[int]int{}
	for s := range statuses {
		count[s]++
	}
	if count[http.StatusOK] != 1 || count[http.StatusGone] != 9 || !strings.HasPrefix(b.question(id).Answer, "colour ") {
		t.Errorf("%v", count)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, link := b.ask(coppice.Question{Text: "Which colour?"})
	until := func(link string, most int) {
		t.Helper()
		for n := range most + 1 {
			if status, _ := b.call(http.MethodGet, link, nil); (status == http.StatusTooManyRequests) != (n == most) {
				t.Fatalf("request %d of %s: %d", n, link, status)
			}
		}
	}
	until(Path+"guess", perUnknown)
	until(link, perLink) // guesses of others do not count for it
	b.pass(time.Minute)
	if status, _ := b.call(http.MethodGet, link, nil); status != http.StatusOK {
		t.Errorf("a minute later: %d", status)
	}
}

// A store that does not work shows nothing of the question, and the log has the cause.
func TestBroken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, link := b.ask(coppice.Question{Text: "Which colour?"})
	b.pages.cfg.Answer = func(context.Context, string, int64, string) (coppice.Question, error) {
		return coppice.Question{}, errors.New("the disk is full")
	}
	status, page := b.call(http.MethodPost, link, url.Values{"text": {"red"}})
	if status != http.StatusServiceUnavailable || strings.Contains(page, "disk") || !strings.Contains(b.log.String(), "the disk is full") {
		t.Errorf("%d: %s", status, page)
	}
}
