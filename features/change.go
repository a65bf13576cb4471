package features

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"coppice"
)

// Fields are fields of a feature that a person sets, as JSON by their names. An
// empty text, list or number removes the field.
type Fields map[string]json.RawMessage

// settable are the fields that a person sets, in the order of a new feature.
var settable = []string{"category", "name", "description", "steps", "status", "depends_on", "priority", "agent", "model", "budget"}

// empty reports whether a value removes its field.
func empty(raw json.RawMessage) bool {
	return slices.Contains([]string{"", "null", `""`, "[]", "0"}, string(bytes.TrimSpace(raw)))
}

// check refuses fields that a person does not set.
func (f Fields) check() error {
	for key := range f {
		if !slices.Contains(settable, key) {
			return coppice.Errorf(coppice.EInvalid, "%s of a feature cannot be set", coppice.Quote(key)).WithFix("set one of: %s", strings.Join(settable, ", ")).WithField(key)
		}
	}
	return nil
}

// Set returns the file with fields of a feature set. Everything else keeps its
// bytes. A new status removes the reason of an earlier failure.
func (l *List) Set(id string, f Fields) ([]byte, error) {
	i, ok := l.byID[id]
	if !ok {
		return nil, coppice.Errorf(coppice.ENotFound, "%s has no feature %s", l.Name, coppice.Quote(id)).WithFix("reload the page; somebody might have removed it")
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	var fields []field
	for _, key := range settable {
		if raw, set := f[key]; set {
			fields = append(fields, field{key: key, value: string(bytes.TrimSpace(raw)), drop: empty(raw)})
		}
	}
	if _, set := f["status"]; set {
		fields = append(fields, field{key: "failure_reason", drop: true}, field{key: "failure_category", drop: true})
	}
	return l.valid(apply(l.text, setFields(l.text, l.nodes[i], "", fields)))
}

// Add returns the file with another feature at the end of its list, and the id
// of the feature: the next number.
func (l *List) Add(f Fields) (text []byte, id string, err error) {
	if err := f.check(); err != nil {
		return nil, "", err
	}
	next := 1
	for _, old := range l.Features {
		if n, err := strconv.Atoi(old.ID); err == nil && n >= next {
			next = n + 1
		}
	}
	id = strconv.Itoa(next)
	members := []string{`"id": ` + id}
	for _, key := range settable {
		if raw := f[key]; !empty(raw) {
			members = append(members, quote(key)+": "+string(bytes.TrimSpace(raw)))
		}
	}
	at, with := l.end(members)
	text, err = l.valid(apply(l.text, []edit{{at, at, with}}))
	return text, id, err
}

// end returns where another feature belongs, and its text in the format of the
// last one.
func (l *List) end(members []string) (at int, with string) {
	if len(l.nodes) == 0 {
		root, _ := parse(l.text) // it was read before
		if m := root.find("features"); root.kind == kindObject && m != nil {
			root = m.value
		}
		return root.start + 1, "{" + strings.Join(members, ", ") + "}"
	}
	last := l.nodes[len(l.nodes)-1]
	between := "," + string(l.text[l.nodes[0].start-indent(l.text, l.nodes[0].start):l.nodes[0].start])
	if len(l.nodes) > 1 {
		between = string(l.text[l.nodes[len(l.nodes)-2].end:last.start])
	}
	if len(last.members) == 0 || !bytes.Contains(l.text[last.start:last.end], []byte("\n")) {
		return last.end, between + "{" + strings.Join(members, ", ") + "}"
	}
	first := last.members[0].start
	open := string(l.text[last.start+1 : first])
	return last.end, between + "{" + open + strings.Join(members, ","+open) + string(l.text[last.members[len(last.members)-1].value.end:last.end])
}

// indent counts the white space before a position.
func indent(text []byte, at int) int {
	return at - len(bytes.TrimRight(text[:at], " \t\r\n"))
}

// valid returns a text that can be read.
func (l *List) valid(text []byte) ([]byte, error) {
	_, err := Parse(l.Name, text)
	return text, err
}
