package tools

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"coppice"
	"coppice/engine"
	"coppice/fabric"
	"coppice/store"
)

// sessionTools lists the tools of sessions, by topic.
var sessionTools = slices.Concat(workTools, flowTools, goalTools, lockTools, noteTools)

// tool is one tool.
type tool struct {
	name  string
	about string
	fits  func(r coppice.RoleInfo, lead bool) bool // which sessions have it, by role and whether they lead a goal; nil means all
	add   func(*mcp.Server, *Server)
	// direct carries out a call without the SDK. It reports false if the arguments
	// are not valid.
	direct func(*call, json.RawMessage) (*mcp.CallToolResult, bool)
}

// only restricts a tool to sessions.
func (t tool) only(fits func(r coppice.RoleInfo, lead bool) bool) tool {
	t.fits = fits
	return t
}

// reading is a tool that answers from a snapshot.
func reading[In, Out any](name, about string, do func(*call, store.Reader, In) (Out, error)) tool {
	return of(name, about, true, func(c *call, in In) (any, error) {
		return store.Read(c.ctx, c.cfg.Store, func(r store.Reader) (Out, error) { return do(c, r, in) })
	})
}

// changing is a tool that changes facts, once for each call. do can use the
// Intake, as the session, and the transaction.
func changing[In, Out any](name, about string, do func(*call, *engine.Intake, store.Tx, In) (Out, error)) tool {
	return of(name, about, false, func(c *call, in In) (any, error) {
		return c.cfg.Intake.Once(c.ctx, c.session, c.id, func(_ context.Context, i *engine.Intake, tx store.Tx) (any, error) {
			return do(c, i, tx, in)
		})
	})
}

// waiting is a tool that might wait. do uses c.wait, and c.once for what it
// changes.
func waiting[In, Out any](name, about string, do func(*call, In) (Out, error)) tool {
	return of(name, about, false, func(c *call, in In) (any, error) { return do(c, in) })
}

func of[In any](name, about string, reads bool, do func(*call, In) (any, error)) tool {
	run := func(c *call, in In) (result *mcp.CallToolResult) {
		defer func() {
			if p := recover(); p != nil {
				c.cfg.Logger.Error("a tool failed", "tool", name, "panic", p, "stack", string(debug.Stack()))
				result = textResult("the tool failed; the log of the server has the cause", true)
			}
		}()
		out, err := do(c, in)
		var text []byte
		if err == nil {
			text, err = json.Marshal(out)
		}
		if err != nil {
			return c.refusal(err)
		}
		return textResult(c.cfg.Redact(string(text)), false)
	}
	schema := sync.OnceValues(schemaOf[In])
	return tool{name: name, about: about, add: func(server *mcp.Server, s *Server) {
		t := &mcp.Tool{Name: name, Description: about, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, DestructiveHint: new(bool), OpenWorldHint: new(bool)}}
		mcp.AddTool(server, t, func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			c, err := s.caller(ctx, r)
			if err != nil {
				return nil, nil, err
			}
			return run(c, in), nil, nil
		})
	}, direct: func(c *call, arguments json.RawMessage) (*mcp.CallToolResult, bool) {
		s, err := schema()
		if err != nil {
			return nil, false
		}
		in, ok := decode[In](s, arguments)
		if !ok {
			return nil, false
		}
		return run(c, in), true
	}}
}

func textResult(text string, failed bool) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: failed}
}

// caller returns the call to which a request belongs.
func (s *Server) caller(_ context.Context, r *mcp.CallToolRequest) (*call, error) {
	if r.Extra != nil {
		if c, ok := s.running.Load(r.Extra.Header.Get(callHeader)); ok {
			return c.(*call), nil
		}
	}
	return nil, errors.New("the call is over")
}

// refusal turns an error into the answer of a tool. An error that is not about
// the request is kept for the worker, which retries.
func (c *call) refusal(err error) *mcp.CallToolResult {
	e := coppice.Public(err)
	if e.Code == coppice.EInternal || e.Code == coppice.EUnavailable || c.ctx.Err() != nil {
		c.fail(err)
	}
	return textResult(c.cfg.Redact(refusalText(err)), true)
}

// refusalText returns the cause of an error and its fix.
func refusalText(err error) string {
	e := coppice.Public(err)
	if e.Fix == "" {
		return e.Cause
	}
	return e.Cause + ": " + e.Fix
}

// wait reads facts until ready reports true, whenever one of the topics is
// touched. It reports false when the call has waited long enough.
func (c *call) wait(ready func(store.Reader) (bool, error), topics ...string) (bool, error) {
	ctx, cancel := context.WithTimeoutCause(c.ctx, c.cfg.Wait, errWaited)
	defer cancel()
	w := c.cfg.Store.Watch(topics...)
	defer w.Close()
	for {
		ok, err := store.Read(ctx, c.cfg.Store, ready)
		if err == nil && !ok {
			_, err = w.Wait(ctx)
		}
		if ok || err != nil {
			if errors.Is(context.Cause(ctx), errWaited) {
				return false, nil
			}
			return ok, err
		}
	}
}

var errWaited = errors.New("tools: waited long enough")

// StillWaiting is the answer of a call that has waited for fabric.CallWait.
type StillWaiting struct {
	StillWaiting bool   `json:"still_waiting"`
	Note         string `json:"note"`
}

func stillWaiting() StillWaiting {
	return StillWaiting{true, "nothing happened in " + fabric.CallWait.String() + "; call again with the same arguments to wait longer"}
}
