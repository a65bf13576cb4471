package agents

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"coppice/agent"
	"coppice/agent/agenttest"
)

const hookToken = "the-hook-token"

// hooks answers an agent's hooks over HTTP, as the host does.
type hooks struct {
	url   string
	ready chan struct{} // closed when pump is set
	pump  *pump
}

// newHooks serves hooks if the driver takes them; down says that nobody is to
// be there when the agent calls.
func newHooks(t *testing.T, d agent.Driver, down bool) *hooks {
	t.Helper()
	h := &hooks{ready: make(chan struct{})}
	if _, ok := d.(agent.Hooker); !ok {
		return h
	}
	if down {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		h.url = "http://" + l.Addr().String() + "/hook"
		l.Close()
		return h
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	h.url = srv.URL + "/hook"
	return h
}

// answer says who answers the hooks from now on.
func (h *hooks) answer(p *pump) {
	h.pump = p
	close(h.ready)
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Authorization") != "Bearer "+hookToken {
		http.Error(w, "refused", http.StatusForbidden)
		return
	}
	<-h.ready
	var answer []byte
	h.pump.do(func() (agent.Step, error) {
		h.pump.ops = append(h.pump.ops, agenttest.Op{Name: "hook", Arg: string(body)})
		var step agent.Step
		step, answer = h.pump.driver.(agent.Hooker).Hook(body)
		return step, nil
	})
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer) // an agent that left needs no answer
}

func put(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
