package config

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"coppice"
)

// maxDepth limits how deep values nest. The deepest key of the format is at 4.
const maxDepth = 32

// decoder turns the syntax tree into values. It walks the tree itself, so that
// every error has its place.
type decoder struct {
	name     string
	source   []byte
	set      map[string]int        // keys that the file sets, with their lines
	elements map[string][]ast.Node // the elements of each list, for later errors
	values   map[string]ast.Node   // the value of each key, likewise
}

func newDecoder(name string, b []byte) *decoder {
	return &decoder{
		name: name, source: bytes.TrimPrefix(b, []byte("\uFEFF")),
		set: map[string]int{}, elements: map[string][]ast.Node{}, values: map[string]ast.Node{},
	}
}

// form is one of the two files that this package reads.
type form struct {
	fresh func() any                // returns a pointer to the defaults
	whole func(*decoder, any) error // checks rules that involve several values
}

// project is the form of coppice.yaml.
var project = form{
	fresh: func() any { p := coppice.DefaultPolicy(); return &p },
	whole: func(d *decoder, v any) error { return d.whole(v.(*coppice.Policy)) },
}

// read decodes the whole file and returns a pointer to its values.
func (d *decoder) read(f form) (any, error) {
	v := f.fresh()
	body, err := d.parse()
	if err != nil || body == nil {
		return v, err
	}
	if err := d.value(body, reflect.ValueOf(v).Elem(), ""); err != nil {
		return nil, err
	}
	return v, f.whole(d, v)
}

// policy decodes the whole file as a project's configuration.
func (d *decoder) policy() (coppice.Policy, error) {
	v, err := d.read(project)
	if err != nil {
		return coppice.Policy{}, err
	}
	return *v.(*coppice.Policy), nil
}

// parse returns the document's value, nil if the file is empty.
func (d *decoder) parse() (body ast.Node, err error) {
	if len(d.source) > MaxSize {
		return nil, coppice.Errorf(coppice.EInvalid, "%s is bigger than %d bytes", d.name, MaxSize).
			WithFix("keep only configuration in it; move long commands into a script")
	}
	if i := invalidByte(d.source); i >= 0 {
		line, column := d.place(i)
		return nil, problem(d.name, d.source, line, column, "this is not text in UTF-8", "save the file as UTF-8")
	}
	// A panic of the parser must not end the program.
	defer func() {
		if r := recover(); r != nil {
			body, err = nil, coppice.Errorf(coppice.EInvalid, "%s is not valid YAML", d.name).
				WithFix("write it in plain YAML: keys, lists and values")
		}
	}()
	tokens := lexer.Tokenize(string(d.source))
	if err := d.checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, d.syntax(err)
	}
	var docs []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.NullType && doc.Body.Type() != ast.CommentType {
			docs = append(docs, doc.Body)
		}
	}
	if len(docs) == 0 {
		return nil, nil
	}
	if len(docs) > 1 {
		return nil, d.fail(docs[1], "a second document starts here").WithFix("use one document: remove the --- line")
	}
	return docs[0], nil
}

