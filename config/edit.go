package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"coppice"
	"coppice/internal/nearest"
)

// Change sets or removes one key of a configuration.
type Change struct {
	Key   string          // as in limits.sessions, or limits.per_agent.NAME below a map
	Value json.RawMessage // as JSON; ignored with Unset
	Unset bool
}

// Edit returns the text of a configuration with one key changed. Only the key's
// value is replaced. Every other line stays as it is. The result is read as the
// file would be, and refused with the same errors. If the key already has the
// value, or is unset already, nothing changes.
func Edit(name string, source []byte, c Change) ([]byte, error) {
	return edit(project, name, source, c)
}

func edit(f form, name string, source []byte, c Change) ([]byte, error) {
	path, err := parseKey(f, c.Key)
	if err != nil {
		return nil, err
	}
	before, err := decode(f, name, source)
	if err != nil {
		return nil, err
	}
	want, value, err := wanted(f, path, c)
	if err != nil {
		return nil, err
	}
	have, set := before.at(path)
	if c.Unset && !set || !c.Unset && set && equal(have, want) {
		return source, nil
	}
	e := &editor{bom: len(source) - len(before.d.source), src: before.d.source, d: before.d}
	var text []byte
	if c.Unset {
		text = e.unset(before.body, path)
	} else {
		text = e.set(before.body, path, value)
	}
	text = append(slices.Clone(source[:e.bom]), text...)
	after, err := decode(f, name, text)
	if err != nil {
		return nil, withKey(err, text)
	}
	got, _ := after.at(path)
	if !equal(got, want) || !equal(without(before.tree, path), without(after.tree, path)) {
		return nil, coppice.Errorf(coppice.EConflict, "%s cannot be changed in %s without changing other lines", c.Key, name).
			WithFix("change it in the file by hand")
	}
	return text, nil
}

// withKey adds the key at the place of an error to the error.
func withKey(err error, text []byte) error {
	var at *At
	if !errors.As(err, &at) {
		return err
	}
	if body, parsed := newDecoder(at.File, text).parse(); parsed == nil {
		at.Key = keyAt(body, "", at)
	}
	return err
}

// keyAt returns the key of the last value that starts at or before a place, with
// the numbers of elements of lists, from 0; "" if there is none.
func keyAt(n ast.Node, above string, at *At) (key string) {
	visit := func(start *token.Token, value ast.Node, name string) {
		if p := start.Position; p.Line < at.Line || p.Line == at.Line && p.Column <= at.Column {
			key = cmp.Or(keyAt(value, name, at), name)
		}
	}
	if list, ok := n.(*ast.SequenceNode); ok {
		for i, v := range list.Values {
			visit(first(v), v, fmt.Sprintf("%s[%d]", above, i))
		}
		return key
	}
	entries, _ := entriesOf(n)
	for _, e := range entries {
		visit(e.Key.GetToken(), e.Value, join(above, e.Key.GetToken().Value))
	}
	return key
}

// decoded is a configuration that was read.
type decoded struct {
	d    *decoder
	body ast.Node
	tree map[string]any // its content, as JSON
}

func decode(f form, name string, source []byte) (decoded, error) {
	d := newDecoder(name, source)
	v, err := d.read(f)
	if err != nil {
		return decoded{}, err
	}
	body, err := newDecoder(name, source).parse()
	return decoded{d, body, treeOf(v)}, err
}

// at returns the value of a key, and whether the file sets it.
func (x decoded) at(path []string) (any, bool) {
	return lookup(x.tree, path), x.d.set[strings.Join(path, ".")] > 0
}

// wanted returns the value that a key will have, and the text that sets it.
func wanted(f form, path []string, c Change) (value any, text string, err error) {
	if c.Unset {
		return lookup(treeOf(f.fresh()), path), "", nil
	}
	if text, err = Flow(c.Value); err != nil {
		return nil, "", err
	}
	// The value is checked alone here. Edit checks whether it fits the rest.
	d := newDecoder(File, []byte(nested(path, text)+"\n"))
	body, err := d.parse()
	if err != nil {
		return nil, "", err
	}
	v := f.fresh()
	if body != nil {
		if d.value(body, reflect.ValueOf(v).Elem(), "") != nil {
			return nil, text, nil // Edit refuses it, with its place in the file
		}
		_ = f.whole(d, v) // likewise
	}
	return lookup(treeOf(v), path), text, nil
}

