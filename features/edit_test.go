package features

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// blank draws the space between two tokens.
func blank(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", " ", "\n  ", "\t", "\r\n", " \n\n"}).Draw(t, "blank")
}

// value draws any JSON value, formatted in any way.
func value(t *rapid.T, depth int) string {
	most := 6
	if depth == 0 {
		most = 4
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"0", "-0", "1.50", "1e3", "1E+2", "-12.0e-1", "9007199254740993", "0.10"}).Draw(t, "number")
	case 1:
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
	case 2:
		return rapid.SampledFrom([]string{`"\u00e9\/\n"`, `"é"`, `"{\"a\":[,"`, `"\ud83d\ude00"`, `""`, `"\ud800"`}).Draw(t, "odd")
	case 3, 4:
		return quote(rapid.StringN(0, 12, 40).Draw(t, "text"))
	case 5:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, blank(t)+value(t, depth-1)+blank(t))
		}
		return "[" + strings.Join(items, ",") + pick(len(items) == 0, blank(t)) + "]"
	}
	var members []string
	for i := range rapid.IntRange(0, 3).Draw(t, "members") {
		members = append(members, fmt.Sprintf(`%s"k%d"%s:%s%s%s`, blank(t), i, blank(t), blank(t), value(t, depth-1), blank(t)))
	}
	return "{" + strings.Join(members, ",") + pick(len(members) == 0, blank(t)) + "}"
}

func pick(ok bool, s string) string {
	if ok {
		return s
	}
	return ""
}

// drawn is a features file and the place of its statuses.
type drawn struct {
	text string
	ids  []string
	was  []Status
}

// file draws a features file: fields in any order, unknown ones among them.
func file(t *rapid.T, withStatus bool) drawn {
	var d drawn
	var items []string
	for i := range rapid.IntRange(1, 5).Draw(t, "features") {
		id := fmt.Sprint(i + 1)
		st := rapid.SampledFrom(statuses).Draw(t, "status")
		members := []string{`"id"` + blank(t) + ":" + blank(t) + rapid.SampledFrom([]string{id, quote(id), id + ".0", id + "e0"}).Draw(t, "id"), `"name": "x"`}
		if withStatus {
			members = append(members, `"status"`+blank(t)+":"+blank(t)+quote(string(st)))
		} else {
			st = Open
		}
		for k := range rapid.IntRange(0, 3).Draw(t, "unknown") {
			members = append(members, fmt.Sprintf(`"u%d"%s:%s%s`, k, blank(t), blank(t), value(t, 2)))
		}
		members = rapid.Permutation(members).Draw(t, "order")
		for i := range members {
			members[i] = blank(t) + members[i] + blank(t)
		}
		items = append(items, blank(t)+"{"+strings.Join(members, ",")+"}"+blank(t))
		d.ids, d.was = append(d.ids, id), append(d.was, st)
	}
	d.text = "[" + strings.Join(items, ",") + "]"
	if rapid.Bool().Draw(t, "object") {
		d.text = fmt.Sprintf(`{%s"meta":%s%s,"features"%s:%s,%s"tail": 1.0}`, blank(t), value(t, 2), blank(t), blank(t), d.text, blank(t))
	}
	d.text = pick(rapid.Bool().Draw(t, "mark"), "\uFEFF") + blank(t) + d.text + blank(t)
	return d
}

// Setting a status changes only that status, whatever the file looks like.
func TestOnlyTheStatusChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := file(t, true)
		l, err := Parse("f.json", []byte(d.text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, d.text)
		}
		n := rapid.IntRange(0, len(d.ids)-1).Draw(t, "which")
		to := rapid.SampledFrom([]Status{Open, Verifying, Passed}).Draw(t, "to")
		got, changed := l.Write([]Mark{{ID: d.ids[n], Status: to}})
		v := l.nodes[n].find("status").value
		want := d.text[:v.start] + quote(string(to)) + d.text[v.end:]
		if string(got) != want || changed != (to != d.was[n]) {
			t.Fatalf("%v\n%s", changed, cmp.Diff(want, string(got)))
		}
	})
}

// A failure adds its two fields and nothing else. Removing it gives the same
// file again.
func TestFailureAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		withStatus := rapid.Bool().Draw(t, "with status")
		d := file(t, withStatus)
		l, err := Parse("f.json", []byte(d.text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, d.text)
		}
		var marks, back []Mark
		for i, id := range d.ids {
			if rapid.Bool().Draw(t, "fails") && d.was[i] != Failed {
				marks = append(marks, Mark{ID: id, Status: Failed, Reason: rapid.String().Draw(t, "reason"), Failure: "unknown"})
				back = append(back, Mark{ID: id, Status: d.was[i]})
			}
		}
		failed, changed := l.Write(marks)
		if changed != (len(marks) > 0) {
			t.Fatal("changed", changed)
		}
		again, err := Parse("f.json", failed)
		if err != nil {
			t.Fatalf("%v in\n%s", err, failed)
		}
		for _, m := range marks {
			f, _ := again.Find(m.ID)
			if f.Status != Failed || f.Reason != m.Reason || f.Failure != m.Failure {
				t.Fatalf("%+v, not %+v", f, m)
			}
		}
		var before, after any
		if json.Unmarshal([]byte(strings.TrimPrefix(d.text, "\uFEFF")), &before) != nil || json.Unmarshal([]byte(strings.TrimPrefix(string(failed), "\uFEFF")), &after) != nil {
			t.Fatal("no JSON")
		}
		got, _ := again.Write(back)
		if withStatus && string(got) != d.text {
			t.Fatal(cmp.Diff(d.text, string(got)))
		}
		if _, changed := again.Write(marks); changed {
			t.Fatal("the same marks change it again")
		}
	})
}

