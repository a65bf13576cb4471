//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"coppice"
	"coppice/agent"
	"coppice/api"
	"coppice/api/client"
	"coppice/test/harness"
)

// leadArg makes the test binary the tool calls of a lead: it starts a worker for each
// further argument, waits for all of them, starts another one for each that failed, and
// says that the goal is reached.
const leadArg = "lead"

func lead(tasks []string) error {
	id := func(task string) (string, error) {
		var out struct {
			ID string `json:"worker_id"`
		}
		err := callTool("spawn_worker", map[string]any{"task": task}, &out)
		return out.ID, err
	}
	var workers []string
	for _, task := range tasks {
		w, err := id(task)
		if err != nil {
			return err
		}
		workers = append(workers, w)
	}
	for n := 0; n < len(workers); n++ {
		var out struct {
			State string `json:"state"`
		}
		for out.State != "done" && out.State != "failed" {
			if err := callTool("wait_for_worker", map[string]any{"worker_id": workers[n]}, &out); err != nil {
				return err
			}
			fmt.Println(workers[n], out.State)
		}
		if out.State == "failed" {
			w, err := id(tasks[n] + ", with care")
			if err != nil {
				return err
			}
			workers, tasks = append(workers, w), append(tasks, "")
		}
	}
	return callTool("mark_goal_done", map[string]any{"summary": "All parts are written."}, &struct{}{})
}

// callTool calls a tool of the session. It tries again while the server is down.
func callTool(name string, args, out any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		text, err := postTool(ctx, body)
		if err == nil {
			fmt.Println(name, text)
			return json.Unmarshal([]byte(text), out)
		}
		var down errDown
		if !errors.As(err, &down) || harness.Tick(ctx) != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// errDown says that a tool could not be called at all.
type errDown struct{ error }

func postTool(ctx context.Context, body []byte) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv(agent.ToolsURLVar), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv(agent.TokenVar))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", errDown{err}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return "", errDown{fmt.Errorf("%s: %s %w", res.Status, b, err)}
	}
	var answer struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			IsError bool `json:"isError"`
		} `json:"result"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return "", fmt.Errorf("%s: %w", b, err)
	}
	if len(answer.Error) > 0 || answer.Result.IsError || len(answer.Result.Content) == 0 {
		return "", fmt.Errorf("the tool answered %s", b)
	}
	return answer.Result.Content[0].Text, nil
}

// afterEvents waits until the log has n more events.
func (w *world) afterEvents(n int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	err := w.client.FollowEvents(ctx, client.EventQuery{After: -1}, func(api.Event) error {
		if n--; n <= 0 {
			return errSeen
		}
		return nil
	}, nil)
	if !errors.Is(err, errSeen) {
		w.t.Fatalf("%d further events did not come: %v", n, err)
	}
}

// killedTwice kills the server at two moments that differ in each run, each after 1 to
// within events, and starts it again.
func (w *world) killedTwice(s *server, within int, first func()) {
	w.t.Helper()
	random := rand.Uint64()
	r := rand.New(rand.NewPCG(random, 0))
	w.t.Logf("seed %d", random)
	for n := range 2 {
		w.afterEvents(1 + r.IntN(within))
		s.Kill()
		if n == 0 && first != nil {
			first()
		}
		s = w.serve()
	}
}

// A goal has four workers: two of them conflict, and one fails and is replaced. The base
// moves, and the server is killed at two moments that differ in each run. The goal is
// verified on the merged work, lands one time, and leaves no branch.
func TestGoalOutlivesEverything(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, files{
		"coppice.yaml": strings.Replace(policy, "max: 3", "max: 1", 1),
		".coppice/scripted.yaml": fmt.Sprintf(`cases:
  - {match: 'You lead the work', role: answer, steps: [{run: '%s %s "Write part 1" "Write part 2" "Write part 3" "Write part 4"'}, {say: The workers are done.}]}
  - match: 'You verify the work'
    role: answer
    steps: [{run: 'test -f part1 -a -f part2 -a -f part3 -a -f part4 -a "$(cat shared)" = "2 and 3"'}, {say: '{"result": "pass", "findings": []}'}]
  - {match: 'Write part 4, with care', steps: [{write: {path: part4, content: "4\n"}}]}
  - {match: 'Write part 4', steps: [{fail: {class: implementation, text: it is too hard}}]}
  - {match: 'Write part [23]', role: fix, steps: [{merge: {resolve: {shared: "2 and 3\n"}}}]}
  - match: 'Write part ([23])'
    steps:
      - write: {path: part$1, content: "$1\n"}
      - write: {path: shared, content: "$1\n"}
      - run: 'mkdir -p "$HOME/here" && touch "$HOME/here/$1" && until test -f "$HOME/here/2" -a -f "$HOME/here/3"; do sleep 0.02; done'
  - {match: 'Write part 1', steps: [{write: {path: part1, content: "1\n"}}]}
`, self, leadArg)})
	s := w.serve()
	made := decode[api.Task](t, w.cli("goal", "Write all parts", "--no-wait", "--json"))
	w.killedTwice(s, 70, func() { // of about 230 events
		w.write(w.repo, files{"other": "by a person\n"})
		w.git("add", "other")
		w.git("commit", "-m", "Something else")
	})
	d := w.landed(made.Key)[0]
	for name, text := range map[string]string{"part1": "1", "part2": "2", "part3": "3", "part4": "4", "shared": "2 and 3", "other": "by a person"} {
		w.wantOnBase(name, text)
	}
	f := w.flow(made.Key)
	states := map[string]string{}
	for _, step := range f.Steps {
		states[step.Key] = string(step.State)
	}
	for key, state := range map[string]string{"lead": "done", "w1": "done", "w2": "done", "w3": "done", "w4": "failed", "w5": "done", "verify-1": "done"} {
		if states[key] != state {
			t.Errorf("the step %s is %q, want %s", key, states[key], state)
		}
	}
	landed := 0
	for _, o := range outcomes(d) {
		if o == coppice.LandingLanded {
			landed++
		}
	}
	if len(f.Steps) != 7 || landed != 1 || d.Landed != w.git("rev-parse", "main") {
		t.Errorf("%d steps, %d landings, %s landed and main is %s; want 7 steps and one landing at the tip", len(f.Steps), landed, d.Landed, w.git("rev-parse", "main"))
	}
	w.await(made.Key, "the removal of its branch", func(api.TaskDetail) bool { return w.git("for-each-ref", "refs/heads/coppice") == "" })
	w.checkRepository()
}
