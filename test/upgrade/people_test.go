//go:build upgrade && linux

package upgrade

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/api"
	"coppice/test/forges"
	"coppice/test/harness"
)

// notifyConfig is the user's configuration: a notifier that fails until a file exists, and
// one whose messages wait for some hours.
const notifyConfig = `notify:
  notifiers:
    phone: {kind: program, run: 'test -e ROOT/accept && cat >> ROOT/messages'}
    later: {kind: program, run: 'cat >> ROOT/later'}
  routes:
    - {to: [phone], projects: [notices], kinds: [question]}
    - {to: [later], projects: [notices], kinds: [question], hours: "HOURS"}
`

// noticeScript is the script of the project whose questions are sent to people.
const noticeScript = `cases:
  - {match: 'Ask at the end', steps: [{wait_message: true}, {ask: Which size?}, {write: {path: size.txt, content: "${answer}\n"}}]}
`

// issueScript is the script of the project whose tasks are issues.
const issueScript = `cases:
  - {match: 'Do the issue', steps: [{wait_message: true}, {write: {path: issue.txt, content: "issue\n"}}]}
  - {match: 'Do the waiting issue', steps: [{write: {path: waiting.txt, content: "waiting\n"}}]}
`

// knowsCommand reports whether a program has a command.
func knowsCommand(t *testing.T, program, command string) bool {
	cmd := exec.CommandContext(t.Context(), program, command, "--help")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	return cmd.Run() == nil
}

// openIssues files two issues, of which one task can be active. It is called before the
// machine exists, which ends before the tracker then.
func openIssues(t *testing.T) (team *forges.LinearTeam, token string) {
	t.Helper()
	server := forges.StartLinear(t, []string{"ENG"}, forges.Owner, forges.Writer)
	team = server.Team(t, "ENG")
	first := team.Create(forges.Owner, "Do the issue", "", "agent")
	team.Block(team.Create(forges.Owner, "Do the waiting issue", "", "agent"), first)
	return team, server.Token(forges.Writer)
}

// addPeople adds the notifiers of the user, and the tracker, as far as the old program
// knows them.
func (w *world) addPeople() {
	w.T.Helper()
	if w.notifies {
		hour := func(d time.Duration) string { return time.Now().Add(d).Format("15:04") }
		dir := filepath.Join(w.Home, ".config", "coppice")
		text := strings.ReplaceAll(strings.ReplaceAll(notifyConfig, "ROOT", w.Root), "HOURS", hour(2*time.Hour)+"-"+hour(3*time.Hour))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			w.T.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
			w.T.Fatal(err)
		}
		w.projects = append(w.projects, "notices")
		w.NewRepo("notices", harness.Files{"coppice.yaml": policy, ".coppice/scripted.yaml": noticeScript})
	}
	if w.team != nil {
		w.projects = append(w.projects, "issues")
		tracker := fmt.Sprintf("trust: unsandboxed\ntracker: {kind: linear, team: ENG, url: %s, every: 10s, active: 1, import: {labels: [agent]}}\n", w.team.API)
		dir := w.NewRepo("issues", harness.Files{"coppice.yaml": policy + tracker, ".coppice/scripted.yaml": issueScript})
		if r := w.Try(dir, w.token+"\n", "secret", "set", "LINEAR_API_KEY"); r.Code != 0 {
			w.T.Fatal(r.Err)
		}
	}
	w.parts = slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
		return p.in == "notices" && !w.notifies || p.in == "issues" && w.team == nil
	})
}

// message waits until the newest message of the notifier phone is in a state, and returns it.
func (w *world) message(state string) api.Notification {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), harness.Patience)
	defer cancel()
	for {
		page := decode[api.NotificationPage](w.T, w.cli("notify", "log", "--notifier", "phone", "--json"))
		if len(page.Notifications) == 1 && page.Notifications[0].State == state {
			return page.Notifications[0]
		}
		if harness.Tick(ctx) != nil {
			w.T.Fatalf("no message is %s: %+v", state, page.Notifications)
		}
	}
}

// leavesMessage has a task ask a question, of which no message is accepted.
func leavesMessage(w *world, key string) {
	w.T.Helper()
	w.cli("send", key, "continue")
	w.await(key, "its question", asks)
	w.message("retrying")
}

// receivesMessage expects the message that the old server could not send, and then answers the
// question.
func receivesMessage(w *world, key string) {
	w.T.Helper()
	if l := decode[api.NotifierList](w.T, w.cli("notify", "--json")); !l.Waiting || len(l.Notifiers) != 2 {
		w.T.Errorf("no notice waits for its hours: %+v", l)
	}
	m := w.message("sent")
	text, err := os.ReadFile(filepath.Join(w.Root, "messages"))
	if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), m.ID) || !strings.Contains(string(text), "Which size?") {
		w.T.Errorf("the message %+v arrived as %q: %v", m, text, err)
	}
	w.cli("answer", key, "large")
}

// checkIssues waits until both issues are closed. The second one had no task before.
func (w *world) checkIssues() {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), harness.Patience)
	defer cancel()
	for {
		page := decode[api.Issues](w.T, w.cliIn("issues", "issues", "list", "--ended", "--json"))
		done := 0
		for _, i := range page.Issues {
			if i.Status == coppice.IssueDone && !i.EndedAt.IsZero() {
				done++
			}
		}
		if done == 2 && len(page.Issues) == 2 {
			return
		}
		if harness.Tick(ctx) != nil {
			w.T.Fatalf("the issues are not done: %+v", page.Issues)
		}
	}
}
