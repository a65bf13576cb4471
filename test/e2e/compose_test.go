//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/test/docker"
	"coppice/test/ports"
)

// A project whose commands run in a compose service: setup, the agent's own
// commands, the served app and the checks run in the container. A service that does
// not run is a failure of the environment, which pauses the track. The task lands when
// the service runs again and a person resumes the track.
func TestAComposeProject(t *testing.T) {
	t.Parallel()
	ports.Alone(t, "app")
	engine := docker.Start(t)
	inside := "grep -qx " + docker.Inside + " " + docker.Where
	w := newWorld(t, files{
		"coppice.yaml": policy + `checks: ["` + inside + ` && cat made.txt"]
workspace:
  docker: {service: app}
  setup: ["cp ` + docker.Where + ` setup.log"]
  serve: {run: "` + inside + ` && exec httpd -f -p 127.0.0.1:$COPPICE_PORT"}
`,
		".gitignore": "*.log\n",
		".coppice/scripted.yaml": `cases:
  - match: A page
    steps:
      - {run: "./.coppice/run 'cat ` + docker.Where + ` setup.log > made.txt'"}
      - {write: {path: page.html, content: "hello\n"}}
      - {wait_message: true}
  - {match: "", steps: [{write: {path: made.txt, content: "made again\n"}}]}
`})
	spaces := filepath.Join(w.State, "workspaces")
	if err := os.MkdirAll(spaces, 0o700); err != nil { // otherwise the engine creates it
		t.Fatal(err)
	}
	w.write(w.repo, files{"compose.yaml": fmt.Sprintf(`services:
  app: {image: %s, network_mode: host, stop_signal: SIGKILL, command: sleep 1000000, volumes: ["%s:%s"]}
`, docker.Image, spaces, spaces)})
	w.git("add", "compose.yaml")
	w.git("commit", "--quiet", "--message=Compose")
	engine.Compose(w.repo, "up", "--detach", "app")
	w.Extra = append(w.Extra, engine.Env[len(engine.Env)-1])
	w.serve()

	page := w.new("A page")
	w.working(page, coppice.SessionIdle)
	opens(t, w.cli("preview", page))
	w.cli("send", page, "continue")
	d := w.landed(page)[0]
	w.wantOnBase("made.txt", docker.Inside+"\n"+docker.Inside)
	if n := len(d.CheckRuns); n != 1 || !strings.Contains(d.CheckRuns[0].Log, docker.Inside) {
		t.Errorf("checks %+v", d.CheckRuns)
	}

	engine.Compose(w.repo, "stop", "app")
	other := w.new("Another")
	w.await(other, "a paused track", func(d api.TaskDetail) bool {
		return strings.Contains(d.Reason, "2 environment failures in a row, the last: the compose service app cannot be used")
	})
	engine.Compose(w.repo, "start", "app")
	w.cli("project", "resume", "app", "--track", "main")
	w.landed(other)
	w.wantOnBase("made.txt", "made again")
}
