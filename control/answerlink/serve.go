package answerlink

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"coppice"
	"coppice/store"
)

// The limits of requests.
const (
	maxBody    = 256 << 10
	maxText    = 50_000 // characters of an answer; what the form accepts fits into maxBody
	perLink    = 30     // requests of a link at the same time, and per minute
	perUnknown = 60     // requests without a valid signature, likewise
	mostLinks  = 1000
)

// Config has the dependencies of Pages. All fields are required.
type Config struct {
	Key   [sha256.Size]byte // see Key
	Store store.Store
	// Answer answers a question of a task, as the inbox does.
	Answer func(ctx context.Context, task string, question int64, text string) (coppice.Question, error)
	Mask   func(string) string // hides secrets in what agents wrote
	Now    func() time.Time
	Log    *slog.Logger
}

// Pages serves the pages below Path. It is safe for concurrent use.
type Pages struct {
	cfg     Config
	unknown *rate.Limiter

	mu    sync.Mutex
	links map[int64]*rate.Limiter // by question
}

// New returns Pages.
func New(c Config) *Pages {
	return &Pages{cfg: c, unknown: limiter(perUnknown), links: map[int64]*rate.Limiter{}}
}

func limiter(perMinute int) *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), perMinute)
}

// allow reports whether a link has requests left.
func (p *Pages) allow(question int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.links[question]
	if l == nil {
		if len(p.links) >= mostLinks {
			clear(p.links)
		}
		l = limiter(perLink)
		p.links[question] = l
	}
	return l.AllowN(p.cfg.Now(), 1)
}

// The pages that show no question.
var (
	elsewhere = "Answer in the dashboard, or with: coppice answer"
	unknown   = content{Title: "This link is not valid", Note: "Check that you copied the whole link. " + elsewhere}
	expired   = content{Title: "This link has expired", Note: "A link is valid for an hour. " + elsewhere}
	answered  = content{Title: "This question has an answer", Note: "A link works once, and the question was answered."}
	closed    = content{Title: "Nobody waits for an answer any more", Note: "The session that asked has ended, or the question was withdrawn."}
	sent      = content{Title: "The answer was sent", Note: "The agent gets it. You can close this page."}
	tooMany   = content{Title: "Too many requests", Note: "Wait a minute, and open the link again."}
	broken    = content{Title: "This does not work now", Note: "Open the link again later. The log of coppice serve has the cause. " + elsewhere}
)

// ServeHTTP implements http.Handler. Only POST changes something.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD, POST")
		write(w, r, http.StatusMethodNotAllowed, unknown)
		return
	}
	c, ok := p.verify(strings.TrimPrefix(r.URL.Path, Path))
	switch now := p.cfg.Now(); {
	case !ok && !p.unknown.AllowN(now, 1) || ok && !p.allow(c.question):
		w.Header().Set("Retry-After", "60")
		write(w, r, http.StatusTooManyRequests, tooMany)
	case !ok:
		write(w, r, http.StatusNotFound, unknown)
	case !now.Before(c.until):
		write(w, r, http.StatusGone, expired)
	default:
		p.serve(w, r, c)
	}
}

// serve answers a request whose link is valid.
func (p *Pages) serve(w http.ResponseWriter, r *http.Request, c claim) {
	q, t, err := p.find(r.Context(), c)
	switch {
	case coppice.ErrorCode(err) == coppice.ENotFound || err == nil && !q.AskedAt.Equal(c.asked):
		write(w, r, http.StatusGone, closed)
	case err != nil:
		p.fail(w, r, err)
	case !q.AnsweredAt.IsZero():
		write(w, r, http.StatusGone, answered)
	case !q.Open():
		write(w, r, http.StatusGone, closed)
	case r.Method == http.MethodPost:
		p.answer(w, r, c, q, t)
	default:
		write(w, r, http.StatusOK, content{Title: "A question", Form: formOf(t, q, c.until, p.cfg.Mask)})
	}
}

// find reads the question of a link, and its task.
func (p *Pages) find(ctx context.Context, c claim) (q coppice.Question, t coppice.Task, err error) {
	err = p.cfg.Store.View(ctx, func(r store.Reader) error {
		if q, err = r.Questions.Get(c.question); err != nil {
			return err
		}
		t, err = r.Tasks.Get(q.TaskID)
		return err
	})
	return q, t, err
}

// answer answers the question. Of two people who answer at the same time, the store lets
// one.
func (p *Pages) answer(w http.ResponseWriter, r *http.Request, c claim, q coppice.Question, t coppice.Task) {
	text, problem := given(w, r, q)
	if problem == "" {
		_, err := p.cfg.Answer(r.Context(), t.Key, q.ID, text)
		switch coppice.ErrorCode(err) {
		case "":
			p.cfg.Log.Info("a question was answered by the link of a message", "task", t.Key, "question", q.ID)
			write(w, r, http.StatusOK, sent)
			return
		case coppice.EInvalid, coppice.ETooLarge:
			e := coppice.Public(err)
			problem = coppice.Printable(e.Cause)
		case coppice.EConflict, coppice.ENotFound:
			if now, _, err := p.find(r.Context(), c); err == nil && !now.AnsweredAt.IsZero() {
				write(w, r, http.StatusGone, answered)
				return
			}
			write(w, r, http.StatusGone, closed)
			return
		default:
			p.fail(w, r, err)
			return
		}
	}
	write(w, r, http.StatusBadRequest, content{Title: "A question", Problem: "The answer was not accepted: " + problem + ".", Form: formOf(t, q, c.until, p.cfg.Mask)})
}

// given returns the answer of a form, or what is wrong with it.
func given(w http.ResponseWriter, r *http.Request, q coppice.Question) (text, problem string) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		return "", "the form did not arrive whole, or is too large"
	}
	options := r.PostForm["option"]
	if !q.Several && len(options) > 1 {
		return "", "only one option can be chosen"
	}
	for _, o := range options {
		if n, err := strconv.Atoi(o); err != nil || n < 1 || n > len(q.Options) {
			return "", "there is no such option"
		}
	}
	if len(options) > 0 {
		return strings.Join(options, ","), ""
	}
	if text = strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n"); strings.TrimSpace(text) == "" {
		return "", "it is empty"
	}
	if q.Kind == coppice.QuestionPermission && len(q.Options) > 0 {
		return "", "choose one of the options"
	}
	return text, ""
}

func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	p.cfg.Log.Error("a link of a message could not be served", "error", err)
	write(w, r, http.StatusServiceUnavailable, broken)
}
