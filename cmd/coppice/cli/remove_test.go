package cli_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/api/client"
	"coppice/api/http"
	"coppice/cmd/coppice/cli"
	"coppice/store/sqlite"
	"coppice/store/sqlite/sqlitetest"
)

// removing is a shell whose server removes projects immediately, and has a
// fixed disk usage.
func removing(t *testing.T) *shell {
	t.Helper()
	s := sqlitetest.Open(t, sqlite.Config{})
	sh := &shell{}
	sh.Bundle = apitest.Start(t, s, func(c *http.Config) {
		c.Remove = func(ctx context.Context, prefix string, how coppice.Remove) ([]api.Left, error) {
			p, err := sh.Intake.RemoveProject(ctx, prefix, how)
			for more := err == nil; more && err == nil; {
				more, err = sh.Intake.Forget(ctx, p, 100)
			}
			if err != nil || how.Purge {
				return nil, err
			}
			return []api.Left{{What: "workspaces", Path: "/state/workspaces/1"}}, nil
		}
		c.Disk = func(_ context.Context, within time.Duration) (api.Disk, error) {
			return api.Disk{
				Partial: true, Total: 3 << 30, Free: 5 << 30, State: "/state",
				Projects: []api.DiskProject{{Prefix: "app", Total: 2 << 30, Parts: []api.DiskPart{
					{What: "workspaces", Path: "/state/workspaces/1", Bytes: 2 << 30, Files: 12345, Partial: true},
					{What: "output", Path: "/state/coppice.db", Bytes: 300 << 20, Within: "database"},
				}}},
				Server: []api.DiskPart{{What: "database", Path: "/state/coppice.db", Bytes: int64(within), Files: 3}},
			}, nil
		}
	})
	sh.env = cli.Env{
		Client: func() (*client.Client, error) { return client.At(sh.Server.URL(), apitest.Token) },
		Dir:    "/src/app", Now: sh.Clock.Now,
	}
	return sh
}

func TestProjectRemove(t *testing.T) {
	t.Parallel()
	s := removing(t)
	s.Project("/src/app")
	s.Task("app", coppice.NewTask{Title: "one"})
	if code, _, errs := s.run("", "project", "remove", "app"); code != 2 || !strings.Contains(errs, "--yes") {
		t.Errorf("nobody to ask: %d, %s", code, errs)
	}
	if code, _, errs := s.run("", "project", "remove", "app", "--yes"); code != 1 || !strings.Contains(errs, "app has 1 task that has not ended: app-1") {
		t.Errorf("with an open task: %d, %s", code, errs)
	}
	s.Change("app-1", func(k *coppice.Task) { k.Stage, k.Outcome, k.Wait = coppice.StageEnded, coppice.OutcomeDone, nil })
	s.env.Asks = true
	for _, no := range []string{"n\n", "\n", ""} {
		if code, out, errs := s.run(no, "project", "remove", "app", "--purge"); code != 1 || !strings.Contains(out, "Forget app (/src/app) with its 1 task, and remove its workspaces, trash and branches? [y/N]") || !strings.Contains(errs, "nothing was removed") {
			t.Errorf("%q: %d, %s%s", no, code, out, errs)
		}
	}
	code, out, errs := s.run("y\n", "project", "remove", "app")
	if code != 0 || !strings.Contains(out, "removed app; /src/app was not changed\nNot removed:\n  workspaces: /state/workspaces/1\n") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
	if code, _, _ := s.run("", "project", "remove", "app", "--yes"); code != 1 {
		t.Errorf("once more: %d", code)
	}
	s.Project("/src/app")
	if code, out, _ := s.run("", "project", "remove", "app", "--yes", "--purge", "--json"); code != 0 || !strings.Contains(out, `"left": []`) {
		t.Errorf("as JSON: %d, %s", code, out)
	}
}

func TestStatusDisk(t *testing.T) {
	t.Parallel()
	s := removing(t)
	s.golden(t, "status-disk", "status", "--disk", "--within", "20")
	if code, out, _ := s.run("", "status", "--disk", "--json"); code != 0 || !strings.Contains(out, `"within": "database"`) {
		t.Errorf("as JSON: %d, %s", code, out)
	}
	for _, wrong := range []string{"--within=5", "--disk --within=0", "--disk --within=51", "--disk --project=app"} {
		if code, _, errs := s.run("", slices.Concat([]string{"status"}, strings.Fields(wrong))...); code != 2 || errs == "" {
			t.Errorf("%s: %d, %s", wrong, code, errs)
		}
	}
}
