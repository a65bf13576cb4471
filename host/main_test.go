package host

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
	"go.uber.org/goleak"

	"coppice"
	"coppice/agent"
	"coppice/agent/scripted"
	terminalagent "coppice/agent/terminal"
)

// roleVar makes the test binary a host or an agent.
const roleVar = "HOST_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(execVar) != "" {
		os.Exit(Main(context.Background(), "", nil, nil))
	}
	switch os.Getenv(roleVar) {
	case "host":
		log := slog.New(slog.NewTextHandler(os.Stderr, nil))
		os.Exit(Main(context.Background(), os.Args[len(os.Args)-1], testProtocols, log))
	case "agent":
		os.Exit(runAgent(os.Args[1:]))
	case "scripted":
		os.Exit(scripted.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
	}
	goleak.VerifyTestMain(m)
}

var testProtocols = map[string]agent.Protocol{
	"talk":  testProtocol{name: "talk"},  // keeps stdin open and passes messages on
	"once":  testProtocol{name: "once"},  // gives the prompt and closes stdin
	"panic": testProtocol{name: "panic"}, // panics at the first output
	"done":  testProtocol{name: "done"},  // has finished after the first output
	"pty":   testProtocol{name: "pty"},   // like talk, on a terminal
	"tmux":  testProtocol{name: "tmux"},  // like talk, in tmux
	"hand":  testProtocol{name: "hand"},  // on a terminal that does not exist
	"late":  testProtocol{name: "late"},  // like done, and fails with a limit from its prompt

	terminalagent.Name: terminalagent.New(),
}

type testProtocol struct{ name string }

func (p testProtocol) Name() string { return p.name }

func (p testProtocol) Launch(prof coppice.Profile, r agent.Request) (agent.Launch, error) {
	l, err := agent.LaunchProfile(prof, r)
	switch p.name {
	case RuntimePty, RuntimeTmux, "hand":
		l.Screen.Runtime = p.name
	}
	return l.With(map[string]string{roleVar: "agent"}).With(r.Secrets), err
}

func (p testProtocol) Driver(_ coppice.Profile, r agent.Request) agent.Driver {
	return &testDriver{protocol: p.name, prompt: r.Prompt}
}

type testDriver struct {
	protocol, prompt string
	bytes            int
}

func (d *testDriver) Start() agent.Step {
	if d.protocol == "once" {
		return agent.Step{Write: []byte(d.prompt), CloseStdin: true}
	}
	return agent.Step{Events: []coppice.AgentEvent{{Kind: coppice.KindState, State: coppice.SessionWorking}}}
}

func (d *testDriver) Output(_ agent.Stream, b []byte) agent.Step {
	if d.protocol == "panic" {
		panic("cannot read this")
	}
	d.bytes += len(b)
	if d.protocol == "done" || d.protocol == "late" {
		return agent.Step{CloseStdin: true, Done: true}
	}
	return agent.Step{Events: []coppice.AgentEvent{{Kind: coppice.KindNotice, Text: strconv.Itoa(d.bytes)}}}
}

func (d *testDriver) Send(text, ref string) (agent.Step, error) {
	if d.protocol == "once" {
		return agent.Step{}, agent.ErrCannot
	}
	return agent.Step{Write: []byte(text + "\n")}, nil
}

func (d *testDriver) Interrupt() (agent.Step, error) { return agent.Step{}, agent.ErrCannot }

func (d *testDriver) Stop() agent.Step {
	if d.protocol == "once" {
		return agent.Step{}
	}
	return agent.Step{Write: []byte("quit\n")}
}

func (d *testDriver) Exit(x agent.Exit) (agent.Step, agent.Outcome) {
	if d.protocol == "late" {
		return agent.Step{}, agent.Outcome{Failure: coppice.Failf(coppice.ClassRateLimit, d.prompt, "")}
	}
	return agent.Step{}, agent.Outcome{Summary: fmt.Sprintf("%d bytes, exit %d %s", d.bytes, x.Code, x.Signal)}
}

// runAgent is an agent that does what its arguments say.
func runAgent(args []string) int {
	switch args[0] {
	case "echo": // answers lines until it gets quit
		fmt.Println("ready")
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			if in.Text() == "quit" {
				return 3
			}
			fmt.Println("got:", in.Text())
		}
	case "sum": // prints what came by stdin
		h := sha256.New()
		n, _ := io.Copy(h, os.Stdin)
		fmt.Printf("%d %x\n", n, h.Sum(nil))
	case "flood": // n bytes of a known pattern
		n, _ := strconv.Atoi(args[1])
		for i := 0; i < n; i += blockSize {
			os.Stdout.Write(block(i)[:min(blockSize, n-i)])
		}
	case "screen": // prints its size when that changes, and answers lines
		return onScreen()
	case "screenflood": // the same on a terminal, when it gets a line
		in := bufio.NewScanner(os.Stdin)
		in.Scan()
		runAgent([]string{"flood", args[1]})
		fmt.Println("that is all")
	case "numbers": // one line for each line of input
		in := bufio.NewScanner(os.Stdin)
		for n := 0; in.Scan() && in.Text() != "quit"; n++ {
			fmt.Printf("%07d\n", n)
		}
	case "take": // that many bytes of memory
		n, _ := strconv.Atoi(args[1])
		taken := make([]byte, n)
		for i := 0; i < n; i += os.Getpagesize() {
			taken[i] = 1
		}
		fmt.Println("took", len(taken))
	case "run": // a child that does what the other arguments say
		if err := child(false, args[1:]...).Run(); err != nil {
			return 1
		}
	case "web": // an app, not an agent
		return runWeb(args[1:])
	case "fetch": // prints what the app answers
		return fetch()
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"), "\nargs", strings.Join(os.Args, " "))
	case "hangup": // hangs up on itself
		syscall.Kill(os.Getpid(), syscall.SIGHUP)
		stay()
	case "stubborn": // ignores every signal
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		stay()
	case "leave": // exits, but its child keeps the output open
		child(false, "hold").Start()
	case "hold":
		fmt.Println("pid", os.Getpid())
		signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
		stay()
	case "detach":
		child(true, "hold").Start()
	case "tree": // children that detach in every possible way
		child(false, "hold").Start()
		child(true, "hold").Start()
		child(true, "detach").Run()
		bare := exec.Command("/bin/sleep", "100000")
		bare.Env = []string{}
		bare.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		bare.Start()
		fmt.Println("pid", bare.Process.Pid)
		fmt.Println("pid", os.Getpid())
		io.Copy(io.Discard, os.Stdin)
		stay()
	}
	return 0
}

func onScreen() int {
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	lines := make(chan string)
	go func() {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			lines <- in.Text()
		}
		close(lines)
	}()
	resized <- syscall.SIGWINCH
	last := ""
	for {
		select {
		case <-resized:
			columns, rows, err := term.GetSize(0)
			if now := fmt.Sprintf("size %dx%d", columns, rows); err == nil && now != last {
				last = now
				fmt.Println(now)
			}
		case l, ok := <-lines:
			if !ok || l == "bye" {
				return 5
			}
			fmt.Println("got " + l)
		}
	}
}

const blockSize = 1 << 16

var filler = bytes.Repeat([]byte("0123456789abcde\n"), blockSize/16)

// block is a piece of the flood. Its start distinguishes it from the others.
func block(at int) []byte {
	return append(fmt.Appendf(nil, "%015d\n", at), filler[16:]...)
}

// stay blocks without looking like a deadlock.
func stay() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR1)
	<-never
}

func child(setsid bool, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: setsid}
	return cmd
}
