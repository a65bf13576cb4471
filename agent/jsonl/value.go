package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// decode reads a line that is one JSON object. Numbers keep their text.
func decode(line []byte) (map[string]any, bool) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var v map[string]any
	if dec.Decode(&v) != nil || v == nil {
		return nil, false
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return v, true
}

// find returns the value at a path, or at the first of several that exists.
func find(v any, paths string) any {
	if paths == "" {
		return nil
	}
	for path := range strings.SplitSeq(paths, "|") {
		at := v
		for key := range strings.SplitSeq(path, ".") {
			m, _ := at.(map[string]any)
			at = m[key]
		}
		if at != nil {
			return at
		}
	}
	return nil
}

// str returns a value as a text. A list of parts gives their texts.
func str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		var out []string
		for _, part := range v {
			if t, ok := find(part, "text").(string); ok {
				out = append(out, t)
			}
		}
		return strings.Join(out, "\n")
	}
	return ""
}

// hold reports whether all conditions match.
func (c conditions) hold(v any) bool {
	for path, values := range c {
		got, met := str(find(v, path)), false
		for want := range strings.SplitSeq(values, "|") {
			met = met || got == want
		}
		if !met {
			return false
		}
	}
	return true
}

// amount returns a number that an agent counted, within a plausible range.
func amount(v any, path string) float64 {
	n, ok := find(v, path).(json.Number)
	if !ok {
		return 0
	}
	f, err := n.Float64()
	if err != nil || math.IsNaN(f) {
		return 0
	}
	return min(max(f, 0), 1<<48)
}
