package tools

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"coppice"
	"coppice/fabric"
)

// both answers a request without the SDK and with it.
func (b *bundle) both(r fabric.Call) (direct fabric.Reply, ok bool, sdk fabric.Reply) {
	b.t.Helper()
	ctx, cancel := context.WithCancelCause(b.t.Context())
	defer cancel(nil)
	role := b.roles[b.session.Role]
	one := &call{Server: b.Server, ctx: ctx, cancel: cancel, session: b.session, id: r.ID}
	direct, ok = one.direct(role.tools, r)
	b.running.Store("1", one)
	defer b.running.Delete("1")
	return direct, ok, one.serve(role.handler, r, "1")
}

// same compares replies. The order of fields does not matter.
func same(a, b fabric.Reply) bool {
	var bodies [2]any
	return a.Status == b.Status && maps.Equal(a.Header, b.Header) && json.Unmarshal(a.Body, &bodies[0]) == nil && json.Unmarshal(b.Body, &bodies[1]) == nil &&
		reflect.DeepEqual(bodies[0], bodies[1])
}

// The usual call is carried out without the SDK, with the same answer. Everything
// else is left to the SDK.
func TestDirect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const plain, version = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"key":"a"}}}`, "2025-06-18"
	for name, c := range map[string]struct {
		version, kind, body string
		direct              bool
	}{
		"plain":                 {version, "application/json", plain, true},
		"no version":            {"", "application/json; charset=utf-8", plain, true},
		"the newest version":    {"2026-07-28", "application/json", plain, false},
		"an unknown version":    {"1999-01-01", "application/json", plain, false},
		"another type":          {version, "text/plain", plain, false},
		"an error of the tool":  {version, "application/json", `{"jsonrpc":"2.0","id":"é","method":"tools/call","params":{"name":"read_note","arguments":{"key":"/"}}}`, true},
		"the client's metadata": {version, "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"read_note","arguments":{"key":"a"}}}`, true},
		"own metadata":          {version, "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"name":"read_note","arguments":{"key":"a"}}}`, false},
		"no id":                 {version, "application/json", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read_note","arguments":{"key":"a"}}}`, false},
		"a fraction as id":      {version, "application/json", `{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"read_note","arguments":{"key":"a"}}}`, false},
		"another protocol":      {version, "application/json", `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"key":"a"}}}`, false},
		"another method":        {version, "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, false},
		"upper case":            {version, "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"Key":"a"}}}`, false},
		"no arguments":          {version, "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note"}}`, false},
		"a missing argument":    {version, "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{}}}`, false},
		"another field":         {version, "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"key":"a"},"requestState":"x"}}`, false},
		"an unknown tool":       {version, "application/json", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing","arguments":{"key":"a"}}}`, false},
		"not JSON":              {version, "application/json", `{`, false},
	} {
		direct, ok, sdk := b.both(fabric.Call{Session: b.session.ID, ID: name, Method: "POST", Header: map[string]string{"Content-Type": c.kind, "Mcp-Protocol-Version": c.version}, Body: []byte(c.body)})
		if ok != c.direct {
			t.Errorf("%s: direct is %v, want %v", name, ok, c.direct)
		}
		if ok && !same(direct, sdk) {
			t.Errorf("%s: %+v %s, want what the SDK answers: %+v %s", name, direct, direct.Body, sdk, sdk.Body)
		}
	}
}

// Whatever arguments an agent sends, a call without the SDK has the SDK's answer.
func TestDirectIsTheSame(t *testing.T) {
	t.Parallel()
	b := setup(t)
	values := []any{nil, true, 0, 1, -1, 1.5, 1e30, "", "a", "a/b", "task", "app-1", []any{}, []any{"a"}, []any{1}, map[string]any{}}
	reads := map[string][]string{
		"read_note": {"key", "scope", "KEY"}, "list_notes": {"prefix", "scope", "after", "x"}, "read_task": {"task", "key", "x"}, "check_file_locks": {"x"},
	}
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(reads))).Draw(r, "tool")
		in := rapid.MapOfN(rapid.SampledFrom(reads[name]), rapid.SampledFrom(values), 0, 3).Draw(r, "arguments")
		id := rapid.SampledFrom(values).Draw(r, "id")
		body := coppice.Raw(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": name, "arguments": in}})
		direct, ok, sdk := b.both(fabric.Call{Session: b.session.ID, ID: "x", Method: "POST", Header: map[string]string{"Content-Type": "application/json"}, Body: body})
		if ok && !same(direct, sdk) {
			r.Errorf("%s: %+v %s, want what the SDK answers: %+v %s", body, direct, direct.Body, sdk, sdk.Body)
		}
	})
}
