package features

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// edit replaces a part of a text. An empty part inserts.
type edit struct {
	start, end int
	with       string
}

// apply makes the edits, which must not overlap. It does not change the text
// itself.
func apply(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return a.end - b.end
	})
	var b bytes.Buffer
	at := 0
	for _, e := range edits {
		b.Write(text[at:e.start])
		b.WriteString(e.with)
		at = e.end
	}
	b.Write(text[at:])
	return b.Bytes()
}

// field is a member that an object should have, with its value as JSON, or
// should not have.
type field struct {
	key   string
	value string
	drop  bool
}

// setFields returns the edits that give an object the fields. Existing members
// are replaced in place. New ones follow the member after, or the last one,
// with the same formatting. A dropped member takes its comma with it.
func setFields(text []byte, n node, after string, fields []field) []edit {
	var edits []edit
	gone := map[int]bool{}
	anchor := len(n.members) - 1
	for i, m := range n.members {
		if m.key == after {
			anchor = i
		}
		for _, f := range fields {
			if f.key == m.key && f.drop {
				gone[i] = true
			}
		}
	}
	var added strings.Builder
	for _, f := range fields {
		m := n.find(f.key)
		switch {
		case f.drop:
		case m == nil:
			a := n.members[anchor]
			added.WriteString(separator(text, n, anchor) + quote(f.key) + string(text[a.end:a.value.start]) + f.value)
		case !sameJSON(text[m.value.start:m.value.end], []byte(f.value)):
			edits = append(edits, edit{m.value.start, m.value.end, f.value})
		}
	}
	if added.Len() > 0 {
		at := n.members[anchor].value.end
		edits = append(edits, edit{at, at, added.String()})
	}
	kept := false
	for i, m := range n.members {
		switch {
		case !gone[i]:
			kept = true
		case kept:
			edits = append(edits, edit{n.members[i-1].value.end, m.value.end, ""})
		case i+1 < len(n.members):
			edits = append(edits, edit{m.start, n.members[i+1].start, ""})
		default:
			edits = append(edits, edit{m.start, m.value.end, ""})
		}
	}
	return edits
}

// separator returns the text between a member and its neighbour.
func separator(text []byte, n node, i int) string {
	switch {
	case i > 0:
		return string(text[n.members[i-1].value.end:n.members[i].start])
	case len(n.members) > 1:
		return string(text[n.members[0].value.end:n.members[1].start])
	}
	return "," + string(text[n.start+1:n.members[0].start])
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("features: encoding a text: " + err.Error()) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// decodeText returns the value of a string. The parser has accepted it, so it
// decodes.
func decodeText(text []byte, n node) string {
	var s string
	_ = json.Unmarshal(text[n.start:n.end], &s)
	return s
}

// sameJSON reports whether two texts are the same value.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
