//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/client"
	"coppice/host"
)

const chaosTasks = 50

const chaosPolicy = `base: main
agent: {use: scripted}
limits: {sessions: 10, memory: 100%}
retry: {max: 50, recoveries: 1000, backoff: 100ms}
verify: {attempts: 10}
checks: [sh check.sh]
`

// chaosCheck passes on a tree where every part is whole and the shared file is
// one number.
const chaosCheck = `set -e
for f in parts/*; do [ ! -e "$f" ] || [ "$(cat "$f")" = "ok ${f#parts/}" ] || { echo "$f is broken"; exit 1; }; done
grep -qxE '[0-9]+' shared && [ "$(wc -l < shared)" -eq 1 ] || { echo "shared is broken"; exit 1; }
`

// chaosScript has one case for each kind of task. A session may be killed at
// any step, and the next one begins again in what it left behind.
func chaosScript() (script string, texts []string) {
	talk, texts := talkative(20, 20000, "50ms")
	return `cases:
  - match: "Task app-(\\d+): Flood"
    steps:
` + talk + `      - write: {path: parts/$1, content: "ok $1\n"}
      - commit: Part $1
  - match: "Task app-(\\d+): Commit"
    steps:
      - write: {path: notes/$1, content: "first\n"}
      - commit: Note $1
      - sleep: 500ms
      - append: {path: notes/$1, content: "second\n"}
      - commit: More of note $1
      - sleep: 500ms
      - write: {path: parts/$1, content: "ok $1\n"}
      - commit: Part $1
  - match: "Task app-(\\d+): Break"
    role: implement
    steps:
      - write: {path: parts/$1, content: "broken\n"}
      - sleep: 400ms
      - commit: Part $1
  - match: "Task app-(\\d+): Break"
    role: fix
    steps:
      - sleep: 300ms
      - write: {path: parts/$1, content: "ok $1\n"}
  - match: "Task app-(\\d+): Share"
    role: implement
    steps:
      - write: {path: shared, content: "$1\n"}
      - commit: Share $1
      - sleep: 800ms
  - match: "Task app-(\\d+): Share"
    role: fix
    steps:
      - merge: {resolve: {shared: "$1\n"}}
      - write: {path: shared, content: "$1\n"}
      - commit: Share $1 after all
`, texts
}

func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: go test ./test/e2e -run TestChaos -seed %d", s, s)
	script, said := chaosScript()
	w := newWorld(t, files{"coppice.yaml": chaosPolicy, "check.sh": chaosCheck, "shared": "0\n", ".coppice/scripted.yaml": script})
	w.serve()
	keys := w.create(chaosTaskList()...)

	k := &killer{w: w, r: rand.New(rand.NewPCG(s, s)), ends: map[int64]int64{}}
	ctx, cancel := context.WithTimeout(t.Context(), *chaosFor)
	going, giveUp := context.WithTimeout(t.Context(), *chaosFor+patience)
	defer giveUp()
	var killing sync.WaitGroup
	killing.Go(func() {
		if k.run(ctx); k.err != nil {
			giveUp()
		}
	})
	left := w.allEnded(going, keys)
	cancel()
	killing.Wait()
	t.Logf("killed: server %d times, hosts %d, agents %d", k.servers, k.hosts, k.agents)
	if k.err != nil {
		t.Fatal(k.err)
	}
	for _, key := range left {
		t.Fatalf("%d tasks have not ended; %s:\n%s", len(left), key, w.story(key))
	}

	for _, key := range keys {
		d := w.task(key)
		if d.Outcome != coppice.OutcomeDone || d.Landed == "" {
			t.Errorf("%s ended as %s: %v\n%s", key, d.Outcome, d.Failure, w.story(key))
		}
	}
	if t.Failed() {
		return
	}
	w.allCleaned(keys)
	w.checkIdle(0)
	if code := w.Server().Stop(t); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
	for _, p := range w.Processes() {
		t.Errorf("left running: %d %q", p.PID, p.Argv)
	}
	w.checkBase(keys)
	w.checkOutput(k.ends, said)
	w.checkLeftovers()
}

func chaosTaskList() []coppice.NewTask {
	var tasks []coppice.NewTask
	for i := range chaosTasks {
		kind := []string{"Flood", "Commit", "Break", "Commit", "Flood", "Share"}[i%6]
		tasks = append(tasks, coppice.NewTask{Title: fmt.Sprintf("%s %d", kind, i)})
	}
	return tasks
}

// allEnded follows the log until every task has ended, and returns those that
// have not.
func (w *world) allEnded(ctx context.Context, keys []string) []string {
	left := map[string]bool{}
	for _, key := range keys {
		left[key] = true
	}
	err := w.client.FollowEvents(ctx, client.EventQuery{After: 0}, func(e api.Event) error {
		if e.Kind == coppice.EventTaskEnded {
			delete(left, e.Subject)
		}
		if len(left) == 0 {
			return errSeen
		}
		return nil
	}, nil)
	if !errors.Is(err, errSeen) {
		w.t.Log(err)
	}
	return slices.Sorted(maps.Keys(left))
}

// killer kills at random until it is stopped. The server is always
// started again.
type killer struct {
	w                      *world
	r                      *rand.Rand
	ends                   map[int64]int64 // where the spools of killed hosts end, by session
	servers, hosts, agents int
	err                    error
}

func (k *killer) run(ctx context.Context) {
	for {
		timer := time.NewTimer(time.Duration(100+k.r.IntN(400)) * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		switch n := k.r.IntN(10); {
		case n < 2:
			k.server()
		case n < 5:
			k.victim(func(p proc) bool { _, ok := p.IsHost(); return ok }, k.host)
		default:
			k.victim(proc.IsAgent, func(p proc) {
				if p.Kill() {
					k.agents++
				}
			})
		}
		if k.err != nil {
			return
		}
	}
}

func (k *killer) server() {
	k.w.Server().Kill()
	k.servers++
	s, err := k.w.StartServer()
	if err != nil {
		k.err = err
		return
	}
	k.w.SetServer(s)
}

func (k *killer) victim(fits func(proc) bool, kill func(proc)) {
	var found []proc
	for _, p := range k.w.Processes() {
		if fits(p) {
			found = append(found, p)
		}
	}
	if len(found) > 0 {
		kill(found[k.r.IntN(len(found))])
	}
}

// host notes where the spool ends before the host dies, so that it is known
// what the store must have.
func (k *killer) host(p proc) {
	dir, _ := p.IsHost()
	id, err := strconv.ParseInt(filepath.Base(dir), 10, 64)
	if err != nil {
		k.err = err
		return
	}
	end, known := int64(0), false
	killed := p.KillAfter(func() {
		if p.Freeze(k.w.t.Context()) == nil {
			end, known = spoolEnd(dir)
			// One that has not begun is started again, and one of two that were
			// started waits for the other: only the one that wrote the state writes
			// the spool.
			_, st, _, err := host.Inspect(dir)
			known = known && err == nil && st.PID == p.PID
		}
	})
	if killed {
		k.hosts++
	}
	if killed && known {
		k.ends[id] = end
	}
}

// spoolEnd returns the end of a spool. A segment is named by the offset of its
// first byte.
func spoolEnd(dir string) (int64, bool) {
	segments, err := filepath.Glob(filepath.Join(dir, "spool", "*.seg"))
	if err != nil || len(segments) == 0 {
		return 0, false
	}
	newest := last(segments)
	start, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(newest), ".seg"), 10, 64)
	if err != nil {
		return 0, false
	}
	st, err := os.Stat(newest)
	if err != nil {
		return 0, false
	}
	return start + st.Size(), true
}
