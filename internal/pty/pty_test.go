package pty

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPty(t *testing.T) {
	t.Parallel()
	ours, theirs, err := Open(91, 17)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if err := ours.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err) // a read that hangs could not be ended
	}
	cmd := exec.Command("sh", "-c", "stty size; read x; stty size; echo got $x")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	in := bufio.NewReader(ours)
	if line, err := in.ReadString('\n'); err != nil || line != "17 91\r\n" {
		t.Fatalf("the size is %q, %v; want 17 91", line, err)
	}
	if err := Resize(ours, 40, 20); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	var rest strings.Builder
	_, err = io.Copy(&rest, in)
	if !errors.Is(End(err), io.EOF) && err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(rest.String(), "20 40\r\ngot hello\r\n") {
		t.Fatalf("output %q, want the new size and the line", rest.String())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	ours, theirs, err := Open(80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	defer ours.Close()
	if err := ours.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
}
