package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/api/client"
)

const (
	manySessions = 200
	manyBeat     = 200 * time.Millisecond // between two lines of one session
	manyRate     = 60                     // requests a second to the busy server
	manyFor      = 40 * time.Second
)

// manyPaths are what is asked for in turn, as a dashboard and a few people at
// their terminals do.
var manyPaths = []string{"/api/v1/status", "/api/v1/tasks?limit=200", "/api/v1/tasks/{key}", "/healthz"}

// manyRows measures answers while many sessions write, beside the same answers
// of an idle server.
func manyRows(ctx context.Context, l *lab) ([]row, error) {
	given := func(socket string) map[string]string {
		return map[string]string{"coppice.yaml": fmt.Sprintf(beating, manySessions, "100%", l.probe, socket, manyBeat)}
	}
	busy, err := l.benchOf(ctx, 20, given)
	if err != nil {
		return nil, err
	}
	defer busy.close()
	idle, err := l.benchOf(ctx, 20, given)
	if err != nil {
		return nil, err
	}
	defer idle.close()
	if _, err := idle.client.Pause(ctx, idle.project, "", true); err != nil {
		return nil, err
	}
	// One task, so that both have all paths. The one that has ended shows how little
	// memory its agent needs: the others start at once.
	if err := idle.post(ctx, 1); err != nil {
		return nil, err
	}
	first, _, err := busy.begin(ctx)
	if err != nil {
		return nil, err
	}
	first.release()
	if _, err := busy.log.wait(ctx, coppice.EventTaskEnded, 1); err != nil {
		return nil, err
	}
	if err := busy.post(ctx, manySessions); err != nil {
		return nil, err
	}
	for range manySessions {
		if _, err := busy.probes.next(ctx); err != nil {
			return nil, err
		}
	}
	took, err := inTurns(ctx, busy, idle)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, path := range manyPaths {
		ours, baseline := took[path][0], took[path][1]
		r := row{
			Figure: fmt.Sprintf("GET %s, %d live sessions, p99", path, manySessions), Ours: ours.quantile(0.99), Beside: "an idle server", Baseline: baseline.quantile(0.99),
			Unit: "ms", N: len(ours), Samples: sampled(ours, baseline),
			More: map[string]float64{"ours_median": ours.median(), "baseline_median": baseline.median()},
		}
		if path == manyPaths[0] || path == manyPaths[1] {
			rows = append(rows, r.judge(goal{ratioMost, 3}))
		} else {
			rows = append(rows, r.judge(goal{}))
		}
	}
	return rows, nil
}

// inTurns asks servers for all paths at a steady pace, one server right after
// the other, and returns what each answer took, by path and server.
func inTurns(ctx context.Context, servers ...*bench) (map[string][]samples, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	took := map[string][]samples{}
	ctx, cancel := context.WithTimeout(ctx, manyFor)
	defer cancel()
	for _, path := range manyPaths {
		took[path] = make([]samples, len(servers))
		wg.Go(func() {
			t := time.NewTicker(time.Second * time.Duration(len(manyPaths)) / manyRate)
			defer t.Stop()
			for {
				select {
				case <-t.C:
				case <-ctx.Done():
					return
				}
				for i, s := range servers {
					ms, err := s.timed(context.WithoutCancel(ctx), strings.Replace(path, "{key}", coppice.TaskKey(s.project, 1), 1))
					mu.Lock()
					if took[path][i] = append(took[path][i], ms); err != nil {
						failed = err
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return took, failed
}

// timed asks for a path and returns how many milliseconds the whole answer took.
// Nobody decodes it: that is the caller's time.
func (s *server) timed(ctx context.Context, path string) (float64, error) {
	began := time.Now()
	_, err := s.get(ctx, path)
	return millis(time.Since(began)), err
}

// get returns the answer for a path.
func (s *server) get(ctx context.Context, path string) (string, error) {
	e, token, err := client.ReadEndpoint(s.state)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+path, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return string(body), err
}