// nested writes a value below its names: a: {b: value}.
func nested(path []string, value string) string {
	text := value
	for i := len(path) - 1; i > 0; i-- {
		text = "{" + Scalar(path[i]) + ": " + text + "}"
	}
	return Scalar(path[0]) + ": " + text
}

// parseKey splits a key and checks that it exists.
func parseKey(f form, key string) ([]string, error) {
	path := strings.Split(key, ".")
	t := reflect.TypeOf(f.fresh()).Elem()
	at := ""
	for i, name := range path {
		switch {
		case t.Kind() == reflect.Struct:
			field, ok := fieldOf(t, name)
			if !ok {
				return nil, unknownKey(f, path, i, fieldNames(t))
			}
			t, at = field.Type, join(at, name)
		case t.Kind() == reflect.Map:
			k := keys()[at]
			if k.names != nil && !slices.Contains(k.names, name) {
				return nil, unknownKey(f, path, i, k.names)
			}
			if k.mapKey != nil {
				if err := k.mapKey(name); err != nil {
					return nil, err
				}
			}
			if name == "" {
				return nil, unknownKey(f, path, i, nil)
			}
			t, at = t.Elem(), join(at, "*")
		default:
			return nil, coppice.Errorf(coppice.EInvalid, "%s has no keys below it", coppice.Quote(strings.Join(path[:i], "."))).
				WithFix("change it as a whole").WithField("key")
		}
	}
	return path, nil
}

// unknownKey says that a name of a key does not exist, and which key was probably
// meant.
func unknownKey(f form, path []string, i int, known []string) error {
	hint, above := "", strings.Join(path[:i], ".")
	if near := nearest.Name(path[i], known); near != "" {
		meant := slices.Concat(path[:i], []string{near}, path[i+1:])
		if _, err := parseKey(f, strings.Join(meant, ".")); err != nil {
			meant = meant[:i+1]
		}
		hint = ", did you mean " + coppice.Quote(strings.Join(meant, ".")) + "?"
	}
	e := coppice.Errorf(coppice.EInvalid, "unknown key %s%s", coppice.Quote(strings.Join(path, ".")), hint).WithField("key")
	if len(known) == 0 {
		return e.WithFix("see `coppice config` for every key")
	}
	if above != "" {
		return e.WithFix("known below %s: %s", above, list(known))
	}
	return e.WithFix("known: %s", list(known))
}

// treeOf returns the content of a file, as JSON has it.
func treeOf(v any) map[string]any {
	var tree map[string]any
	if err := json.Unmarshal(coppice.Raw(v), &tree); err != nil {
		panic("config: reading back a configuration: " + err.Error()) // it was written a moment ago
	}
	for _, name := range []string{"prompts", "context", "problems"} { // fields of a policy that are not keys of the file
		delete(tree, name)
	}
	return tree
}

// keysOf returns the keys of a configuration: treeOf without what the templates of
// trackers say.
func keysOf(v any) map[string]any {
	tree := treeOf(v)
	trackers, _ := tree["tracker"].([]any)
	for _, t := range trackers {
		if fields, ok := t.(map[string]any); ok {
			delete(fields, "task")
		}
	}
	return tree
}

func lookup(tree any, path []string) any {
	for _, name := range path {
		m, ok := tree.(map[string]any)
		if !ok {
			return nil
		}
		tree = m[name]
	}
	return tree
}

// without returns the tree without a key, and without what is then empty.
func without(tree map[string]any, path []string) map[string]any {
	out := maps.Clone(tree)
	if len(path) == 1 {
		delete(out, path[0])
		return out
	}
	below, ok := out[path[0]].(map[string]any)
	if !ok {
		delete(out, path[0])
		return out
	}
	if below = without(below, path[1:]); empty(below) {
		delete(out, path[0])
	} else {
		out[path[0]] = below
	}
	return out
}

// empty reports whether a value is absent, or consists only of empty values.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, x := range v {
			if !empty(x) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case bool:
		return !v
	case float64:
		return v == 0
	}
	return false
}

func equal(a, b any) bool { return empty(a) && empty(b) || reflect.DeepEqual(a, b) }
