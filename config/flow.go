package config

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"sync"

	"coppice"
)

// Flow writes JSON as YAML on one line, in the order given.
func Flow(raw json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var b strings.Builder
	err := flowValue(&b, d, 0)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = notJSON
		}
	}
	if err != nil {
		return "", err
	}
	return b.String(), nil
}

var notJSON = coppice.Errorf(coppice.EInvalid, "the value is not valid JSON").WithFix("write text in quotes, lists as [\"a\", \"b\"], mappings as {\"a\": 1}").WithField("value")

func flowValue(b *strings.Builder, d *json.Decoder, depth int) error {
	t, err := d.Token()
	if err != nil || depth > maxDepth {
		return notJSON
	}
	switch t := t.(type) {
	case json.Delim:
		return flowMany(b, d, t, depth)
	case string:
		b.WriteString(flowText(t))
	case json.Number:
		b.WriteString(t.String())
	case bool:
		if t {
			b.WriteString("true")
		} else {
			b.WriteString("false")
		}
	default:
		return coppice.Errorf(coppice.EInvalid, "null is not a valid value").WithFix("unset the key instead").WithField("value")
	}
	return nil
}

func flowMany(b *strings.Builder, d *json.Decoder, open json.Delim, depth int) error {
	ends := "]"
	if open == '{' {
		ends = "}"
	}
	b.WriteString(open.String())
	for first := true; d.More(); first = false {
		if !first {
			b.WriteString(", ")
		}
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return notJSON
			}
			b.WriteString(Scalar(name.(string)) + ": ") // names are texts in JSON
		}
		if err := flowValue(b, d, depth+1); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return notJSON
	}
	b.WriteString(ends)
	return nil
}

// measured matches texts that start with a digit and that YAML still reads as
// text: durations, percentages, amounts of money and of data.
var measured = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]+(ms|s|m|h|d)|[0-9]+h[0-9]+m|[0-9]+%|[0-9]+(\.[0-9]+)? USD|[0-9]+ [KMGT]iB)$`)
})

func flowText(s string) string {
	if measured().MatchString(s) {
		return s
	}
	return Scalar(s)
}
