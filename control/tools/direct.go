package tools

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"coppice"
	"coppice/fabric"
)

// Nearly every request of an agent calls a tool. The SDK creates a session for
// each one and decodes it several times, which takes longer than most tools. So
// the usual call is carried out without it, with the same answer. The SDK gets
// all other requests, and with them everything that is not valid.

// directVersions are the versions of the protocol whose calls of tools need only a
// name and arguments. A client that names no version has one of them.
var directVersions = []string{"", "2025-03-26", "2025-06-18", "2025-11-25"}

// ownMeta is the beginning of the keys by which the protocol itself uses _meta.
// Other keys are the client's.
const ownMeta = "io.modelcontextprotocol"

// direct carries out the usual call of a tool. It reports false, and does nothing,
// for any other request.
func (c *call) direct(tools []tool, r fabric.Call) (fabric.Reply, bool) {
	if r.Method != http.MethodPost || !slices.Contains(directVersions, r.Header["Mcp-Protocol-Version"]) {
		return fabric.Reply{}, false
	}
	if kind, _, err := mime.ParseMediaType(r.Header["Content-Type"]); err != nil || kind != "application/json" {
		return fabric.Reply{}, false
	}
	var message struct{ version, method, name string }
	asked, ok := fields(r.Body, "jsonrpc", "id", "method", "params")
	if !ok || json.Unmarshal(asked["jsonrpc"], &message.version) != nil || json.Unmarshal(asked["method"], &message.method) != nil ||
		message.version != "2.0" || message.method != "tools/call" || !simpleID(asked["id"]) {
		return fabric.Reply{}, false
	}
	params, ok := fields(asked["params"], "name", "arguments", "_meta")
	if !ok || json.Unmarshal(params["name"], &message.name) != nil || strings.Contains(string(params["_meta"]), ownMeta) {
		return fabric.Reply{}, false
	}
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == message.name })
	if i < 0 {
		return fabric.Reply{}, false
	}
	result, ok := tools[i].direct(c, params["arguments"])
	if !ok {
		return fabric.Reply{}, false
	}
	body := coppice.Raw(struct {
		Version string              `json:"jsonrpc"`
		ID      json.RawMessage     `json:"id"`
		Result  *mcp.CallToolResult `json:"result"`
	}{"2.0", asked["id"], result})
	return fabric.Reply{Status: http.StatusOK, Header: map[string]string{"Content-Type": "application/json"}, Body: body}, true
}

// fields decodes an object that has no other fields than these. Go's decoder would
// also accept other cases of their letters.
func fields(object json.RawMessage, names ...string) (map[string]json.RawMessage, bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil || all == nil {
		return nil, false
	}
	for name := range all {
		if !slices.Contains(names, name) {
			return nil, false
		}
	}
	return all, true
}

// simpleID reports whether an id is a string or an integer: every decoder reads
// those the same way.
func simpleID(id json.RawMessage) bool {
	if len(id) > 0 && id[0] == '"' {
		return true
	}
	_, err := strconv.ParseInt(string(id), 10, 53)
	return err == nil
}

// schemaOf returns the schema of a tool's arguments, as the SDK derives it.
func schemaOf[In any]() (*jsonschema.Resolved, error) {
	s, err := jsonschema.For[In](&jsonschema.ForOptions{})
	if err != nil {
		return nil, err
	}
	return s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
}

// decode decodes a tool's arguments. It reports false if they are not valid.
func decode[In any](schema *jsonschema.Resolved, arguments json.RawMessage) (in In, ok bool) {
	var all map[string]any
	if json.Unmarshal(arguments, &all) != nil || all == nil || schema.Validate(&all) != nil {
		return in, false
	}
	return in, json.Unmarshal(arguments, &in) == nil
}
