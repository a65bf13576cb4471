package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"coppice"
	"coppice/api"
)

// lineWidth is how much of a tool call or result is shown if there is no
// terminal.
const lineWidth = 120

// printer shows a session's events to people: the agent's messages in full,
// each tool call and each result as one line.
type printer struct {
	env      *Env
	relative func(string) string // how paths in a text are shown
}

func (p *printer) piece(o api.Output) error {
	if o.Kind == coppice.OutputImage {
		p.put(p.env.paint(dim, "▣ picture of "+bytesOf(o.Size)))
		return nil
	}
	o.Data, o.Event = []byte(p.relative(string(o.Data))), []byte(p.relative(string(o.Event)))
	if o.Kind != coppice.OutputEvent {
		text := string(o.Data)
		if ev, ok := coppice.ReadAgentEvent(o.Data); ok && o.Kind == coppice.OutputHost { // hosts write events, too
			text = ev.Text
		}
		if text = strings.TrimSpace(Clean(text)); text != "" {
			p.put(p.env.paint(dim, text))
		}
		return nil
	}
	var ev coppice.AgentEvent
	if err := json.Unmarshal(o.Event, &ev); err != nil {
		p.put(p.env.paint(dim, line(string(o.Event)+string(o.Data))))
		return nil
	}
	p.event(ev)
	return nil
}

func (p *printer) put(s string) { p.env.printf("%s\n", s) }

// cut shortens text to fit the line after a mark.
func (p *printer) cut(s string, used int) string {
	width := p.env.Width
	if width == 0 {
		width = lineWidth
	}
	return ansi.Truncate(s, max(width-used, 20), "…")
}

func (p *printer) event(ev coppice.AgentEvent) {
	e := p.env
	text := strings.TrimSpace(Clean(ev.Text))
	if ev.Own { // the call shows it
		return
	}
	switch ev.Kind {
	case coppice.KindText:
		p.put(text)
	case coppice.KindThinking:
		p.put(e.paint(dim, "· "+p.cut(line(text), 2)))
	case coppice.KindTool:
		name := line(ev.Label())
		p.put(e.paint(blue, "● "+name) + " " + p.cut(toolLine(ev), 3+ansi.StringWidth(name)))
	case coppice.KindCall:
		name := "coppice " + line(ev.Name)
		p.put(e.paint(blue, "● "+name) + " " + p.cut(toolLine(ev), 3+ansi.StringWidth(name)))
		p.put(p.result(ev.OK, strings.TrimSpace(text+" "+tookLine(ev.Took))))
	case coppice.KindToolResult:
		p.put(p.result(ev.OK, text))
	case coppice.KindPlan:
		p.put(e.paint(bold, "plan") + "\n" + indent(text))
	case coppice.KindPermission:
		style := yellow
		if ev.OK {
			style = dim // the usual case
		}
		p.put(e.paint(style, "▲ "+line(ev.Label())+" "+p.cut(line(text), 4)))
	case coppice.KindQuestion:
		p.put(e.paint(yellow.Bold(true), "? "+text))
		for _, o := range e.optionLines(ev.Options, ev.Descriptions, ev.Several) {
			p.put("  " + o)
		}
	case coppice.KindLimit:
		p.put(e.paint(yellow, strings.TrimSpace("limited until "+e.moment(ev.Until)+": "+line(text))))
	case coppice.KindError:
		p.put(e.paint(red, "✗ "+text))
	case coppice.KindNotice:
		p.put(e.paint(dim, text))
	case coppice.KindInit:
		p.put(e.paint(dim, strings.Join(strings.Fields("started "+line(ev.Model)+" "+line(ev.Version)), " ")))
	}
}

// tookLine shows how long a call took, if it took long.
func tookLine(d coppice.Duration) string {
	if d.D() < time.Second {
		return ""
	}
	return "(" + d.D().Round(100*time.Millisecond).String() + ")"
}

// result shortens a tool's result to one line.
func (p *printer) result(ok bool, text string) string {
	lines := strings.Split(text, "\n")
	switch {
	case !ok:
		return p.env.paint(red, "  └ failed: "+p.cut(line(text), 12))
	case text == "":
		return p.env.paint(dim, "  └ done")
	case len(lines) == 1:
		return p.env.paint(dim, "  └ "+p.cut(line(text), 4))
	}
	more := " (" + count(len(lines), "line") + ")"
	return p.env.paint(dim, "  └ "+p.cut(line(lines[0]), 4+len(more))+more)
}

// toolLine shows what a tool was asked for: its paths, or the fields of its
// input, those with the shortest values first.
func toolLine(ev coppice.AgentEvent) string {
	if len(ev.Paths) > 0 {
		return line(strings.Join(ev.Paths, " "))
	}
	var fields map[string]any
	if json.Unmarshal(ev.Input, &fields) != nil {
		return line(string(ev.Input))
	}
	if command, ok := fields["command"].(string); ok {
		return line(command)
	}
	var parts []string
	for name, v := range fields {
		parts = append(parts, fmt.Sprintf("%s=%v", name, v))
	}
	slices.SortFunc(parts, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return line(strings.Join(parts, " "))
}
