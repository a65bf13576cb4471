package answer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"coppice"
)

const verdict = `{"type": "object", "required": ["ok"], "additionalProperties": false, "properties": {"ok": {"type": "boolean"}, "why": {"type": "string"}}}`

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ words, schema, value, problem string }{
		"text":                       {words: " In main.go.\n"},
		"nothing":                    {words: " \n", problem: "without an answer"},
		"text that is too long":      {words: strings.Repeat("x", coppice.MaxAnswer+1), problem: "262144 are allowed"},
		"a value alone":              {words: `{"ok": true}`, schema: verdict, value: `{"ok": true}`},
		"a value in a fence":         {words: "Here:\n```json\n{\"ok\": false, \"why\": \"{}\"}\n```\n", schema: verdict, value: `{"ok": false, "why": "{}"}`},
		"the last that matches":      {words: `{"ok": true} or rather {"ok": false}, not {"no": 1}`, schema: verdict, value: `{"ok": false}`},
		"no value":                   {words: "yes", schema: verdict, problem: "has no JSON value"},
		"another value":              {words: `{"ok": "yes"}`, schema: verdict, value: `{"ok": "yes"}`, problem: "does not match its schema"},
		"a number":                   {words: "42", schema: `{"type": "integer"}`, value: "42"},
		"braces and nothing else":    {words: strings.Repeat("{", 100_000), schema: verdict, problem: "has no JSON value"},
		"a list, with a reference":   {words: `[1, 2]`, schema: `{"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}`, value: `[1, 2]`},
		"what the reference refuses": {words: `[1, "2"]`, schema: `{"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}`, value: `[1, "2"]`, problem: "does not match"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Read(c.words, json.RawMessage(c.schema))
			if string(got.Value) != c.value || (got.Problem == "") != (c.problem == "") || !strings.Contains(got.Problem, c.problem) {
				t.Errorf("%+v; want %s and %q", got, c.value, c.problem)
			}
		})
	}
}

func TestCheckSchema(t *testing.T) {
	t.Parallel()
	var doubled strings.Builder // each part refers to the next one twice
	doubled.WriteString(`{"$ref": "#/$defs/0", "$defs": {`)
	for n := range 30 {
		fmt.Fprintf(&doubled, `"%d": {"allOf": [{"$ref": "#/$defs/%d"}, {"$ref": "#/$defs/%d"}]}, `, n, n+1, n+1)
	}
	doubled.WriteString(`"30": {}}}`)
	for name, c := range map[string]struct{ schema, says string }{
		"none":                   {"", ""},
		"an object":              {verdict, ""},
		"shared parts":           {`{"properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}}`, ""},
		"a value like a ref":     {`{"enum": [{"$ref": "#"}]}`, ""},
		"no JSON":                {"{", "cannot be used"},
		"a list":                 {"[]", "not a JSON object"},
		"a wrong type":           {`{"type": 5}`, "cannot be used"},
		"a wrong pattern":        {`{"pattern": "("}`, "cannot be used"},
		"another file":           {`{"$ref": "other.json"}`, "part of the same schema"},
		"a reference to nothing": {`{"$ref": "#/$defs/x"}`, "leads nowhere"},
		"itself":                 {`{"$ref": "#"}`, "leads back to itself"},
		"itself, further in":     {`{"properties": {"next": {"$ref": "#"}}}`, "leads back to itself"},
		"a circle":               {`{"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": "#/$defs/a"}}}}`, "leads back to itself"},
		"a dynamic one":          {`{"$dynamicRef": "#x"}`, "not supported"},
		"two of two of two":      {doubled.String(), "more than 2000 parts"},
		"too long":               {`{"title": "` + strings.Repeat("x", coppice.MaxSchema) + `"}`, "65536 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := CheckSchema(json.RawMessage(c.schema))
			if (err == nil) != (c.says == "") {
				t.Fatalf("%v, want %q", err, c.says)
			}
			if err != nil && (!strings.Contains(err.Error(), c.says) || coppice.ErrorCode(err) != coppice.EInvalid || coppice.Public(err).Field != "schema") {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// FuzzRead shows that no schema and no message makes Read fail or run without
// end, and that an accepted answer has no problem.
func FuzzRead(f *testing.F) {
	f.Add(verdict, `{"ok": true}`)
	f.Add(`{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}`, "1")
	f.Fuzz(func(t *testing.T, schema, words string) {
		if CheckSchema(json.RawMessage(schema)) != nil {
			return
		}
		a := Read(words, json.RawMessage(schema))
		if a.Problem == "" && len(schema) > 0 && !json.Valid(a.Value) {
			t.Errorf("%q was accepted as %q", words, a.Value)
		}
	})
}
