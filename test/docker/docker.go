//go:build linux

// Package docker starts a docker engine for tests, with an image that needs no
// registry.
package docker

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Image is the name of the image: a shell and the usual commands. Where has the
// text Inside there.
const (
	Image  = "coppice-test"
	Where  = "/etc/where"
	Inside = "inside"
)

// Engine is a docker engine that ends with its test. Its containers use the
// network of this machine.
type Engine struct {
	// Env is how the client reaches the engine, with a home without settings.
	Env []string
	t   testing.TB
}

// Start starts an engine in a temporary directory. In CI the test fails where that
// cannot be done, elsewhere it is skipped.
func Start(t testing.TB) *Engine {
	t.Helper()
	programs := map[string]string{}
	for _, name := range []string{"dockerd", "docker", "docker-compose", "busybox"} {
		path, err := find(name)
		if err != nil && (name != "docker-compose" || exec.Command("docker", "compose", "version").Run() != nil) {
			missing(t, name+" is not installed; run scripts/deps.sh")
		}
		programs[name] = path
	}
	if os.Getuid() != 0 {
		missing(t, "only root can start a docker engine")
	}
	// Not t.TempDir: paths of sockets are limited to 107 bytes.
	dir, err := os.MkdirTemp("", "docker-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, dir) })
	socket := filepath.Join(dir, "sock")
	e := &Engine{t: t, Env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "DOCKER_HOST=unix://" + socket}}
	e.start(exec.Command(programs["dockerd"], "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--host", "unix://"+socket, "--pidfile", filepath.Join(dir, "pid"), "--iptables=false", "--bridge=none"))
	image := e.command("docker", "import", "-", Image)
	image.Stdin = bytes.NewReader(rootfs(t, programs["busybox"]))
	if out, err := image.CombinedOutput(); err != nil {
		t.Fatalf("docker import: %v\n%s", err, out)
	}
	return e
}

// Compose runs compose in a directory; it has to succeed.
func (e *Engine) Compose(dir string, args ...string) {
	e.t.Helper()
	cmd := e.command("docker-compose", args...)
	if e.command("docker", "compose", "version").Run() == nil {
		cmd = e.command("docker", append([]string{"compose"}, args...)...)
	}
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		e.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

func (e *Engine) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = e.Env
	return cmd
}

// start starts the engine and returns when it answers. It ends with the test.
func (e *Engine) start(cmd *exec.Cmd) {
	e.t.Helper()
	cmd.Env = append(slices.Clone(e.Env), "TMPDIR="+os.TempDir())
	// The engine ends its containers when it is asked to, also if the test is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	log := &engineLog{ready: make(chan struct{})}
	cmd.Stderr = log
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // the parent of the engine is this thread
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log says why it ended if nobody has asked for it
		}
	}()
	if err := <-started; err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it might have ended
		<-ended
	})
	select {
	case <-log.ready:
	case <-ended:
		missing(e.t, "the docker engine does not start:\n"+log.text.String())
	}
}

// engineLog is what the engine logs until it answers.
type engineLog struct {
	text  strings.Builder
	ready chan struct{} // closed when the engine answers
	done  bool
}

func (l *engineLog) Write(b []byte) (int, error) {
	if l.done {
		return len(b), nil
	}
	l.text.Write(b)
	if strings.Contains(l.text.String(), "API listen on") {
		l.done = true
		close(l.ready)
	}
	return len(b), nil
}

// missing fails the test in CI and skips it elsewhere.
func missing(t testing.TB, text string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip(text)
}

// find returns the path of a program, which can be one that only root has in its
// PATH.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return exec.LookPath(filepath.Join("/usr/sbin", name))
}

// rootfs returns an archive of the files of the image.
func rootfs(t testing.TB, busybox string) []byte {
	t.Helper()
	program, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(h tar.Header, text []byte) {
		h.Size = int64(len(text))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"bin", "etc", "tmp"} {
		put(tar.Header{Name: dir + "/", Typeflag: tar.TypeDir, Mode: 0o777}, nil)
	}
	put(tar.Header{Name: "bin/busybox", Mode: 0o755}, program)
	for name := range strings.FieldsSeq(string(list)) {
		if name != "busybox" {
			put(tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox"}, nil)
		}
	}
	put(tar.Header{Name: strings.TrimPrefix(Where, "/"), Mode: 0o644}, []byte(Inside+"\n"))
	put(tar.Header{Name: "etc/passwd", Mode: 0o644}, []byte("root:x:0:0::/:/bin/sh\nsail:x:0:1000::/:/bin/sh\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// remove removes the files of an engine, and what it has left mounted among them.
func remove(t testing.TB, dir string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if at := strings.Fields(line)[1]; strings.HasPrefix(at, dir+"/") {
			if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
				t.Errorf("unmounting %s: %v", at, err)
			}
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(fmt.Errorf("removing the engine's files: %w", err))
	}
}
