// Package tools has the tools that Coppice gives agents and people over MCP.
//
// The agent of a session calls its host, which keeps the request until it is
// answered (package host). The worker that follows the session passes it on
// (fabric.Ledger.Call), and Session answers it. People's own clients talk to the
// server's /mcp, which People serves.
//
// A tool is one entry of a table in the file of its topic. It reads, changes or
// waits:
//
//   - A tool that reads answers from one snapshot.
//   - A tool that changes something does so in one transaction, which also stores
//     its answer (engine.Intake.Once). A call that is repeated after a crash gets
//     the same answer and changes nothing.
//   - A tool that waits reads its topic until it has an answer. After
//     fabric.CallWait it answers that it is still waiting, and the agent calls
//     again. Nothing polls.
//
// An error of a tool is an answer, which names the cause and the fix. Only if the
// facts cannot be read or written, Session itself fails, and the worker retries.
package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"coppice"
	"coppice/engine"
	"coppice/fabric"
	"coppice/store"
)

// Config has the dependencies of a Server. All fields except Wait and Logger are
// required.
type Config struct {
	Store   store.Store
	Intake  *engine.Intake
	Now     func() time.Time
	Redact  func(string) string
	Version string
	Logger  *slog.Logger
	Wait    time.Duration // how long a call waits; fabric.CallWait when 0
}

// Server answers calls of tools. It is safe for concurrent use.
type Server struct {
	cfg     Config
	roles   map[coppice.Role]toolset
	leads   toolset // of the leads of goals
	last    atomic.Int64
	running sync.Map // the calls in progress, by number
}

// New returns a Server.
func New(c Config) (*Server, error) {
	if c.Store == nil || c.Intake == nil || c.Now == nil || c.Redact == nil {
		return nil, errors.New("tools: Store, Intake, Now and Redact are required")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Wait = cmp.Or(c.Wait, fabric.CallWait)
	s := &Server{cfg: c, roles: map[coppice.Role]toolset{}}
	for _, r := range coppice.Roles {
		s.roles[r.Role] = s.toolset(chosen(sessionTools, r.Role, false))
	}
	s.leads = s.toolset(chosen(sessionTools, coppice.RoleAnswer, true))
	return s, nil
}

// chosen returns those tools that sessions in a role have. lead means that they lead a
// goal.
func chosen(all []tool, r coppice.Role, lead bool) []tool {
	return slices.DeleteFunc(slices.Clone(all), func(t tool) bool { return t.fits != nil && !t.fits(r.Info(), lead) })
}

// Lines describes the tools of sessions in a role, each in the first sentence of its
// description. lead means that they lead a goal.
func Lines(r coppice.Role, lead bool) []coppice.ToolLine {
	var lines []coppice.ToolLine
	for _, t := range chosen(sessionTools, r, lead) {
		first, _, _ := strings.Cut(t.about, ". ")
		lines = append(lines, coppice.ToolLine{Name: t.name, About: strings.TrimSuffix(first, ".")})
	}
	return lines
}

// sessionNote is what agents read about the tools.
const sessionNote = "Tools of Coppice, which runs this session beside others on the same repository. A call that answers still_waiting can be repeated."

// toolset is the tools of a role's sessions.
type toolset struct {
	tools   []tool
	handler http.Handler // serves them over HTTP
}

func (s *Server) toolset(all []tool) toolset {
	return toolset{all, lazily(func() http.Handler {
		server := s.server(sessionNote)
		for _, t := range all {
			t.add(server, s)
		}
		return single(server, s.cfg.Logger)
	})}
}

// lazily creates a handler for its first request. The SDK takes milliseconds to
// read the schemas of all tools, which a start does not wait for.
func lazily(create func() http.Handler) http.Handler {
	handler := sync.OnceValue(create)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) })
}

func (s *Server) server(note string) *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: "coppice", Title: "Coppice", Version: cmp.Or(s.cfg.Version, "dev")}, &mcp.ServerOptions{
		Instructions: note, Logger: slog.New(problems{s.cfg.Logger.Handler()}),
		// The list of tools never changes during a session, and nothing is logged to
		// the client. A client that is offered either subscribes, and might wait for
		// the confirmation: one waited for 25 seconds at the start of each session.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
}

// problems is a log without messages that are only information. The SDK writes
// three for each request.
type problems struct{ slog.Handler }