// The parser accepts exactly what the standard library does.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`[]`, `{"features":[{"id":1,"name":"x","status":"open"}]}`, `[1,]`, `{"a":1,}`, `"\ud800"`, "\"\t\"", `[01]`, `-`, `1e`, `tru`, "[\"\xff\"]", `{"a" 1}`, ` [ ] x`, `"\u12G4"`, `"\u123"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if strings.HasPrefix(string(text), "\uFEFF") || strings.Count(string(text), "[")+strings.Count(string(text), "{") > mostDepth {
			return
		}
		n, err := parse(text)
		if (err == nil) != json.Valid(text) {
			t.Fatalf("%q: %v, but the standard library says %v", text, err, json.Valid(text))
		}
		if err == nil && (n.start > n.end || strings.TrimSpace(string(text)) != string(text[n.start:n.end])) {
			t.Fatalf("%q: from %d to %d", text, n.start, n.end)
		}
		if l, err := Parse("f.json", text); err == nil {
			var marks []Mark
			for _, f := range l.Features {
				marks = append(marks, Mark{ID: f.ID, Status: Failed, Reason: "r", Failure: "unknown"})
			}
			out, _ := l.Write(marks)
			if _, err := Parse("f.json", out); err != nil {
				t.Fatalf("%q becomes %q: %v", text, out, err)
			}
		}
	})
}

func TestWriteKeepsStyle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, out string }{
		"pretty": {"[\n  {\n    \"id\": 1,\n    \"name\": \"a\",\n    \"status\": \"open\",\n    \"x\": 1.0\n  }\n]\n",
			"[\n  {\n    \"id\": 1,\n    \"name\": \"a\",\n    \"status\": \"failed\",\n    \"failure_reason\": \"no\",\n    \"failure_category\": \"unknown\",\n    \"x\": 1.0\n  }\n]\n"},
		"compact":      {`[{"id":1,"name":"a","status":"open"}]`, `[{"id":1,"name":"a","status":"failed","failure_reason":"no","failure_category":"unknown"}]`},
		"no status":    {`[{ "id": 1, "name": "a" }]`, `[{ "id": 1, "name": "a", "status": "failed", "failure_reason": "no", "failure_category": "unknown" }]`},
		"status first": {`[{"status": "open", "id": 1, "name": "a"}]`, `[{"status": "failed", "failure_reason": "no", "failure_category": "unknown", "id": 1, "name": "a"}]`},
		"null":         {`[{"id":1,"name":"a","status":null,"failure_reason":null}]`, `[{"id":1,"name":"a","status":"failed","failure_category":"unknown","failure_reason":"no"}]`},
	} {
		l, err := Parse(name, []byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := l.Write([]Mark{{ID: "1", Status: Failed, Reason: "no", Failure: "unknown"}})
		if string(got) != c.out {
			t.Errorf("%s: %s", name, cmp.Diff(c.out, string(got)))
		}
	}
	head := `[{"failure_reason":"a","failure_category":"b","status":"failed","id":1,"name":"n"}]`
	l, err := Parse("head", []byte(head))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := l.Write([]Mark{{ID: "1", Status: Passed}}); string(got) != `[{"status":"passed","id":1,"name":"n"}]` {
		t.Error(string(got))
	}
}

// many is a file of that many features.
func many(n int) []byte {
	var b strings.Builder
	b.WriteString("{\"features\": [\n")
	for i := range n {
		dep := ""
		if i > 0 {
			dep = fmt.Sprintf(`, "depends_on": [%d]`, i)
		}
		fmt.Fprintf(&b, `  {"id": %d, "category": "c%d", "name": "Feature %d", "description": %q, "steps": ["one", "two"], "status": "open"%s}%s`+"\n",
			i+1, i%7, i+1, strings.Repeat("text ", 40), dep, pick(i < n-1, ","))
	}
	b.WriteString("]}\n")
	return []byte(b.String())
}

func TestManyFeatures(t *testing.T) {
	t.Parallel()
	began := time.Now()
	l, err := Parse("many", many(2000))
	if err != nil || len(l.Features) != 2000 {
		t.Fatal(err)
	}
	var marks []Mark
	for _, f := range l.Features {
		marks = append(marks, Mark{ID: f.ID, Status: Failed, Reason: "no", Failure: "unknown"})
	}
	text, _ := l.Write(marks)
	if _, err := Parse("many", text); err != nil {
		t.Fatal(err)
	}
	t.Logf("2000 features read, written and read again in %s", time.Since(began))
}

func BenchmarkParse2000(b *testing.B) {
	text := many(2000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("many", text); err != nil {
			b.Fatal(err)
		}
	}
}
