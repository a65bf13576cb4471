package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/pflag"

	"coppice"
)

// Clean makes untrusted text safe to print: it contains nothing that a terminal
// obeys. Colours and the carriage returns at the ends of lines are removed.
// Every other control character, and every character that changes the direction
// of text, is shown in a visible form.
func Clean(s string) string {
	return visible(colours().ReplaceAllString(strings.ReplaceAll(s, "\r\n", "\n"), ""))
}

// colours matches the sequences that set colours and styles.
var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;:]*m") })

// visible shows control characters as ^[ and <U+202E>, and leaves nothing out.
// Line breaks and tabs stay.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, isUnsafe) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !isUnsafe(r):
			b.WriteRune(r)
		case r < 0x80:
			b.WriteByte('^')
			b.WriteByte(byte(r) ^ 0x40) // as terminals echo them: ^[ for escape, ^? for delete
		default:
			fmt.Fprintf(&b, "<%U>", r)
		}
	}
	return b.String()
}

// isUnsafe reports whether a terminal would obey a character, or let it change
// how other text looks.
func isUnsafe(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || coppice.TurnsText(r))
}

// Screen returns a writer that cleans what is written to it. Each write must
// consist of whole characters.
func Screen(w io.Writer) io.Writer { return screen{w} }

type screen struct{ w io.Writer }

func (s screen) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.w, Clean(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// line makes untrusted text one clean line.
func line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// json prints a value for programs. Characters that a terminal could obey are
// escaped, as JSON allows.
func (e *Env) json(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return e.writeJSON(b)
}

// jsonLine prints a value on one line.
func (e *Env) jsonLine(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.writeJSON(b)
}

func (e *Env) writeJSON(b []byte) error {
	var out strings.Builder
	for _, r := range string(b) {
		if isUnsafe(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	_, err := io.WriteString(e.Stdout, out.String()+"\n")
	return err
}

func (e *Env) printf(format string, args ...any) { fmt.Fprintf(e.Stdout, format, args...) }

// The colours, from the terminal's own sixteen.
var (
	bold   = lipgloss.NewStyle().Bold(true)
	dim    = lipgloss.NewStyle().Faint(true)
	red    = lipgloss.NewStyle().Foreground(lipgloss.Color("1"))
	green  = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	yellow = lipgloss.NewStyle().Foreground(lipgloss.Color("3"))
	blue   = lipgloss.NewStyle().Foreground(lipgloss.Color("4"))
	cyan   = lipgloss.NewStyle().Foreground(lipgloss.Color("6"))
)

// paint styles text if colours are on.
func (e *Env) paint(st lipgloss.Style, s string) string {
	if !e.Color || s == "" {
		return s
	}
	return st.Render(s)
}

func statusStyle(s coppice.Status) lipgloss.Style {
	switch s {
	case coppice.StatusNeedsYou:
		return yellow.Bold(true)
	case coppice.StatusWorking, coppice.StatusFixing, coppice.StatusVerifying:
		return blue
	case coppice.StatusChecking, coppice.StatusLanding:
		return cyan
	case coppice.StatusDone:
		return green
	case coppice.StatusFailed:
		return red
	}
	return dim
}

// cell is one field of a table.
type cell struct {
	text  string
	style lipgloss.Style
}

func plain(s string) cell { return cell{text: line(s)} }

// column is one column of a table. If the terminal is too narrow, the widest of
// the columns that can shrink are cut first.
type column struct {
	head string
	give bool
	end  bool // aligned at its end, as numbers are
}

const gap = "  "

// listed prints a table with a row for each item. Without items, it prints none instead.
func listed[T any](e *Env, none string, items []T, cols []column, row func(T) []cell) {
	if len(items) == 0 {
		e.printf("%s\n", none)
		return
	}
	rows := make([][]cell, len(items))
	for i, x := range items {
		rows[i] = row(x)
	}
	e.table(cols, rows)
}

// beforeFlag adds --before, which gets the next page of a list.
func beforeFlag(f *pflag.FlagSet, before *int64) {
	f.Int64Var(before, "before", 0, "the next page: the number that the previous page printed")
}

// morePages says how to get the next page of a list, if there is one.
func (e *Env) morePages(what string, next int64) {
	if next != 0 {
		e.printf("%s\n", e.paint(dim, "more "+what+": add --before "+itoa(next)))
	}
}

// table prints rows under their heads, aligned, within the terminal's width.
func (e *Env) table(cols []column, rows [][]cell) {
	widths := make([]int, len(cols))
	for i, c := range cols {
		widths[i] = lipgloss.Width(c.head)
		for _, r := range rows {
			widths[i] = max(widths[i], lipgloss.Width(r[i].text))
		}
	}
	e.fit(cols, widths)
	heads := make([]cell, len(cols))
	for i, c := range cols {
		heads[i] = cell{c.head, dim}
	}
	for _, r := range append([][]cell{heads}, rows...) {
		var b strings.Builder
		for i, c := range r {
			text := ansi.Truncate(c.text, widths[i], "…")
			pad := strings.Repeat(" ", widths[i]-lipgloss.Width(text))
			if i > 0 {
				b.WriteString(gap)
			}
			if cols[i].end {
				b.WriteString(pad)
			}
			b.WriteString(e.paint(c.style, text))
			if !cols[i].end {
				b.WriteString(pad)
			}
		}
		e.printf("%s\n", strings.TrimRight(b.String(), " "))
	}
}

// fit cuts the widest of the columns that can shrink until the table fits.
func (e *Env) fit(cols []column, widths []int) {
	if e.Width == 0 {
		return
	}
	const least = 8
	for {
		total, widest := -len(gap), -1
		for i, w := range widths {
			total += w + len(gap)
			if cols[i].give && w > least && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if total <= e.Width || widest < 0 {
			return
		}
		widths[widest]--
	}
}

// ago formats a duration in one or two units.
func ago(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 10*time.Minute:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// money formats a cost. It returns "" if none is known.
func money(usd float64) string {
	if usd == 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", usd)
}

// cost formats what was spent, with a ~ if it is an estimate.
func cost(u coppice.Usage) string {
	if text := money(u.CostUSD); text != "" && u.Estimated {
		return "~" + text
	}
	return money(u.CostUSD)
}

// moment formats a time of day, with the date unless it is today.
func (e *Env) moment(t time.Time) string {
	now := e.Now()
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// short returns the start of a commit's id.
func short(hash string) string { return hash[:min(len(hash), 10)] }

// count formats a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
