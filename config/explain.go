package config

import (
	"encoding"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"coppice"
)

// Key is one key of coppice.yaml, as `coppice config` and the documentation
// show it.
type Key struct {
	Name    string `json:"name"`    // as in limits.sessions; [] is a list's element, * a name that the user chooses
	Type    string `json:"type"`    // for people
	Shape   string `json:"shape"`   // for forms, see shapeOf
	Default string `json:"default"` // in YAML, or a sentence in brackets
	Doc     string `json:"doc"`
	Example string `json:"example,omitempty"`
	Value   string `json:"value"` // in YAML; empty for keys below [] and *
	From    string `json:"from"`  // "default", or file and line

	JSON    any      `json:"json,omitempty"`    // the value, for programs
	Line    int      `json:"line,omitempty"`    // of the file, if it sets the key
	OneOf   []string `json:"one_of,omitempty"`  // the only values
	Names   []string `json:"names,omitempty"`   // the only names in it
	Min     *int     `json:"min,omitempty"`     // bounds of a number
	Max     *int     `json:"max,omitempty"`     // likewise
	Least   string   `json:"least,omitempty"`   // the shortest duration
	Pattern string   `json:"pattern,omitempty"` // that a text matches
	Needed  bool     `json:"needed,omitempty"`  // in its mapping
	Secret  bool     `json:"secret,omitempty"`  // the value is the name of a secret
}

// Explain lists every key with its meaning, its value in the policy and the
// source of that value, in the order of the policy's fields.
func Explain(p coppice.Policy, src Source) []Key { return explain(project, p, src) }

func explain(f form, v any, src Source) []Key {
	e := explainer{src: src, tree: keysOf(v)}
	e.fields(reflect.ValueOf(v), reflect.ValueOf(f.fresh()).Elem(), "", true)
	return e.out
}

type explainer struct {
	src  Source
	tree map[string]any
	out  []Key
}

func (e *explainer) fields(v, def reflect.Value, path string, real bool) {
	for f, fv := range v.Fields() {
		if isKey(f) {
			e.key(fv, def.FieldByIndex(f.Index), join(path, f.Tag.Get("yaml")), real)
		}
	}
}

// key adds one key and the keys below it. Below lists and maps there are no
// values, only types: real is false there.
func (e *explainer) key(v, def reflect.Value, path string, real bool) {
	t := v.Type()
	if t.Kind() == reflect.Struct {
		e.fields(v, def, path, real)
		return
	}
	k := keys()[path]
	row := Key{
		Name: path, Type: typeName(t), Shape: shapeOf(t, k.oneOf), Doc: k.doc, Example: k.example,
		OneOf: k.oneOf, Names: k.names, Least: k.least, Pattern: k.pattern, Needed: k.required, Secret: k.secret,
	}
	if t.Kind() == reflect.Int && t != percentType {
		row.Min = &k.min
		if k.max > 0 {
			row.Max = &k.max
		}
	}
	if k.oneOf != nil {
		row.Type = strings.Join(k.oneOf, " or ")
	}
	if k.required {
		row.Default = "(required)"
	} else {
		row.Default = written(def)
		if k.unset != "" {
			row.Default = "(" + k.unset + ")"
		}
	}
	if real {
		row.Value, row.From, row.Line = written(v), e.from(path), e.src.Set[path]
		row.JSON = lookup(e.tree, strings.Split(path, "."))
		if k.unset != "" && v.IsZero() {
			row.Value = row.Default
		}
	}
	e.out = append(e.out, row)
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		e.fields(reflect.New(t.Elem()).Elem(), reflect.New(t.Elem()).Elem(), path+"[]", false)
	}
	if t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct {
		e.fields(reflect.New(t.Elem()).Elem(), reflect.New(t.Elem()).Elem(), path+".*", false)
	}
	if t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Slice && t.Elem().Elem().Kind() == reflect.Struct {
		below := reflect.New(t.Elem().Elem()).Elem()
		e.fields(below, below, path+".*[]", false)
	}
}

// from names the line that set a key, or one below it.
func (e *explainer) from(path string) string {
	if line, ok := e.src.Set[path]; ok {
		return filepath.Base(e.src.Path) + ":" + strconv.Itoa(line)
	}
	return "default"
}

// written formats a value as YAML, on one line.
func written(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := m.MarshalText()
		if err != nil {
			return fmt.Sprint(v.Interface())
		}
		return string(b)
	}
	switch v.Kind() {
	case reflect.Slice:
		var parts []string
		for _, x := range v.Seq2() {
			parts = append(parts, written(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(namesOf(v))) {
			parts = append(parts, name+": "+written(v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Struct:
		var parts []string
		for f, x := range v.Fields() {
			if isKey(f) && !x.IsZero() {
				parts = append(parts, f.Tag.Get("yaml")+": "+written(x))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.String:
		return Scalar(v.String())
	}
	return fmt.Sprint(v.Interface())
}

func namesOf(v reflect.Value) map[string]bool {
	names := map[string]bool{}
	for _, k := range v.MapKeys() {
		names[k.String()] = true
	}
	return names
}

// Scalar writes text as a YAML value that reads back as the same text: plain if
// that is safe, otherwise in double quotes.
func Scalar(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r > '~' || r < ' ' || strings.ContainsRune(":#{}[],&*!|>'\"%@`?\\", r)
	}) && s == strings.TrimSpace(s) && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "=") && !reads(s)
	if plain {
		return s
	}
	return quoted(s)
}

// reads reports whether YAML would read the text as something other than text.
func reads(s string) bool {
	switch strings.ToLower(s) {
	case "null", "~", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", ".nan", "-.inf", "<<":
		return true
	}
	return strings.ContainsAny(s[:1], "0123456789+.~<") && !strings.HasPrefix(s, "./") && (s[0] != '.' || len(s) < 2 || s[1] <= '9')
}

// quoted writes text in YAML's double quotes.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\uFEFF':
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// typeName returns the name of a type for people.
func typeName(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem())
	case t == durationType:
		return "duration"
	case t == percentType:
		return "percentage"
	case t == usdType:
		return "amount"
	case t == bytesType:
		return "amount of data"
	case t.Kind() == reflect.Slice:
		return "list of " + plural(t.Elem())
	case t.Kind() == reflect.Map:
		return "names to " + plural(t.Elem())
	case t.Kind() == reflect.Int:
		return "number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "text"
}

// shapeOf returns how a form shows a value of a type.
func shapeOf(t reflect.Type, oneOf []string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := t.Kind(); {
	case oneOf != nil:
		return "choice"
	case kind == reflect.Bool:
		return "switch"
	case kind == reflect.Slice && plural(t.Elem()) == "texts":
		return "lines"
	case kind == reflect.Slice || kind == reflect.Map:
		return "json"
	case typeName(t) == "number":
		return "number"
	}
	return "text"
}

func plural(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "mappings"
	case reflect.Int:
		return "numbers"
	case reflect.Slice:
		return "lists of " + plural(t.Elem())
	}
	return "texts"
}

// Print writes the keys that have a value as a table.
func Print(w io.Writer, all []Key) error {
	wide, value := 0, 0
	for _, k := range all {
		if k.Value != "" {
			wide, value = max(wide, len(k.Name)), max(value, min(len(k.Value), 40))
		}
	}
	var b strings.Builder
	for _, k := range all {
		if k.Value != "" {
			fmt.Fprintf(&b, "%-*s  %-*s  %s\n", wide, k.Name, value, k.Value, k.From)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