func (p problems) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && p.Handler.Enabled(ctx, l)
}
func (p problems) WithAttrs(a []slog.Attr) slog.Handler { return problems{p.Handler.WithAttrs(a)} }
func (p problems) WithGroup(name string) slog.Handler   { return problems{p.Handler.WithGroup(name)} }

// callHeader names the call in progress. It is set here: no client can send it.
const callHeader = "Coppice-Call"

// call is one call in progress.
type call struct {
	*Server
	ctx     context.Context
	cancel  context.CancelCauseFunc
	session coppice.Session // zero for a person
	id      string
	message message

	mu     sync.Mutex
	failed error // why the call could not be carried out, if that is not the answer
}

func (c *call) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}

func (c *call) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// message is what Session reads of a request.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Request json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// Session answers a call of a session's agent.
func (s *Server) Session(ctx context.Context, of coppice.Session, c fabric.Call) (fabric.Reply, error) {
	if c.Gone {
		return fabric.Reply{}, s.cfg.Intake.LeaveLock(ctx, of.ID, c.ID)
	}
	if isBatch(c.Body) {
		return problem(http.StatusBadRequest, nil, -32600, noBatches), nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	one := &call{Server: s, ctx: ctx, cancel: cancel, session: of, id: c.ID}
	_ = json.Unmarshal(c.Body, &one.message) // the SDK answers what is not valid
	if one.message.Method == "notifications/cancelled" {
		s.cancelled(one)
	}
	number := strconv.FormatInt(s.last.Add(1), 10)
	s.running.Store(number, one)
	defer s.running.Delete(number)
	set, err := s.toolsOf(ctx, of)
	if err != nil {
		return fabric.Reply{}, err
	}
	reply, ok := one.direct(set.tools, c)
	if !ok {
		reply = one.serve(set.handler, c, number)
	}
	if errors.Is(context.Cause(ctx), errCancelled) {
		return problem(http.StatusOK, one.message.ID, -32800, "the client cancelled the request"), nil
	}
	if err := cmp.Or(one.failure(), ctx.Err()); err != nil {
		return fabric.Reply{}, err
	}
	return reply, nil
}

// serve passes a request to the SDK. The number names the call.
func (c *call) serve(h http.Handler, of fabric.Call, number string) fabric.Reply {
	r, err := http.NewRequestWithContext(c.ctx, of.Method, "http://coppice/mcp", bytes.NewReader(of.Body))
	if err != nil {
		return fabric.Reply{Status: http.StatusMethodNotAllowed} // only the method can be invalid
	}
	for k, v := range of.Header {
		r.Header.Set(k, v)
	}
	// Some clients name only one of the two types that the protocol requires.
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set(callHeader, number)
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	h.ServeHTTP(w, r)
	reply := fabric.Reply{Status: w.status, Header: map[string]string{}, Body: w.body.Bytes()}
	for _, name := range fabric.CallHeaders {
		if v := w.header.Get(name); v != "" {
			reply.Header[name] = v
		}
	}
	return reply
}

// toolsOf returns the tools of a session.
func (s *Server) toolsOf(ctx context.Context, of coppice.Session) (toolset, error) {
	if of.Role != coppice.RoleAnswer { // no other role leads
		return s.roles[of.Role.Info().Role], nil
	}
	lead, err := store.Read(ctx, s.cfg.Store, func(r store.Reader) (bool, error) { return isLead(r, of) })
	if lead {
		return s.leads, err
	}
	return s.roles[of.Role.Info().Role], err
}

var errCancelled = errors.New("tools: the client cancelled the request")

// cancelled ends the call that a client no longer waits for. Each request is handled
// separately, so two clients of one session can use the same id. Then nothing is
// ended: the call answers after fabric.CallWait at the latest.
func (s *Server) cancelled(by *call) {
	var found []*call
	s.running.Range(func(_, v any) bool {
		if c := v.(*call); c.session.ID == by.session.ID && len(c.message.ID) > 0 && bytes.Equal(c.message.ID, by.message.Params.Request) {
			found = append(found, c)
		}
		return true
	})
	if len(found) == 1 {
		found[0].cancel(errCancelled)
	}
}

// problem returns a reply with an error of the protocol.
func problem(status int, id json.RawMessage, code int, text string) fabric.Reply {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	body := coppice.Raw(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
	return fabric.Reply{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Body: body}
}

// recorder keeps a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }
func (w *recorder) Flush()                      {}
