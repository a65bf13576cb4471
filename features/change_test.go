package features

import (
	"encoding/json"
	"strings"
	"testing"

	"coppice"
)

func fields(t *testing.T, text string) Fields {
	t.Helper()
	var f Fields
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func list(t *testing.T, text string) *List {
	t.Helper()
	l, err := Parse("f.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Only the fields that are set change. Everything else keeps its bytes.
func TestSet(t *testing.T) {
	t.Parallel()
	const text = `{ "features": [
  {"id": 1, "name":"Log in",   "own": [1 ,2], "steps": ["a"], "status": "failed", "failure_reason": "x", "failure_category": "unknown"},
  {"id": "b", "name": "Log out"}
] }
`
	for _, c := range []struct{ id, set, from, to string }{
		{"1", `{"name": "Sign in"}`, `"name":"Log in"`, `"name":"Sign in"`},
		{"1", `{"steps": ["a", "b"], "priority": 3}`, `"steps": ["a"], "status": "failed", "failure_reason": "x", "failure_category": "unknown"`,
			`"steps": ["a", "b"], "status": "failed", "failure_reason": "x", "failure_category": "unknown", "priority": 3`},
		{"1", `{"steps": []}`, `, "steps": ["a"]`, ``},
		{"1", `{"status": "open"}`, `"status": "failed", "failure_reason": "x", "failure_category": "unknown"`, `"status": "open"`},
		{"b", `{"depends_on": ["1"], "description": "By <a> click."}`, `"name": "Log out"`, `"name": "Log out", "description": "By <a> click.", "depends_on": ["1"]`},
		{"b", `{"name": "Log out"}`, ``, ``},
	} {
		got, err := list(t, text).Set(c.id, fields(t, c.set))
		want := strings.Replace(text, c.from, c.to, 1)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.set, err, got, want)
		}
	}
	for _, c := range []struct {
		id, set string
		code    coppice.Code
		says    string
	}{
		{"9", `{"name": "x"}`, coppice.ENotFound, "no feature"},
		{"1", `{"id": "7"}`, coppice.EInvalid, "cannot be set"},
		{"1", `{"own": 1}`, coppice.EInvalid, "cannot be set"},
		{"b", `{"depends_on": ["b"]}`, coppice.EInvalid, "f.json:3:"},
		{"b", `{"status": "done"}`, coppice.EInvalid, "f.json:3:"},
	} {
		if _, err := list(t, text).Set(c.id, fields(t, c.set)); coppice.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", c.set, err, c.code)
		}
	}
}

// A new feature has the format of the last one.
func TestAdd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want, id string }{
		{"[]\n", `[{"id": 1, "name": "New"}]` + "\n", "1"},
		{`{"features": [ ]}`, `{"features": [{"id": 1, "name": "New"} ]}`, "1"},
		{`[{"id":4,"name":"a"}]`, `[{"id":4,"name":"a"},{"id": 5, "name": "New"}]`, "5"},
		{"[\n  {\"id\": \"x\", \"name\": \"a\"}\n]\n", "[\n  {\"id\": \"x\", \"name\": \"a\"},\n  {\"id\": 1, \"name\": \"New\"}\n]\n", "1"},
		{"[\n  {\"id\": 1, \"name\": \"a\"},\n  {\"id\": 2, \"name\": \"b\"}\n]\n", "[\n  {\"id\": 1, \"name\": \"a\"},\n  {\"id\": 2, \"name\": \"b\"},\n  {\"id\": 3, \"name\": \"New\"}\n]\n", "3"},
		{"{\"features\": [\n  {\n    \"id\": 1,\n    \"name\": \"a\"\n  }\n]}\n", "{\"features\": [\n  {\n    \"id\": 1,\n    \"name\": \"a\"\n  },\n  {\n    \"id\": 2,\n    \"name\": \"New\"\n  }\n]}\n", "2"},
	} {
		got, id, err := list(t, c.text).Add(fields(t, `{"name": "New", "category": ""}`))
		if err != nil || string(got) != c.want || id != c.id {
			t.Errorf("%q: id %s, %v\n%q\nwant\n%q", c.text, id, err, got, c.want)
		}
	}
	if _, _, err := list(t, "[]").Add(fields(t, `{"priority": 99, "name": "x"}`)); coppice.ErrorCode(err) != coppice.EInvalid {
		t.Errorf("a priority out of range: %v", err)
	}
}