// invalidByte returns the position of the first byte that is not UTF-8, or -1.
func invalidByte(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] == 0 {
			return i
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// place turns an offset into line and column.
func (d *decoder) place(offset int) (line, column int) {
	before := d.source[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// checkTokens refuses tokens that make a small file large or deep, before the
// tree is built.
func (d *decoder) checkTokens(tokens token.Tokens) error {
	flow, block, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, block = t.Position.Line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			block++
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return d.failAt(t, "anchors, aliases and merge keys are not accepted").WithFix("write the value out")
		case token.TagType, token.DirectiveType:
			return d.failAt(t, "tags and directives are not accepted").WithFix("leave it out; put text that looks like a number in quotes")
		}
		if flow > maxDepth || block > maxDepth || t.Position.IndentNum > 8*maxDepth {
			return d.failAt(t, "values are nested too deep here").WithFix("nest at most %d levels", maxDepth)
		}
	}
	return nil
}

// syntax converts an error of the parser.
func (d *decoder) syntax(err error) error {
	var ye yaml.Error
	if !errors.As(err, &ye) || ye.GetToken() == nil {
		return coppice.Errorf(coppice.EInvalid, "%s is not valid YAML: %w", d.name, err).WithFix("fix the syntax")
	}
	t := ye.GetToken()
	cause, fix := "broken YAML: "+ye.GetMessage(), "fix the syntax; `coppice config` shows every key and its form"
	text := lineOf(d.source, t.Position.Line)
	var duplicate *yaml.DuplicateKeyError
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	switch {
	case errors.As(err, &duplicate) || strings.Contains(ye.GetMessage(), "already defined"):
		cause, fix = fmt.Sprintf("the key %s is defined twice", coppice.Quote(t.Value)), "keep one of the two"
	case strings.Contains(indent, "\t"):
		cause, fix = "broken YAML: a tab where spaces should be", "indent with spaces"
	}
	return problem(d.name, d.source, t.Position.Line, t.Position.Column, cause, fix)
}

func (d *decoder) failAt(t *token.Token, format string, args ...any) *coppice.Error {
	return problem(d.name, d.source, t.Position.Line, t.Position.Column, fmt.Sprintf(format, args...), "")
}

func (d *decoder) fail(n ast.Node, format string, args ...any) *coppice.Error {
	return d.failAt(first(n), format, args...)
}

// first returns the token with which a value starts. The token of a mapping in
// block style is its first colon.
func first(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

var (
	durationType = reflect.TypeFor[coppice.Duration]()
	percentType  = reflect.TypeFor[coppice.Percent]()
	usdType      = reflect.TypeFor[coppice.USD]()
	bytesType    = reflect.TypeFor[coppice.Bytes]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

// value decodes a node into v, the value of the key at path.
func (d *decoder) value(n ast.Node, v reflect.Value, path string) error {
	if n.Type() == ast.NullType && !strings.HasSuffix(path, "]") && !strings.HasSuffix(path, "*") {
		return nil // a key without a value keeps its default
	}
	d.values[path] = n
	switch {
	case v.Type() == durationType || v.Type() == percentType || v.Type() == usdType || v.Type() == bytesType:
		return d.text(n, v, path)
	case v.Type() == rawType:
		return d.raw(n, v)
	case v.Kind() == reflect.Struct:
		return d.mapping(n, v, path)
	case v.Kind() == reflect.Pointer: // a key that can be absent
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(n, v.Elem(), path)
	case v.Kind() == reflect.Map:
		return d.named(n, v, path)
	case v.Kind() == reflect.Slice:
		return d.list(n, v, path)
	case v.Kind() == reflect.String:
		return d.str(n, v, path)
	case v.Kind() == reflect.Int:
		return d.number(n, v, path)
	case v.Kind() == reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			return d.wrongType(n, path, "true or false")
		}
		v.SetBool(b.Value)
		return nil
	}
	return fmt.Errorf("config: no reader for %s of type %s", path, v.Type())
}

// entries returns the pairs of a mapping in order.
func (d *decoder) entries(n ast.Node, path string) ([]*ast.MappingValueNode, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	}
	return nil, d.wrongType(n, path, "a mapping (key: value)")
}

// each calls f with the name of each entry of a mapping.
func (d *decoder) each(n ast.Node, path string, f func(name string, e *ast.MappingValueNode) error) error {
	entries, err := d.entries(n, path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, err := d.keyText(e)
		if err != nil {
			return err
		}
		if err := f(name, e); err != nil {
			return err
		}
	}
	return nil
}

// eachAt is each for the mapping of a path. It calls nothing if the file has none.
func (d *decoder) eachAt(path string, f func(name string, e *ast.MappingValueNode) error) error {
	if n, ok := d.values[path]; ok {
		return d.each(n, path, f)
	}
	return nil
}

// keyText returns the text of a key, which must be a plain one.
func (d *decoder) keyText(e *ast.MappingValueNode) (string, error) {
	switch k := ast.Node(e.Key).(type) {
	case *ast.StringNode:
		return k.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return k.GetToken().Value, nil
	}
	return "", d.failAt(e.Key.GetToken(), "this is not a plain key").WithFix("write keys as plain words")
}

// mapping decodes a mapping with fixed keys.
func (d *decoder) mapping(n ast.Node, v reflect.Value, path string) error {
	seen := map[string]bool{}
	err := d.each(n, path, func(name string, e *ast.MappingValueNode) error {
		field, ok := fieldOf(v.Type(), name)
		if !ok {
			return d.unknown(e, path, name, fieldNames(v.Type()))
		}
		if seen[name] {
			return d.fail(e.Key, "the key %s is defined twice", coppice.Quote(name)).WithFix("keep one of the two")
		}
		seen[name] = true
		child := join(path, name)
		if e.Value.Type() != ast.NullType {
			d.set[child] = e.Key.GetToken().Position.Line
		}
		return d.value(e.Value, v.FieldByIndex(field.Index), child)
	})
	if err != nil {
		return err
	}
	for _, name := range fieldNames(v.Type()) {
		if keys()[join(path, name)].required && !seen[name] {
			return d.fail(n, "%s needs %s", what(path), name).WithFix("add it, as in %s: %s", name, keys()[join(path, name)].example)
		}
	}
	return nil
}

// named decodes a mapping whose keys are names that users choose.
func (d *decoder) named(n ast.Node, v reflect.Value, path string) error {
	k := keys()[path]
	out := reflect.MakeMap(v.Type())
	err := d.each(n, path, func(name string, e *ast.MappingValueNode) error {
		if k.names != nil && !slices.Contains(k.names, name) {
			return d.unknown(e, path, name, k.names)
		}
		if k.mapKey != nil {
			if err := k.mapKey(name); err != nil {
				return d.refuse(e.Key, err)
			}
		}
		mk := reflect.ValueOf(name).Convert(v.Type().Key())
		if out.MapIndex(mk).IsValid() {
			return d.fail(e.Key, "the key %s is defined twice", coppice.Quote(name)).WithFix("keep one of the two")
		}
		d.set[join(path, name)] = e.Key.GetToken().Position.Line
		elem := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(e.Value, elem, join(path, "*")); err != nil {
			return err
		}
		out.SetMapIndex(mk, elem)
		return nil
	})
	if err == nil {
		v.Set(out)
	}
	return err
}

func (d *decoder) list(n ast.Node, v reflect.Value, path string) error {
	seq, ok := n.(*ast.SequenceNode)
	if t := n.Type(); keys()[path].single && (t == ast.MappingType || t == ast.MappingValueType) {
		seq, ok = &ast.SequenceNode{Values: []ast.Node{n}}, true
	}
	if !ok {
		if keys()[path].single {
			return d.wrongType(n, path, "a mapping or a list of mappings").WithFix("write it as %s", keys()[path].example)
		}
		if s, scalar := n.(ast.ScalarNode); scalar {
			return d.wrongType(n, path, "a list").WithFix("write it as [%s]", cut(s.GetToken().Value))
		}
		return d.wrongType(n, path, "a list")
	}
	out := reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values))
	d.elements[path] = seq.Values
	for i, e := range seq.Values {
		if err := d.value(e, out.Index(i), path+"[]"); err != nil {
			return err
		}
	}
	v.Set(out)
	if valid := keys()[path].list; valid != nil {
		if err := valid(out.Interface().([]string)); err != nil {
			return d.refuse(n, err)
		}
	}
	return nil
}

