package tools

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"coppice"
)

//lint:file-ignore SA1019 Roots and sampling are deprecated for newer versions of the
// protocol. Clients of the older ones still use them.

const maxSessionID = 2 << 10 // bytes

// clientInfo is what the id of a session says about its client. The server decides by
// it which requests it can send.
type clientInfo struct {
	Version     string                       `json:"v"`
	Roots       bool                         `json:"r,omitempty"`
	Sampling    *mcp.SamplingCapabilities    `json:"s,omitempty"`
	Elicitation *mcp.ElicitationCapabilities `json:"e,omitempty"`
}

// newSessionID returns the id of a new session: a random part, and what its client
// can do.
func newSessionID(p mcp.InitializeParams) string {
	c := clientInfo{}
	if slices.Contains(mcp.SupportedProtocolVersions(), p.ProtocolVersion) {
		c.Version = p.ProtocolVersion
	}
	if p.Capabilities != nil {
		c.Roots, c.Sampling, c.Elicitation = p.Capabilities.RootsV2 != nil, p.Capabilities.Sampling, p.Capabilities.Elicitation
	}
	return rand.Text() + "." + base64.RawURLEncoding.EncodeToString(coppice.Raw(c))
}

// parseSessionID returns what an id says about its client. It reports false for an id
// that newSessionID did not create.
func parseSessionID(id string) (*mcp.InitializeParams, bool) {
	random, text, _ := strings.Cut(id, ".")
	raw, err := base64.RawURLEncoding.DecodeString(text)
	var c clientInfo
	if err != nil || len(id) > maxSessionID || len(random) != len(rand.Text()) || json.Unmarshal(raw, &c) != nil {
		return nil, false
	}
	p := &mcp.InitializeParams{ProtocolVersion: c.Version, ClientInfo: &mcp.Implementation{}, Capabilities: &mcp.ClientCapabilities{Sampling: c.Sampling, Elicitation: c.Elicitation}}
	if c.Roots {
		p.Capabilities.RootsV2 = &mcp.RootCapabilities{}
	}
	return p, true
}

// transport is the transport of a session in memory.
type transport struct {
	*mcp.StreamableServerTransport
	run  string // distinguishes the requests of this transport
	conn mcp.Connection
}

func newTransport(id string) *transport {
	return &transport{StreamableServerTransport: &mcp.StreamableServerTransport{SessionID: id}, run: rand.Text()}
}

// Connect implements mcp.Transport.
func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.StreamableServerTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.conn = c
	return &connection{Connection: c, run: t.run}, nil
}

// end ends the connection, with everything that waits for its client. mcp.ServerSession.Close
// would wait for it.
func (t *transport) end() { _ = t.conn.Close() } // it only closes a channel

// connection gives each request to the client an id that no other transport of the
// same session uses. The SDK numbers them from 1 for each transport. After a restart,
// a late answer to an earlier request would otherwise answer another one.
type connection struct {
	mcp.Connection
	run string
}

// Write implements mcp.Connection.
func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return c.Connection.Write(ctx, m)
	}
	out := *r
	var params map[string]any
	switch {
	case r.IsCall():
		id, err := jsonrpc.MakeID(c.outer(r.ID.Raw()))
		if err != nil {
			return err
		}
		out.ID = id
	case r.Method == "notifications/cancelled" && json.Unmarshal(r.Params, &params) == nil:
		params["requestId"] = c.outer(params["requestId"])
		out.Params = coppice.Raw(params)
	}
	return c.Connection.Write(ctx, &out)
}

// Read implements mcp.Connection. It leaves out answers to other transports.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		r, ok := m.(*jsonrpc.Response)
		if err != nil || !ok {
			return m, err
		}
		text, _ := r.ID.Raw().(string)
		number, found := strings.CutPrefix(text, c.run+".")
		n, err := strconv.ParseInt(number, 10, 53)
		if !found || err != nil {
			continue
		}
		in := *r
		in.ID, err = jsonrpc.MakeID(float64(n))
		return &in, err
	}
}

// outer returns the id that the client sees. The SDK's ids are numbers.
func (c *connection) outer(id any) string {
	n, _ := json.Marshal(id) // a number or a string
	return c.run + "." + string(n)
}
