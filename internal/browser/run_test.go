//go:build linux

package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// The test binary also acts as the browser command, the tool server and Chromium.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "run":
			os.Exit(runRun(os.Args[2:]))
		case "serve":
			os.Exit(runServer(os.Args[2:]))
		case "stay":
			signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
			stay()
		}
	}
	goleak.VerifyTestMain(m)
}

// runRun runs a browser in the directory; pictures are kept there.
func runRun(args []string) int {
	dir, mode := args[0], args[1]
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	n := 0
	code, err := Run(ctx, Config{
		Found:    Found{Chromium: "/bin/chromium", Server: []string{os.Args[0], "serve", mode}},
		Profiles: filepath.Join(dir, "browser"), Environ: os.Environ(), Root: mode == "root",
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Grace: 100 * time.Millisecond,
		Keep: func(_ context.Context, picture []byte) error {
			n++
			return os.WriteFile(filepath.Join(dir, fmt.Sprintf("kept-%d", n)), picture, 0o600)
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 70
	}
	return code
}

// report is what the tool server writes about itself in its first line.
type report struct {
	Args, Env []string
	PID       int
	Child     int // that of a browser that went away from its parent
}

func runServer(args []string) int {
	if args[0] == "fail" {
		fmt.Fprintln(os.Stderr, "no such package")
		return 3
	}
	child := exec.Command(os.Args[0], "stay")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return 1
	}
	line, _ := json.Marshal(report{Args: args[1:], Env: os.Environ(), PID: os.Getpid(), Child: child.Process.Pid})
	fmt.Printf("%s\n", line)
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		fmt.Print(line)
	}
	if args[0] == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
		stay()
	}
	return 0
}

// stay never returns. An empty select would: the runtime ends a program in which
// nothing can happen any more.
func stay() {
	for {
		_, _ = unix.Poll(nil, -1)
	}
}

// running is a browser that runs.
type running struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
	first report
}

func begin(t *testing.T, mode string) *running {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, dir: t.TempDir()}
	r.cmd = exec.Command(self, "run", r.dir, mode)
	r.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "SECRET_KEY=hidden", "COPPICE_TOKEN=hidden", "LC_ALL=C", "npm_config_cache=/x", "COPPICE_SESSION_ID=mark"}
	r.cmd.Stderr = os.Stderr
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	if mode != "fail" {
		if err := json.Unmarshal([]byte(r.line()), &r.first); err != nil {
			t.Fatal(err)
		}
		for _, pid := range []int{r.first.PID, r.first.Child} {
			if !lives(pid) {
				t.Fatalf("process %d does not run: its end would prove nothing", pid)
			}
		}
	}
	return r
}

func (r *running) line() string {
	r.t.Helper()
	s, err := r.out.ReadString('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// ended waits for the end, after which nothing is left.
func (r *running) ended() int {
	r.t.Helper()
	if _, err := io.Copy(io.Discard, r.out); err != nil {
		r.t.Fatal(err)
	}
	_ = r.cmd.Wait() // the state says how it ended
	for _, pid := range []int{r.first.PID, r.first.Child} {
		if pid != 0 && lives(pid) {
			r.t.Errorf("process %d is left", pid)
		}
	}
	if left, err := os.ReadDir(filepath.Join(r.dir, "browser")); err != nil || len(left) != 0 {
		r.t.Errorf("the profile is left: %v, %v", left, err)
	}
	return r.cmd.ProcessState.ExitCode()
}

// lives reports whether a process runs. A zombie does not.
func lives(pid int) bool {
	if unix.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func TestRun(t *testing.T) {
	t.Parallel()
	r := begin(t, "plain")
	profile := ""
	for _, a := range r.first.Args {
		if p, ok := strings.CutPrefix(a, "--userDataDir="); ok {
			profile = p
		}
	}
	if info, err := os.Stat(profile); err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(profile) != filepath.Join(r.dir, "browser") {
		t.Errorf("the profile is %q: %v", profile, err)
	}
	for _, want := range []string{"--headless", "--executablePath=/bin/chromium", "--no-usage-statistics"} {
		if !slices.Contains(r.first.Args, want) {
			t.Errorf("%s is missing in %q", want, r.first.Args)
		}
	}
	if slices.ContainsFunc(r.first.Args, func(a string) bool { return strings.Contains(a, "sandbox") }) {
		t.Errorf("no sandbox: %q", r.first.Args)
	}
	env := strings.Join(r.first.Env, "\n")
	for _, want := range []string{"HOME=" + r.dir, "LC_ALL=C", "npm_config_cache=/x", "COPPICE_SESSION_ID=mark", "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS=1", "CHROME_CONFIG_HOME=" + profile} {
		if !slices.Contains(r.first.Env, want) {
			t.Errorf("%s is missing in its environment:\n%s", want, env)
		}
	}
	if strings.Contains(env, "hidden") {
		t.Errorf("it has a secret:\n%s", env)
	}
	line := `{"id":1,"result":{"content":[` + image("a picture") + `]}}` + "\n"
	if _, err := io.WriteString(r.stdin, line); err != nil {
		t.Fatal(err)
	}
	if got := r.line(); got != line {
		t.Errorf("passed %q", got)
	}
	// It is kept before the agent sees the answer.
	if got, err := os.ReadFile(filepath.Join(r.dir, "kept-1")); err != nil || string(got) != "a picture" {
		t.Errorf("kept %q: %v", got, err)
	}
	r.stdin.Close()
	if code := r.ended(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestRootHasNoSandbox(t *testing.T) {
	t.Parallel()
	r := begin(t, "root")
	if !slices.Contains(r.first.Args, "--chromeArg=--no-sandbox") {
		t.Errorf("it is started with %q", r.first.Args)
	}
	r.stdin.Close()
	r.ended()
}

func TestTwoBrowsersHaveTwoProfiles(t *testing.T) {
	t.Parallel()
	a, b := begin(t, "plain"), begin(t, "plain")
	if a.first.Args[1] == b.first.Args[1] {
		t.Errorf("both have %s", a.first.Args[1])
	}
	a.stdin.Close()
	b.stdin.Close()
	a.ended()
	b.ended()
}

func TestAStubbornServerIsEnded(t *testing.T) {
	t.Parallel()
	r := begin(t, "stubborn")
	r.stdin.Close()
	r.ended()
}

func TestAStopEndsIt(t *testing.T) {
	t.Parallel()
	r := begin(t, "stubborn")
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.ended()
}

func TestAServerThatFails(t *testing.T) {
	t.Parallel()
	r := begin(t, "fail")
	if code := r.ended(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}
