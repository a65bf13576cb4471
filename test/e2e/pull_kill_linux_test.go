package e2e

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/test/forges"
)

var allPullKills = flag.Bool("pullkills", false, "kill the server at each point of a pull request, instead of some")

// pullStep is a step of the loop at which the server is killed.
type pullStep struct {
	name string
	what string // a change of the forge, see changeOf, or the kind of an event
	n    int    // the first change or event of its kind is 1
}

// pullSteps are in the order of the loop.
var pullSteps = []pullStep{
	{"the branch is pushed", "push", 1},
	{"the label is created", "label", 1},
	{"the request is opened", "open", 1},
	{"the request is ready", "edit", 1},
	{"the reviewer is asked", "ask", 1},
	{"CI failed", string(coppice.EventPullCI), 1},
	{"the agent gets the failure", string(coppice.EventReaction), 1},
	{"the fix is pushed", "push", 2},
	{"the agent gets the review", string(coppice.EventReaction), 2},
	{"the changes are pushed", "push", 3},
	{"the agent gets the conflict", string(coppice.EventReaction), 3},
	{"the solution is pushed", "push", 4},
	{"the request is approved", string(coppice.EventReaction), 4},
	{"the request is merged", "merge", 1},
	{"the work lands", string(coppice.EventLandingQueued), 1},
	{"the branch is deleted", "push", 5},
}

// pullCut is one kill. The server dies before the forge gets a change, or after it has
// carried it out and before Coppice gets the answer.
type pullCut struct {
	pullStep
	after bool
}

func (c pullCut) String() string {
	if c.after {
		return "after " + c.name
	}
	return "when " + c.name
}

// pullCuts returns the kills of each run: those of a seed, or all of them.
func pullCuts(random uint64) (runs [][]pullCut) {
	if *allPullKills {
		for _, s := range pullSteps {
			runs = append(runs, []pullCut{{pullStep: s}})
			if !strings.Contains(s.what, ".") {
				runs = append(runs, []pullCut{{s, true}})
			}
		}
		return runs
	}
	r := rand.New(rand.NewPCG(random, 0))
	runs = make([][]pullCut, 2)
	for i, n := range r.Perm(len(pullSteps))[:6] {
		runs[i%2] = append(runs[i%2], pullCut{pullSteps[n], r.IntN(2) == 1})
	}
	return runs
}

// pullKiller is between Coppice and Gitea. It kills the server at the cuts and starts
// it again.
type pullKiller struct {
	gitea *httputil.ReverseProxy

	mu   sync.Mutex
	p    *pullWorld
	cuts []pullCut
	seen map[string]int // the changes that the forge carried out, and the events, by kind
}

// changeOf names what a request changes on the forge; "" for one that reads.
func changeOf(r *http.Request) string {
	for _, c := range []struct{ method, path, name string }{
		{http.MethodPost, "/git-receive-pack", "push"}, {http.MethodPost, "/labels", "label"}, {http.MethodPost, "/pulls", "open"},
		{http.MethodPost, "/requested_reviewers", "ask"}, {http.MethodPost, "/merge", "merge"},
	} {
		if r.Method == c.method && strings.HasSuffix(r.URL.Path, c.path) {
			return c.name
		}
	}
	if r.Method == http.MethodPatch {
		return "edit"
	}
	return ""
}

func (k *pullKiller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	change := changeOf(r)
	if change == "" {
		k.gitea.ServeHTTP(w, r)
		return
	}
	if k.killAt(change, 1, false) {
		panic(http.ErrAbortHandler)
	}
	answer := httptest.NewRecorder()
	k.gitea.ServeHTTP(answer, r)
	if answer.Code < http.StatusMultipleChoices && k.happened(change) {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the server might have ended
}

// happened counts a change or an event, and reports whether the server was killed
// after it.
func (k *pullKiller) happened(what string) bool {
	k.mu.Lock()
	k.seen[what]++
	k.mu.Unlock()
	return k.killAt(what, 0, !strings.Contains(what, "."))
}

// killAt kills the server if a cut is here.
func (k *pullKiller) killAt(what string, further int, after bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, c := range k.cuts {
		if c.what != what || c.n != k.seen[what]+further || c.after != after && !strings.Contains(what, ".") {
			continue
		}
		k.p.t.Logf("kills %s", c)
		k.cuts = append(k.cuts[:i:i], k.cuts[i+1:]...)
		k.p.Server().Kill()
		s, err := k.p.StartServer()
		if err != nil {
			k.p.t.Error(err)
			return true
		}
		k.p.SetServer(s)
		return true
	}
	return false
}

// follow kills the server at events of the log.
func (k *pullKiller) follow() {
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = k.p.client.FollowEvents(k.p.t.Context(), client.EventQuery{After: 0}, func(e api.Event) error { // ends with the test
			k.happened(string(e.Kind))
			return nil
		}, nil)
	})
	k.p.t.Cleanup(wg.Wait)
}

// TestPullKills kills the server at steps of the loop. Nothing happens twice on the
// forge or here, and nothing is lost.
func TestPullKills(t *testing.T) {
	t.Parallel()
	for i, cuts := range pullCuts(cmp.Or(*seed, 1)) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			gitea, err := url.Parse(forges.Gitea(t).URL)
			if err != nil {
				t.Fatal(err)
			}
			k := &pullKiller{gitea: httputil.NewSingleHostReverseProxy(gitea), cuts: cuts, seen: map[string]int{}}
			k.gitea.ErrorLog = log.New(io.Discard, "", 0) // connections of killed servers end
			proxy := httptest.NewServer(k)
			k.p = newLoopWorld(t, proxy.URL)
			t.Cleanup(func() { // requests of the server end before the proxy does
				k.p.Close()
				proxy.Close()
			})
			k.p.serve()
			k.follow()
			d := k.p.loop()
			k.mu.Lock()
			for _, c := range k.cuts {
				if c.what != "edit" || k.seen[c.what] > 0 { // work that is proven before it is pushed needs no draft
					t.Errorf("it was not killed %s", c)
				}
			}
			k.mu.Unlock()
			k.p.checkLoop(d)
			k.p.checkHooks(d.Key)
		})
	}
}
