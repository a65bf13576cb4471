//go:build linux

// Package forges starts a real Gitea for tests. test/forges/install.sh builds it.
package forges

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coppice/internal/filelock"
)

const (
	version  = "1.24.6"         // as in install.sh
	longest  = 15 * time.Minute // that a build takes
	password = "not-a-secret-1"
)

// Server is the Gitea of a test process. It listens on loopback, and runs as a plain
// user if the tests run as root.
type Server struct {
	URL string // without a slash at the end

	dir, binary string
	credential  *syscall.Credential
	stop        func()

	users map[string]string // the token of each
}

// shared is the Gitea of this process.
var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// Run runs the tests of a package, and stops the Gitea that they have started. It
// belongs into TestMain.
func Run(m *testing.M) int {
	defer Stop()
	return m.Run()
}

// Stop stops the Gitea of this process, if there is one.
func Stop() {
	if s := shared.server; s != nil {
		s.stop()
	}
}

// Gitea returns the Gitea of this test process. It waits for a build that still
// runs. In CI the test fails where there is no Gitea, elsewhere it is skipped.
func Gitea(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = start()
	}
	if shared.err == nil {
		return shared.server
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(shared.err)
	}
	t.Skip(shared.err)
	return nil
}

// installed returns the path of the program.
func installed() (string, error) {
	dir := os.Getenv("COPPICE_TEST_CACHE")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(cache, "coppice-test")
	}
	dir = filepath.Join(dir, "forges", "gitea-"+version)
	path, stamp := filepath.Join(dir, "gitea"), filepath.Join(dir, "installed")
	if _, err := os.Stat(stamp); err == nil {
		return path, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	if _, err := os.Stat(dir); err != nil {
		return "", errors.New("Gitea is not built; run test/forges/install.sh")
	}
	lock, err := filelock.Wait(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return "", fmt.Errorf("the build of Gitea does not end: %w", err)
	}
	filelock.Release(lock)
	if _, err := os.Stat(stamp); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "build.log"))
		return "", fmt.Errorf("Gitea could not be built; run test/forges/install.sh:\n%s", log[max(0, len(log)-2000):])
	}
	return path, nil
}

func start() (*Server, error) {
	binary, err := installed()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gitea-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, users: map[string]string{}}
	s.stop = func() { os.RemoveAll(dir) }
	if err = s.prepare(binary); err == nil {
		err = s.serve()
	}
	for _, name := range []string{Owner, Writer, Stranger, Bot} {
		if err == nil {
			err = s.createUser(name)
		}
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// prepare makes the directory of the plain user. The cache might be in a directory
// that this user cannot read, so the program gets a second name in its own.
func (s *Server) prepare(binary string) error {
	s.binary = filepath.Join(s.dir, "gitea")
	if err := os.Link(binary, s.binary); err != nil {
		if err := copyFile(binary, s.binary); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(s.dir, "home"), 0o700); err != nil {
		return err
	}
	if os.Getuid() != 0 {
		return nil
	}
	plain, err := user.Lookup("nobody")
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(plain.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(plain.Gid)
	if err != nil {
		return err
	}
	s.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(filepath.Join(s.dir, "home"), uid, gid); err != nil {
		return err
	}
	return os.Chown(s.dir, uid, gid)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// config turns off what tests do not need, and what would leave this machine.
const config = `APP_NAME = tests
RUN_MODE = prod
WORK_PATH = %[1]s
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[2]d
ROOT_URL = %[3]s/
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
PATH = %[1]s/gitea.db
SQLITE_JOURNAL_MODE = WAL
SQLITE_TIMEOUT = 60000
[security]
INSTALL_LOCK = true
SECRET_KEY = tests
INTERNAL_TOKEN = tests
PASSWORD_HASH_ALGO = pbkdf2$2$8
[service]
DISABLE_REGISTRATION = true
[webhook]
ALLOWED_HOST_LIST = loopback
DELIVER_TIMEOUT = 5
[log]
MODE = console
LEVEL = error
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[actions]
ENABLED = false
[oauth2]
ENABLED = false
[picture]
DISABLE_GRAVATAR = true
[session]
PROVIDER = memory
[repository]
DEFAULT_BRANCH = main
[ui]
DEFAULT_THEME = gitea-auto
`

// serve starts Gitea and returns when it listens.
func (s *Server) serve() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	s.URL = fmt.Sprintf("http://127.0.0.1:%d", port)
	// Gitea reports that it listens on a socket, as to systemd.
	notify := &net.UnixAddr{Name: filepath.Join(s.dir, "notify"), Net: "unixgram"}
	ready, err := net.ListenUnixgram("unixgram", notify)
	if err != nil {
		return err
	}
	defer ready.Close()
	ini := filepath.Join(s.dir, "app.ini")
	if err := os.WriteFile(ini, fmt.Appendf(nil, config, s.dir, port, s.URL), 0o644); err != nil {
		return err
	}
	if c := s.credential; c != nil {
		if err := errors.Join(os.Chown(ini, int(c.Uid), int(c.Gid)), os.Chown(notify.Name, int(c.Uid), int(c.Gid))); err != nil {
			return err
		}
	}
	cmd := s.command("web")
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+notify.Name)
	var log lockedBuilder
	cmd.Stdout, cmd.Stderr = &log, &log
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // Gitea ends with this thread, also if the tests are killed
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log says why it ended if nobody has asked for it
			ready.Close()  // nothing will be reported any more
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	remove := s.stop
	s.stop = func() {
		_ = cmd.Process.Kill() // it might have ended
		<-ended
		remove()
	}
	if err := waitReady(ready); err != nil {
		return fmt.Errorf("Gitea does not start: %w\n%s", err, log.String())
	}
	return nil
}

// waitReady reads messages until one says that Gitea listens.
func waitReady(c *net.UnixConn) error {
	if err := c.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return err
	}
	for message := make([]byte, 1<<10); ; {
		n, err := c.Read(message)
		if err != nil {
			return err
		}
		if strings.Contains(string(message[:n]), "READY=1") {
			return nil
		}
	}
}

// freePort returns a port of loopback on which nobody listens.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// lockedBuilder is what Gitea logs.
type lockedBuilder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedBuilder) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedBuilder) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// command returns a command of Gitea that runs as the plain user.
func (s *Server) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.binary, append([]string{"--work-path", s.dir, "--config", filepath.Join(s.dir, "app.ini")}, args...)...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home"), "USER=nobody", "TMPDIR=" + s.dir, "GIT_CONFIG_NOSYSTEM=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: s.credential}
	return cmd
}

// createUser creates a user with a token. The command writes to the database of the
// server, so it runs before any test does.
func (s *Server) createUser(name string) error {
	out, err := s.command("admin", "user", "create", "--username", name, "--password", password, "--email", name+"@example.org",
		"--must-change-password=false", "--access-token", "--access-token-name", "tests", "--access-token-scopes", "all").CombinedOutput()
	words := strings.Fields(string(out))
	if err != nil || len(words) == 0 {
		return fmt.Errorf("gitea admin user create %s: %w\n%s", name, err, out)
	}
	s.users[name] = words[len(words)-1]
	return nil
}

// User returns the token of one of the users.
func (s *Server) User(t testing.TB, name string) string {
	t.Helper()
	token := s.users[name]
	if token == "" {
		t.Fatalf("%s is not a user of the Gitea of tests", name)
	}
	return token
}
