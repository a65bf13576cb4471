package features

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coppice"
)

func TestParse(t *testing.T) {
	t.Parallel()
	text := `{"project": "x", "features": [
  {"id": 7, "category": "core", "name": "Log  in", "description": "Long.\nText.", "steps": ["a", "b"], "status": "failed",
   "failure_reason": "r", "failure_category": "environment", "progress": "one\ntwo", "depends_on": ["k", 8], "priority": -3,
   "agent": "me", "model": "big", "budget": 2.5, "own": {"deep": [1]}},
  {"id": "k", "description": "Only a description.\nMore.", "budget": "3 USD"},
  {"id": 8.0, "name": "n", "status": null, "steps": null}
]}`
	l, err := Parse("features.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Feature{
		{ID: "7", Category: "core", Name: "Log in", Description: "Long.\nText.", Steps: []string{"a", "b"}, Status: Failed, Reason: "r", Failure: "environment",
			Progress: "one\ntwo", FeatureTask: coppice.FeatureTask{DependsOn: []string{"k", "8"}, Priority: -3, Agent: "me", Model: "big", Budget: 2.5}},
		{ID: "k", Name: "Only a description.", Description: "Only a description.\nMore.", Status: Open, FeatureTask: coppice.FeatureTask{Budget: 3}},
		{ID: "8", Name: "n", Status: Open},
	}
	if d := cmp.Diff(want, l.Features); d != "" {
		t.Error(d)
	}
	if l, err := Parse("f", []byte("[]")); err != nil || len(l.Features) != 0 {
		t.Error("an empty list:", err)
	}
}

// Every problem is reported with its line and column.
func TestRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", coppice.MaxTitle+1)
	for name, c := range map[string]struct{ text, at, has string }{
		"broken":             {"[\n  {\"id\": 1,\n   \"name\" \"x\"}]", "3:11", "colon"},
		"trailing comma":     {"[\n{\"id\":1,\"name\":\"a\"},\n]", "3:1", "comma"},
		"cut off":            {"[{\"id\": 1", "1:10", "ends"},
		"nothing":            {"", "1:1", "ends"},
		"more behind":        {"[] []", "1:4", "after"},
		"no list":            {`{"features": {}}`, "1:14", "not a list"},
		"no member":          {`{"feature": []}`, "1:1", "features"},
		"a text":             {`"x"`, "1:1", "not a list"},
		"no object":          {"[1]", "1:2", "not an object"},
		"not a valid id":     {`[{"name": "x"}]`, "1:2", "no id"},
		"bad id":             {`[{"id": {}, "name": "x"}]`, "1:9", "neither a number nor a text"},
		"empty id":           {`[{"id": "", "name": "x"}]`, "1:9", "not a valid id"},
		"same id":            {"[{\"id\": 1, \"name\": \"x\"},\n {\"id\": \"1\", \"name\": \"y\"}]", "2:9", "two features have the id 1"},
		"field twice":        {`[{"id": 1, "name": "x", "status": "open", "status": "passed"}]`, "1:53", "twice"},
		"no name":            {`[{"id": 1}]`, "1:2", "neither a name nor a description"},
		"long name":          {`[{"id": 1, "name": "` + long + `"}]`, "1:20", "501 bytes"},
		"name of a number":   {`[{"id": 1, "name": 5}]`, "1:20", "not a text"},
		"unknown status":     {`[{"id": 1, "name": "é", "status": "done"}]`, "1:35", "not a valid status"},
		"status of a number": {`[{"id": 1, "name": "x", "status": 1}]`, "1:35", "not a text"},
		"steps no list":      {`[{"id": 1, "name": "x", "steps": "a"}]`, "1:34", "not a list"},
		"step no text":       {`[{"id": 1, "name": "x", "steps": ["a", 1]}]`, "1:40", "not a text"},
		"empty step":         {`[{"id": 1, "name": "x", "steps": [" "]}]`, "1:35", "not a valid step"},
		"unknown dependency": {`[{"id": 1, "name": "x", "depends_on": [2]}]`, "1:40", "depends on \"2\", which does not exist"},
		"itself":             {`[{"id": 1, "name": "x", "depends_on": [1]}]`, "1:40", "cycle: 1 → 1"},
		"cycle":              {"[{\"id\":1,\"name\":\"x\",\"depends_on\":[2]},\n{\"id\":2,\"name\":\"x\",\"depends_on\":[3]},\n{\"id\":3,\"name\":\"x\",\"depends_on\":[1]}]", "3:34", "cycle: 1 → 2 → 3 → 1"},
		"dependency no list": {`[{"id": 1, "name": "x", "depends_on": 1}]`, "1:39", "not a list"},
		"priority":           {`[{"id": 1, "name": "x", "priority": 11}]`, "1:37", "not a valid priority"},
		"priority text":      {`[{"id": 1, "name": "x", "priority": "1"}]`, "1:37", "not a valid priority"},
		"agent":              {`[{"id": 1, "name": "x", "agent": "a b"}]`, "1:34", "not a valid agent name"},
		"model":              {`[{"id": 1, "name": "x", "model": "$(x)"}]`, "1:34", "not a valid model name"},
		"budget":             {`[{"id": 1, "name": "x", "budget": -1}]`, "1:35", "not a valid amount"},
		"budget of nothing":  {`[{"id": 1, "name": "x", "budget": "NaN"}]`, "1:35", "not a valid amount"},
		"category":           {`[{"id": 1, "name": "x", "category": "a\nb"}]`, "1:37", "not a valid category"},
		"too deep":           {strings.Repeat("[", 300), "1:202", "deep"},
	} {
		_, err := Parse("features.json", []byte(c.text))
		var at *At
		e := coppice.Public(err)
		if !errors.As(err, &at) || e.Code != coppice.EInvalid || !strings.HasPrefix(e.Cause, "features.json:"+c.at+": ") || !strings.Contains(e.Cause, c.has) || e.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Parse("f", make([]byte, MaxSize+1)); coppice.ErrorCode(err) != coppice.ETooLarge {
		t.Errorf("a huge file: %v", err)
	}
}
