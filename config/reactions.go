package config

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"coppice"
	"coppice/reaction"
)

// The limits of reactions, and of the time between two reads of a forge.
const (
	mostRules     = 20 // of one event
	longestWait   = coppice.Duration(30 * 24 * time.Hour)
	longestReread = coppice.Duration(24 * time.Hour)
)

// reactions checks the rules of each event against the event: what they can do, their
// conditions and their messages.
func (d *decoder) reactions(all coppice.Reactions) error {
	return d.eachAt("reactions", func(name string, e *ast.MappingValueNode) error {
		event, _ := reaction.Find(coppice.ReactionEvent(name))
		rules, nodes := all[event.Name], ruleNodes(e.Value)
		if len(rules) > mostRules {
			return d.fail(nodes[mostRules], "%s has more than %d rules", name, mostRules).WithFix("combine rules with the same action in one condition, with ||")
		}
		for i, r := range rules {
			if i > 0 && rules[i-1].If == "" {
				return d.fail(nodes[i], "this rule never applies: the one before it has no condition").WithFix("add if to the rule before it, or remove this rule")
			}
			if err := d.rule(event, r, nodes[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// ruleNodes returns the rules of an event: one, or the elements of a list.
func ruleNodes(n ast.Node) []ast.Node {
	if seq, ok := n.(*ast.SequenceNode); ok {
		return seq.Values
	}
	return []ast.Node{n}
}

func (d *decoder) rule(event reaction.Event, r coppice.Reaction, n ast.Node) error {
	at := func(name string) ast.Node { return d.field(n, name) }
	switch {
	case !slices.Contains(event.Actions, r.Do):
		return d.fail(at("do"), "%s cannot follow %s", coppice.Quote(r.Do), event.Name).WithFix("use one of: %s", list(event.Actions))
	case r.Do == coppice.ReactRun && r.Run == "":
		return d.fail(n, "do: run needs a command").WithFix("add it, as in run: ./scripts/deploy.sh")
	case r.Do != coppice.ReactRun && r.Run != "":
		return d.fail(at("run"), "run is only for do: run").WithFix("remove it, or use do: run")
	case r.EscalateAfter > longestWait:
		return d.fail(at("escalate_after"), "escalate_after is too long").WithFix("use at most 30d, or leave it out")
	case r.Threshold > longestWait:
		return d.fail(at("threshold"), "threshold is too long").WithFix("use at most 30d")
	}
	if _, err := reaction.Compile(event.Name, r.If); err != nil {
		return d.within(at("if"), r.If, err)
	}
	if err := reaction.CheckMessage(event.Name, r.Message); err != nil {
		return d.within(at("message"), r.Message, err)
	}
	return nil
}

// within adds the place in the file to an error about a place in a text. If the file
// has the text as it is, the error points into it, otherwise to its start.
func (d *decoder) within(n ast.Node, text string, err error) error {
	var m *reaction.Mistake
	var e *coppice.Error
	start := first(n).Position
	if !errors.As(err, &m) || !errors.As(err, &e) || strings.Contains(text, "\n") {
		return d.refuse(n, err)
	}
	line := []rune(lineOf(d.source, start.Line))
	before, _, found := strings.Cut(string(line[min(start.Column-1, len(line)):]), text)
	if !found {
		return d.refuse(n, err)
	}
	return problem(d.name, d.source, start.Line, start.Column+utf8.RuneCountInString(before)+m.Column-1, e.Cause, e.Fix)
}

// forge checks the keys about the forge.
func (d *decoder) forge(p coppice.ForgePolicy) error {
	if p.Every > longestReread {
		return d.fail(d.values["forge.every"], "forge.every is too long").WithFix("use at most 1d")
	}
	return nil
}
