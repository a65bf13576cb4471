package features

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"coppice"
)

// known are the fields that have a meaning. Others are kept and ignored.
var known = []string{
	"id", "category", "name", "description", "steps", "status", "failure_reason", "failure_category", "progress",
	"depends_on", "priority", "agent", "model", "budget",
}

// decoder reads one feature and keeps the first problem.
type decoder struct {
	list *List
	node node
	id   string
	err  error
}

func (d *decoder) fail(n node, cause, fix string) {
	if d.err != nil {
		return
	}
	if d.id != "" {
		cause = "feature " + d.id + ": " + cause
	}
	d.err = problem(d.list.Name, d.list.text, n.start, cause, fix)
}

func (d *decoder) feature() Feature {
	var f Feature
	seen := map[string]bool{}
	for _, m := range d.node.members {
		if seen[m.key] && slices.Contains(known, m.key) {
			d.fail(m.value, fmt.Sprintf("%s occurs twice", m.key), "remove one of the two")
		}
		seen[m.key] = true
	}
	id := d.node.find("id")
	if id == nil {
		d.fail(d.node, "the feature has no id", "give it a number or a short text that no other feature has")
		return f
	}
	f.ID = d.identity(id.value, "id")
	d.id = f.ID
	f.Category, f.Name, f.Description = d.text("category"), strings.Join(strings.Fields(d.text("name")), " "), d.text("description")
	f.Reason, f.Failure, f.Progress = d.text("failure_reason"), d.text("failure_category"), d.text("progress")
	f.Steps, f.DependsOn = d.texts("steps"), d.identities("depends_on")
	f.Agent, f.Model = d.text("agent"), d.text("model")
	f.Priority, f.Budget, f.Status = d.priority(), d.budget(), d.status()
	d.check(&f)
	return f
}

// check validates a feature by the rules for tasks.
func (d *decoder) check(f *Feature) {
	at := func(key string) node {
		if m := d.node.find(key); m != nil {
			return m.value
		}
		return d.node
	}
	refuse := func(key string, err error) {
		if err != nil {
			e := coppice.Public(err)
			d.fail(at(key), e.Cause, e.Fix)
		}
	}
	if f.Name == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(f.Description), "\n")
		if f.Name = cut(strings.Join(strings.Fields(first), " "), 120); f.Name == "" {
			d.fail(at("name"), "the feature has neither a name nor a description", "write in its name what should be done, in one line")
		}
	}
	if err := coppice.ValidTitle(f.Name); err != nil && f.Name != "" {
		d.fail(at("name"), coppice.Public(err).Cause, "keep the name to one line and put the rest into the description")
	}
	refuse("description", coppice.ValidText("", f.Description, coppice.MaxBody))
	if f.Category != "" && (len(f.Category) > 200 || coppice.LineProblem(f.Category) != "") {
		d.fail(at("category"), fmt.Sprintf("%s is not a valid category", coppice.Quote(f.Category)), "write a few words in one line")
	}
	for i, s := range f.Steps {
		if !coppice.Visible(s) || coppice.ValidText("", s, coppice.MaxMessage) != nil {
			d.fail(at("steps").items[i], fmt.Sprintf("%s is not a valid step", coppice.Quote(s)), "write what must be true, in one sentence")
		}
	}
	if f.Agent != "" {
		refuse("agent", coppice.ValidName("agent", f.Agent))
	}
	if f.Model != "" {
		refuse("model", coppice.ValidModel(f.Model))
	}
}

// member returns a field's value, nil if it is absent or null.
func (d *decoder) member(key string) *node {
	m := d.node.find(key)
	if m == nil || d.null(m.value) {
		return nil
	}
	return &m.value
}

func (d *decoder) null(n node) bool { return n.kind == kindWord && d.raw(n) == "null" }

func (d *decoder) raw(n node) string { return string(d.list.text[n.start:n.end]) }

func (d *decoder) text(key string) string {
	n := d.member(key)
	if n == nil {
		return ""
	}
	if n.kind != kindString {
		d.fail(*n, fmt.Sprintf("%s is %s, not a text", key, n.kind), "write it in quotes")
		return ""
	}
	return decodeText(d.list.text, *n)
}

func (d *decoder) texts(key string) []string {
	n := d.member(key)
	if n == nil {
		return nil
	}
	if n.kind != kindArray {
		d.fail(*n, fmt.Sprintf("%s is %s, not a list", key, n.kind), `write ["…", "…"]`)
		return nil
	}
	var out []string
	for _, item := range n.items {
		if item.kind != kindString {
			d.fail(item, fmt.Sprintf("an entry of %s is %s, not a text", key, item.kind), "write it in quotes")
			return nil
		}
		out = append(out, decodeText(d.list.text, item))
	}
	return out
}

func (d *decoder) identities(key string) []string {
	n := d.member(key)
	if n == nil {
		return nil
	}
	if n.kind != kindArray {
		d.fail(*n, fmt.Sprintf("%s is %s, not a list", key, n.kind), "write a list of ids, such as [1, 2]")
		return nil
	}
	var out []string
	for _, item := range n.items {
		out = append(out, d.identity(item, "an entry of "+key))
	}
	return out
}

// identity reads an id: a number or a text. 7 and "7" are the same.
func (d *decoder) identity(n node, what string) string {
	switch n.kind {
	case kindNumber:
		var v float64
		if err := json.Unmarshal(d.list.text[n.start:n.end], &v); err == nil && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10)
		}
		return d.raw(n)
	case kindString:
		s := decodeText(d.list.text, n)
		if len(s) > 200 || s != strings.TrimSpace(s) || coppice.LineProblem(s) != "" {
			d.fail(n, fmt.Sprintf("%s: %s is not a valid id", what, coppice.Quote(s)), "use a number, or a short text in one line")
		}
		return s
	}
	d.fail(n, fmt.Sprintf("%s is %s, neither a number nor a text", what, n.kind), "use a number, or a short text in one line")
	return ""
}

func (d *decoder) priority() int {
	n := d.member("priority")
	if n == nil {
		return 0
	}
	v, err := strconv.Atoi(d.raw(*n))
	if n.kind != kindNumber || err != nil || v < coppice.MinPriority || v > coppice.MaxPriority {
		d.fail(*n, fmt.Sprintf("%s is not a valid priority", coppice.Quote(d.raw(*n))),
			fmt.Sprintf("use a whole number from %d to %d; higher starts first", coppice.MinPriority, coppice.MaxPriority))
		return 0
	}
	return v
}

func (d *decoder) budget() coppice.USD {
	n := d.member("budget")
	if n == nil {
		return 0
	}
	raw := d.raw(*n)
	if n.kind == kindString {
		raw = decodeText(d.list.text, *n)
	}
	var u coppice.USD
	if err := u.UnmarshalText([]byte(raw)); err != nil || n.kind != kindNumber && n.kind != kindString {
		d.fail(*n, fmt.Sprintf("%s is not a valid amount of money", coppice.Quote(raw)), `write dollars, such as 5 or "2.50 USD"`)
		return 0
	}
	return u
}

func (d *decoder) status() Status {
	n := d.member("status")
	if n == nil {
		return Open
	}
	s := Status(d.text("status"))
	if n.kind == kindString && !slices.Contains(statuses, s) {
		d.fail(*n, fmt.Sprintf("%s is not a valid status", coppice.Quote(string(s))), "use open, verifying, passed or failed")
	}
	return s
}
