package worker

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coppice"
	"coppice/agent"
	"coppice/fabric"
)

// callTool is an agent that calls one tool and prints the answer.
func callTool() int {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_task","arguments":{}}}`
	r, err := http.NewRequest(http.MethodPost, os.Getenv(agent.ToolsURLVar), strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv(agent.TokenVar))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	fmt.Printf("answer: %d %.40s %v\n", res.StatusCode, answer, err)
	return 0
}

// answering is a ledger with its own answers to calls.
type answering struct {
	fabric.Ledger
	call func(context.Context, fabric.Call) (fabric.Reply, error)
}

func (a answering) Call(ctx context.Context, c fabric.Call) (fabric.Reply, error) {
	return a.call(ctx, c)
}

// logged collects messages above information.
type logged struct {
	slog.Handler
	mu  sync.Mutex
	all []string
}

func (l *logged) Enabled(_ context.Context, level slog.Level) bool { return level > slog.LevelInfo }
func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r.Message)
	return nil
}

// callSession offers a session whose agent calls a tool.
func (b *bundle) callSession() (int64, coppice.Session) {
	b.t.Helper()
	self, err := os.Executable()
	b.must(err)
	b.profile = coppice.Profile{Protocol: "command", Command: []string{self}, Env: map[string]string{roleVar: "call"}}
	return b.run("")
}

// A call goes to the ledger and its reply to the agent. A ledger that fails is
// asked again. The session ends as usual.
func TestCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails int64 // how often the ledger fails first
		err   error
		reply fabric.Reply
		want  string
		logs  int
	}{
		"answered":  {0, nil, fabric.Reply{Status: 200, Body: []byte("fine")}, "answer: 200 fine", 0},
		"later":     {3, errFull, fabric.Reply{Status: 200, Body: []byte("fine")}, "answer: 200 fine", 3},
		"too large": {0, nil, fabric.Reply{Status: 200, Body: make([]byte, mostReply+1)}, "answer: 500 the answer is too large", 0},
		"removed":   {1 << 30, coppice.Errorf(coppice.ENotFound, "there is no session"), fabric.Reply{}, "answer: 404", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, s := b.callSession()
			var left atomic.Int64
			left.Store(c.fails)
			log := &logged{}
			b.cfg.Retry, b.cfg.Logger = time.Millisecond, slog.New(log)
			b.cfg.Ledger = answering{b.ledger, func(_ context.Context, call fabric.Call) (fabric.Reply, error) {
				if call.Session != s.ID || call.ID != "app-1.1/1" || !strings.Contains(string(call.Body), "read_task") {
					t.Errorf("call %+v", call)
				}
				if left.Add(-1) >= 0 {
					return fabric.Reply{}, c.err
				}
				return c.reply, nil
			}}
			b.start()
			r := result[coppice.RunResult](b, b.finished(id))
			if r.Failure != nil || !strings.HasPrefix(r.Summary, c.want) {
				t.Errorf("%q, %v", r.Summary, r.Failure)
			}
			log.mu.Lock()
			defer log.mu.Unlock()
			if len(log.all) != c.logs {
				t.Errorf("logged %q", log.all)
			}
		})
	}
}

// A worker that stops while a call waits leaves the call open. The next worker
// gets it with the same id, and the agent gets its answer.
func TestRestartDuringACall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.callSession()
	reached := make(chan string, 1)
	b.cfg.Ledger = answering{b.ledger, func(ctx context.Context, c fabric.Call) (fabric.Reply, error) {
		reached <- c.ID
		<-ctx.Done()
		return fabric.Reply{}, ctx.Err()
	}}
	stop := b.start()
	first := <-reached
	stop()
	b.open()
	b.cfg.Ledger = answering{b.ledger, func(_ context.Context, c fabric.Call) (fabric.Reply, error) {
		reached <- c.ID
		return fabric.Reply{Status: 200, Body: []byte("after the restart")}, nil
	}}
	b.start()
	r := result[coppice.RunResult](b, b.finished(id))
	if again := <-reached; again != first || r.Summary != "answer: 200 after the restart <nil>" {
		t.Errorf("%s, then %s: %q", first, again, r.Summary)
	}
}
