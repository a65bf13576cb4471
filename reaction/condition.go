package reaction

import (
	"errors"
	"fmt"
	"reflect"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"coppice"
	"coppice/internal/nearest"
)

// The limits of a condition. A condition has no loop, and makes no text or list, so
// they limit its cost.
const (
	MaxCondition = 1000    // bytes
	mostNodes    = 200     // of its syntax tree
	mostPattern  = 500     // instructions of its regular expressions together
	mostMatched  = 8 << 10 // bytes of a text that it can see
	mostMemory   = 10_000  // elements that an evaluation can allocate
)

// operators and functions are what a condition can use. Everything else that expr
// has could make large values or run for long.
var (
	operators = []string{"==", "!=", "<", "<=", ">", ">=", "&&", "||", "and", "or", "!", "not", "in", "contains", "startsWith", "endsWith", "matches"}
	functions = []string{"len", "lower", "upper", "trim"}
)

// Condition is the condition of a rule, checked against the fields of its event.
type Condition struct {
	event   Event
	program *vm.Program // nil for a condition that always holds
}

// Mistake is the place of a mistake in a condition or a message. The errors of
// Compile and CheckMessage wrap it, if they concern a place.
type Mistake struct {
	Line, Column int // from 1; the column counts characters
}

func (m *Mistake) Error() string { return fmt.Sprintf("line %d, column %d", m.Line, m.Column) }

// Compile reads a condition on the fields of an event. An empty one always holds. The
// error says what is wrong and where: see Mistake.
func Compile(name coppice.ReactionEvent, text string) (c Condition, err error) {
	event, known := Find(name)
	if !known {
		return Condition{}, unknownEvent(name)
	}
	c.event = event
	if text == "" {
		return c, nil
	}
	if len(text) > MaxCondition || !utf8.ValidString(text) {
		return Condition{}, event.invalid(nil, fmt.Sprintf("it has %d bytes, %d are allowed, in UTF-8", len(text), MaxCondition))
	}
	// A panic of the parser must not end the program.
	defer func() {
		if r := recover(); r != nil {
			c, err = Condition{}, event.invalid(nil, "it cannot be read")
		}
	}()
	tree, err := parser.Parse(text)
	if err != nil {
		return Condition{}, event.located(text, err)
	}
	w := walker{event: event}
	ast.Walk(&tree.Node, &w)
	if w.why != "" {
		return Condition{}, event.invalid(place(text, w.at), w.why)
	}
	if w.nodes > mostNodes {
		return Condition{}, event.invalid(nil, fmt.Sprintf("it has %d parts, %d are allowed", w.nodes, mostNodes))
	}
	env := map[string]any{}
	for _, f := range event.Fields {
		env[f.Name] = f.zero()
	}
	program, err := expr.Compile(text, expr.Env(env))
	if err != nil {
		return Condition{}, event.located(text, err)
	}
	if t := program.Node().Type(); t.Kind() != reflect.Bool {
		return Condition{}, event.invalid(&Mistake{1, 1}, "its result is not true or false, it is "+typeName(t))
	}
	c.program = program
	return c, nil
}

// Match reports whether the condition holds.
func (c Condition) Match(f Facts) (bool, error) {
	if c.program == nil {
		return true, nil
	}
	env := make(map[string]any, len(c.event.Fields))
	for _, field := range c.event.Fields {
		env[field.Name] = field.of(f)
	}
	machine := vm.VM{MemoryBudget: mostMemory}
	out, err := machine.Run(c.program, env)
	if err != nil {
		return false, c.event.located("", err)
	}
	holds, ok := out.(bool)
	if !ok {
		return false, c.event.invalid(nil, "its result is not true or false")
	}
	return holds, nil
}

// walker finds the first part of a condition that is not allowed.
type walker struct {
	event   Event
	nodes   int
	pattern int // instructions of its regular expressions

	at  file.Location
	why string
}

