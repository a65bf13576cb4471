package e2e

import (
	"bytes"
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
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/client"
)

var issueKills = flag.Int("issuekills", 6, "how often the server of each test of trackers is killed")

// issueKiller is between Coppice and a tracker. It kills the server at some requests,
// before or after the tracker carries them out, and starts it again.
type issueKiller struct {
	tracker *httputil.ReverseProxy
	gate    sync.RWMutex // people hold it while they change both sides

	mu    sync.Mutex
	w     *world
	rng   *rand.Rand
	kills int // that are left
	next  int // the weight of the requests until the next one
}

// killGap is the largest weight of the requests between two kills. A request that
// changes an issue weighs changeWeight, and one that reads weighs 1.
const (
	killGap      = 160
	changeWeight = 20
)

func (k *issueKiller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the server has ended
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	k.gate.RLock()
	defer k.gate.RUnlock()
	before, after := k.draw(r, body)
	if before {
		k.kill("before", r, body)
		panic(http.ErrAbortHandler)
	}
	answer := httptest.NewRecorder()
	k.tracker.ServeHTTP(answer, r)
	if after {
		k.kill("after", r, body)
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the server might have ended
}

// draw decides whether the server is killed before or after a request.
func (k *issueKiller) draw(r *http.Request, body []byte) (before, after bool) {
	weight := 1
	switch graph := r.URL.Path == "/graphql"; {
	case !graph && !strings.Contains(r.URL.Path, "/issues"):
		return false, false
	case graph && bytes.HasPrefix(body, []byte(`{"query":"mutation`)), !graph && r.Method != http.MethodGet:
		weight = changeWeight
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kills == 0 {
		return false, false
	}
	if k.next -= weight; k.next > 0 {
		return false, false
	}
	k.kills--
	k.next = 1 + k.rng.IntN(killGap)
	after = k.rng.IntN(2) == 1
	return !after, after
}

// start lets the killer kill the server.
func (k *issueKiller) start(kills int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kills = kills
}

func (k *issueKiller) kill(when string, r *http.Request, body []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.w.t.Logf("kills the server %s %s %s %.40s", when, r.Method, r.URL.Path, body)
	k.w.Server().Kill()
	s, err := k.w.StartServer()
	if err != nil {
		k.w.t.Error(err)
		return
	}
	k.w.SetServer(s)
}

func TestIssuesOnGitea(t *testing.T)  { t.Parallel(); issuesToTheirEnd(t, giteaSource(t)) }
func TestIssuesOnGitHub(t *testing.T) { t.Parallel(); issuesToTheirEnd(t, githubSource(t)) }
func TestIssuesOnGitLab(t *testing.T) { t.Parallel(); issuesToTheirEnd(t, gitlabSource(t)) }
func TestIssuesOnLinear(t *testing.T) { t.Parallel(); issuesToTheirEnd(t, linearSource(t)) }

// startIssues makes a world with a source, and what kills its server. The server does not
// run yet.
func startIssues(t *testing.T, of issueSource, configs ...string) *issueKiller {
	t.Helper()
	random := cmp.Or(*seed, 1)
	t.Logf("seed %d: go test ./test/e2e -run %s -seed %d", random, t.Name(), random)
	address, err := url.Parse(of.address)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(random, 0))
	k := &issueKiller{tracker: httputil.NewSingleHostReverseProxy(address), rng: rng, next: 1 + rng.IntN(killGap)}
	k.tracker.ErrorLog = log.New(io.Discard, "", 0) // connections of killed servers end
	proxy := httptest.NewServer(k)
	w := of.world(t, proxy.URL, configs...)
	k.w = w
	t.Cleanup(func() { // requests of the server end before the proxy does
		w.Close()
		proxy.Close()
	})
	return k
}

// issuesToTheirEnd imports issues, by their label and by a command. Their tasks land, the
// issues get one comment each and are closed. The server is killed while it reads and
// changes issues: nothing is imported or commented twice.
func issuesToTheirEnd(t *testing.T, of issueSource) {
	t.Helper()
	k := startIssues(t, of, "active: 3, import: {labels: [agent]}")
	w := k.w
	const labelled = 7
	var issues []any
	for n := range labelled {
		text := fmt.Sprintf("Do part %d.", n+1)
		if n == 1 && of.block == nil {
			text += fmt.Sprintf("\n\nBlocked by #%v", issues[0])
		}
		issues = append(issues, of.create(fmt.Sprintf("Part %d", n+1), text, "agent"))
	}
	if of.block != nil {
		of.block(issues[1], issues[0])
	}
	issues = append(issues, of.create(fmt.Sprintf("Part %d", labelled+1), fmt.Sprintf("Do part %d.", labelled+1)))
	other := of.create("Not for agents", "")
	w.serve()
	prefix := w.task(w.new("Use the project")).Project
	k.start(*issueKills)
	by := w.importIssue(issues[labelled])
	most := 0
	w.eventually("all issues are closed", func() bool {
		page, err := w.client.Issues(t.Context(), prefix, client.IssueQuery{Ended: true})
		if err != nil || len(page.Sources) == 0 {
			return false // the server is being started
		}
		most = max(most, page.Sources[0].Active)
		ended := 0
		for _, i := range page.Issues {
			if i.Status == coppice.IssueDone && !i.EndedAt.IsZero() {
				ended++
			}
		}
		return ended == len(issues)
	})
	if most > 4 {
		t.Errorf("%d tasks were active, 3 and the one of the command are allowed", most)
	}
	keys := w.checkIssues(of, issues)
	if by != "" && by != keys[labelled] {
		t.Errorf("the command made %s, the task of the issue is %s", by, keys[labelled])
	}
	if again := w.importIssue(issues[labelled]); again != "" {
		t.Errorf("a closed issue was imported as %s", again)
	}
	if seen := of.read(other); seen.done || len(seen.labels)+len(seen.comments) > 0 {
		t.Errorf("an issue without the label: %+v", seen)
	}
	k.wantKilled()
}

// importIssue imports an issue by a command and returns the key of its task, empty if the
// issue is closed. It repeats the command if the server is killed in between.
func (w *world) importIssue(id any) (key string) {
	w.t.Helper()
	w.eventually("the command imports an issue", func() bool {
		r := w.try(w.repo, "", "new", "--no-serve", "--json", "--issue", fmt.Sprint(id))
		if r.code == 0 {
			key = decode[api.TaskList](w.t, r.out).Tasks[0].Key
		}
		return r.code == 0 || strings.Contains(r.err, "is closed")
	})
	return key
}

// issueTasks returns the keys of the tasks of issues, by the id of the issue.
func (w *world) issueTasks() map[string][]string {
	w.t.Helper()
	tasks := map[string][]string{}
	for q := (client.TaskQuery{Limit: 200}); ; {
		list, err := w.client.Tasks(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, task := range list.Tasks {
			if task.Issue != nil {
				tasks[task.Issue.ID] = append(tasks[task.Issue.ID], task.Key)
			}
		}
		if q.Before = list.Next; q.Before == 0 {
			return tasks
		}
	}
}

// checkIssues compares issues with their tasks, whose keys it returns. The last issue has
// no label, the second one comes after the first one.
func (w *world) checkIssues(of issueSource, issues []any) (keys []string) {
	w.t.Helper()
	tasks := w.issueTasks()
	if len(tasks) != len(issues) {
		w.t.Errorf("tasks by issue: %v", tasks)
	}
	for n, id := range issues {
		labels := []string{"agent", "shipped"}
		if n == len(issues)-1 {
			labels = labels[1:]
		}
		made, seen := tasks[fmt.Sprint(id)], of.read(id)
		slices.Sort(seen.labels)
		if len(made) != 1 || !seen.done || len(seen.comments) != 1 || !slices.Equal(seen.labels, labels) {
			w.t.Fatalf("%v has the tasks %v, and is %+v", id, made, seen)
		}
		if text := seen.comments[0]; !strings.Contains(text, made[0]) || !strings.Contains(text, "is done") {
			w.t.Errorf("the comment on %v: %s", id, text)
		}
		w.wantOnBase(fmt.Sprintf("part%d.txt", n+1), strconv.Itoa(n+1))
		keys = append(keys, made[0])
	}
	if blocked := w.task(keys[1]); len(blocked.After) != 1 || blocked.After[0] != keys[0] {
		w.t.Errorf("%s comes after %v, not after %s", blocked.Key, blocked.After, keys[0])
	}
	return keys
}
