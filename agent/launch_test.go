package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"coppice"
)

func TestLaunchProfileArguments(t *testing.T) {
	t.Parallel()
	p := coppice.Profile{
		Command: []string{"x"}, Model: []string{"-m", "{model}"}, Resume: []string{"-r", "{conversation}"},
		Fork: []string{"-r={conversation}", "--copy"}, Effort: []string{"-e", "{effort}"}, Budget: []string{"--usd={usd}"},
	}
	for _, c := range []struct {
		r    Request
		want string // "" is a refusal
	}{
		{Request{}, "x"},
		{Request{Model: "m", Resume: "c"}, "x -m m -r c"},
		{Request{Resume: "c", Fork: true}, "x -r=c --copy"},
		{Request{Fork: true}, "x"},
		{Request{Effort: "high", Budget: 1.5}, "x -e high --usd=1.5"},
		{Request{Budget: 1e6}, "x --usd=1000000"},
		{Request{Budget: -1}, "x"},
		{Request{Effort: "-x"}, ""},
		{Request{Resume: "-c", Fork: true}, ""},
	} {
		l, err := LaunchProfile(p, c.r)
		if got := strings.Join(l.Argv, " "); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %q, %v; want %q", c.r, got, err, c.want)
		}
	}
	// Arguments that a profile does not have are left out.
	r := Request{Resume: "c", Fork: true, Effort: "high", Budget: 1, Model: "m"}
	if l, err := LaunchProfile(coppice.Profile{Command: []string{"x"}, Resume: []string{"-r", "{conversation}"}}, r); err != nil || len(l.Argv) != 1 {
		t.Errorf("arguments %q, %v; want no -r without a conversation", l.Argv, err)
	}
}

func TestAddFile(t *testing.T) {
	t.Parallel()
	var l Launch
	if path, err := l.AddFile(Request{Private: "/p"}, "a.json", []byte("x")); err != nil || path != "/p/a.json" || string(l.Files["a.json"]) != "x" {
		t.Errorf("path %q, %v, files %v; want /p/a.json", path, err, l.Files)
	}
	for _, dir := range []string{"", "relative"} {
		if _, err := l.AddFile(Request{Private: dir}, "b.json", nil); err == nil || l.Files["b.json"] != nil {
			t.Errorf("%q: a file is written nowhere", dir)
		}
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	with := func(name, url string) Request {
		return Request{MCP: map[string]coppice.MCPServer{name: {URL: url}}}
	}
	for _, c := range []struct {
		name, url, mcp string
		want           int // -1 is a refusal
	}{
		{"orch", "http://127.0.0.1:1/mcp", "", 1},
		{"orch", "HTTPS://example.com", "", 1},
		{"orch", "HTTPS://example.com", "none", 0},
		{"orch", "file:///etc/passwd", "", -1},
		{"orch", "/mcp", "", -1},
		{"", "http://x", "", -1},
		{"a b", "http://x", "", -1},
	} {
		got, err := Servers(coppice.Profile{MCP: c.mcp}, with(c.name, c.url))
		if (err != nil) != (c.want < 0) || (err == nil && len(got) != c.want) {
			t.Errorf("%+v: %v, %v; want %d", c, got, err, c.want)
		}
		if err != nil && coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%+v: error %v, want the code %s", c, err, coppice.EInvalid)
		}
	}
	secrets := Request{Token: "t", Secrets: map[string]string{SecretVar("A"): "a${COPPICE_TOKEN}"}}
	if got := secrets.Fill("${COPPICE_SECRET_A} ${COPPICE_TOKEN} ${COPPICE_SECRET_} ${HOME}"); got != "a${COPPICE_TOKEN} t ${COPPICE_SECRET_} ${HOME}" {
		t.Errorf("filled: %s", got)
	}
	if got := (Request{Token: "t"}).Fill("Bearer ${COPPICE_TOKEN}"); got != "Bearer t" {
		t.Errorf("filled to %q", got)
	}
}

// A server that is a program is valid, or refused with a fix.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s    coppice.MCPServer
		good bool
	}{
		"a program":            {coppice.MCPServer{Command: []string{"npx", "-y", "x"}, Env: map[string]string{"K": "v"}}, true},
		"an empty argument":    {coppice.MCPServer{Command: []string{"x", ""}}, true},
		"neither":              {coppice.MCPServer{}, false},
		"both":                 {coppice.MCPServer{Command: []string{"x"}, URL: "http://127.0.0.1:1"}, false},
		"a program and header": {coppice.MCPServer{Command: []string{"x"}, Headers: map[string]string{"A": "b"}}, false},
		"no program":           {coppice.MCPServer{Command: []string{"", "x"}}, false},
		"a zero byte":          {coppice.MCPServer{Command: []string{"x", "a\x00b"}}, false},
		"no variable":          {coppice.MCPServer{Command: []string{"x"}, Env: map[string]string{"A=B": "c"}}, false},
		"a zero in a variable": {coppice.MCPServer{Command: []string{"x"}, Env: map[string]string{"A": "\x00"}}, false},
	} {
		_, err := Servers(coppice.Profile{}, Request{MCP: map[string]coppice.MCPServer{"own": c.s}})
		if (err == nil) != c.good || (err != nil && coppice.Public(err).Fix == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLaunchSchema(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage("{\n  \"type\": \"object\"\n}")
	for _, c := range []struct {
		args   []string
		schema string
		want   string
		file   string
	}{
		{[]string{"--schema", "{schema}"}, string(schema), `x --schema {"type":"object"} -r c`, ""},
		{[]string{"--file={schema_file}"}, string(schema), `x --file=/private/schema.json -r c`, "{\"type\":\"object\"}\n"},
		{[]string{}, string(schema), "x -r c", ""},
		{nil, string(schema), "x -r c", ""},
		{[]string{"--schema", "{schema}"}, "", "x -r c", ""},
		{[]string{"--schema", "{schema}"}, "null", "x -r c", ""}, // as it comes out of a spec without one
		{[]string{"--schema", "{schema}"}, "{", "x -r c", ""},
		{[]string{"--schema", "{schema}"}, `["x"]`, "x -r c", ""},
	} {
		p := coppice.Profile{Command: []string{"x"}, Resume: []string{"-r", "{conversation}"}, Schema: c.args}
		l, err := LaunchProfile(p, Request{Private: "/private", Resume: "c", Schema: json.RawMessage(c.schema)})
		if got := strings.Join(l.Argv, " "); err != nil || got != c.want || string(l.Files["schema.json"]) != c.file {
			t.Errorf("%q with the schema %s: %q, files %v, %v; want %q and the file %q", c.args, c.schema, got, l.Files, err, c.want, c.file)
		}
	}
	p := coppice.Profile{Command: []string{"x"}, Schema: []string{"{schema_file}"}}
	if _, err := LaunchProfile(p, Request{Schema: schema}); err == nil {
		t.Error("a schema is written nowhere")
	}
}

// An empty list survives encoding: it means that there is no schema.
func TestNoSchemaIsKept(t *testing.T) {
	t.Parallel()
	for _, want := range []coppice.Profile{{}, {Schema: []string{}}, {Schema: []string{"{schema}"}}} {
		var got coppice.Profile
		if err := json.Unmarshal(coppice.Raw(want), &got); err != nil || (got.Schema == nil) != (want.Schema == nil) || len(got.Schema) != len(want.Schema) {
			t.Errorf("%#v became %#v: %v", want.Schema, got.Schema, err)
		}
	}
}