func (d *decoder) str(n ast.Node, v reflect.Value, path string) error {
	var s string
	switch n := n.(type) {
	case *ast.StringNode:
		s = n.Value
	case *ast.LiteralNode:
		s = n.Value.Value
	case ast.ScalarNode:
		return d.wrongType(n, path, "text").WithFix("put it in quotes: %q", cut(n.GetToken().Value))
	default:
		return d.wrongType(n, path, "text")
	}
	k := keys()[path]
	if err := checkSecrets(k, path, s); err != nil {
		return d.refuse(n, err)
	}
	if k.oneOf != nil && !slices.Contains(k.oneOf, s) {
		return d.notOneOf(n, path, s, k.oneOf)
	}
	if k.valid != nil {
		if err := k.valid(s); err != nil {
			return d.refuse(n, err)
		}
	}
	v.SetString(s)
	return nil
}

func (d *decoder) number(n ast.Node, v reflect.Value, path string) error {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return d.wrongType(n, path, "a whole number")
	}
	k := keys()[path]
	top := k.max
	if top == 0 {
		top = 1 << 30
	}
	var got int64
	switch x := i.Value.(type) {
	case int64:
		got = x
	case uint64:
		got = int64(min(x, 1<<62))
	default:
		return d.wrongType(n, path, "a whole number")
	}
	if got < int64(k.min) || got > int64(top) {
		return d.fail(n, "%s is out of range for %s", cut(n.GetToken().Value), what(path)).WithFix("use a number from %d to %d", k.min, top)
	}
	v.SetInt(got)
	return nil
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// text decodes a type that parses its own text: a duration, percentage, amount
// of money or amount of data.
func (d *decoder) text(n ast.Node, v reflect.Value, path string) error {
	var s string
	switch n := n.(type) {
	case *ast.StringNode:
		s = n.Value
	case *ast.IntegerNode, *ast.FloatNode:
		s = n.GetToken().Value
	default:
		return d.wrongType(n, path, article(typeName(v.Type())))
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
		return d.refuse(n, err)
	}
	if least := keys()[path].least; least != "" {
		low, err := time.ParseDuration(least)
		if err != nil {
			return fmt.Errorf("config: bound of %s: %w", path, err)
		}
		if time.Duration(v.Int()) < low {
			return d.fail(n, "%s is too short for %s", coppice.Quote(s), what(path)).WithFix("use at least %s", least)
		}
	}
	if k := keys()[path]; v.Type() == bytesType && (v.Int() < int64(k.min)<<20 || v.Int() > int64(k.max)<<20) {
		return d.fail(n, "%s is out of range for %s", coppice.Quote(s), what(path)).
			WithFix("use an amount from %v to %v", coppice.Bytes(k.min)<<20, coppice.Bytes(k.max)<<20)
	}
	return nil
}