// Visit checks one part.
func (w *walker) Visit(node *ast.Node) {
	w.nodes++
	n := *node
	if why := w.refuses(n); why != "" && (w.why == "" || n.Location().From < w.at.From) {
		w.at, w.why = n.Location(), why
	}
}

func (w *walker) refuses(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.ArrayNode:
		return ""
	case *ast.IdentifierNode:
		return w.unknown(n.Value)
	case *ast.UnaryNode:
		return operator(n.Operator)
	case *ast.BinaryNode:
		if n.Operator == "matches" {
			return w.matches(n.Right)
		}
		return operator(n.Operator)
	case *ast.BuiltinNode:
		return function(n.Name)
	case *ast.CallNode:
		return function(n.Callee.String())
	}
	return "it can only compare fields: use " + strings.Join(operators, " ")
}

// unknown says that the event has no field of this name.
func (w *walker) unknown(name string) string {
	names := w.event.fieldNames()
	if slices.Contains(names, name) || slices.Contains(functions, name) {
		return ""
	}
	hint := ""
	if near := nearest.Name(name, names); near != "" {
		hint = ", did you mean " + coppice.Quote(near) + "?"
	}
	return fmt.Sprintf("%s has no field %s%s", w.event.Name, coppice.Quote(name), hint)
}

func operator(name string) string {
	if slices.Contains(operators, name) {
		return ""
	}
	return fmt.Sprintf("the operator %s cannot be used: use %s", name, strings.Join(operators, " "))
}

func function(name string) string {
	if slices.Contains(functions, name) {
		return ""
	}
	return fmt.Sprintf("there is no function %s: use %s", coppice.Quote(name), strings.Join(functions, ", "))
}

// matches checks the right side of the operator matches. A pattern that comes from
// outside could run for long.
func (w *walker) matches(right ast.Node) string {
	s, ok := right.(*ast.StringNode)
	if !ok {
		return "the pattern after matches must be a text in quotes"
	}
	re, err := syntax.Parse(s.Value, syntax.Perl)
	if err != nil {
		return fmt.Sprintf("%s is not a valid regular expression: %v", coppice.Quote(s.Value), err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return fmt.Sprintf("%s is not a valid regular expression: %v", coppice.Quote(s.Value), err)
	}
	if w.pattern += len(prog.Inst); w.pattern > mostPattern {
		return "its regular expressions are too large"
	}
	return ""
}

func (e Event) fieldNames() []string {
	names := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		names[i] = f.Name
	}
	return names
}

// located turns an error of expr into one with a place.
func (e Event) located(text string, err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return e.invalid(nil, err.Error())
	}
	if text == "" {
		return e.invalid(nil, at.Message)
	}
	return e.invalid(place(text, at.Location), at.Message)
}

// place returns the line and column of a location.
func place(text string, at file.Location) *Mistake {
	m := &Mistake{1, 1}
	for i, r := range []rune(text) {
		if i >= at.From {
			break
		}
		if m.Column++; r == '\n' {
			m.Line, m.Column = m.Line+1, 1
		}
	}
	return m
}

func (e Event) invalid(at *Mistake, why string) error {
	cause := "the condition is not valid: " + why
	if at != nil {
		cause = fmt.Sprintf("the condition is not valid at %s: %s", at, why)
	}
	err := coppice.Errorf(coppice.EInvalid, "%s", cause).WithFix("compare fields, as in minutes > 5; %s has the fields %s", e.Name, strings.Join(e.fieldNames(), ", "))
	if at != nil {
		err.Err = at
	}
	return err
}

func unknownEvent(name coppice.ReactionEvent) error {
	return coppice.Errorf(coppice.EInvalid, "there is no event %s", coppice.Quote(string(name))).WithFix("use one of %s", strings.Join(Names(), ", "))
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return TypeText
	case reflect.Int, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return t.String()
}

// cut shortens a text to a number of bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
