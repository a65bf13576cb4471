package sqlite

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"coppice"
)

// maxText bounds the indexed text of a piece of output or a description.
const maxText = 64 << 10

// The number of a row of output_words has a session and a place in its output.
const (
	placeBits     = 36 // bits of the place: 64 GiB of output
	maxRowPlace   = 1<<placeBits - 1
	maxRowSession = 1<<(63-placeBits) - 1
)

func rowOf(session, place int64) int64 { return session<<placeBits | place }

func placeOf(row int64) (session, place int64) { return row >> placeBits, row & maxRowPlace }

// scope returns the word that represents a project in the index.
func scope(project int64) string { return "p" + strconv.FormatInt(project, 10) }

func taskText(t coppice.Task) string {
	return cutText(t.Key + "\n" + t.Title + "\n" + t.Body)
}

// cutText cuts a text to maxText and makes it valid UTF-8.
func cutText(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return toText(s)
}

func toText(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", " "), "\uFFFD")
}

// outputText returns the text of a piece of output. Complete means that the
// agent's events report everything that it does.
func outputText(o coppice.Output) (text string, complete bool) {
	switch o.Kind {
	case coppice.OutputStdout, coppice.OutputStderr, coppice.OutputApp:
		return plainText(o.Data, maxText), false
	case coppice.OutputHost: // an event or plain text
		if said, ok := coppice.ReadAgentEvent(o.Data); ok {
			return cutText(said.Words()), false
		}
		return plainText(o.Data, maxText), false
	case coppice.OutputEvent:
		said, _ := coppice.ReadAgentEvent(o.Data)
		return cutText(said.Words()), said.Kind.Complete()
	}
	return "", false
}

// plainText returns at most most bytes of a program's output, without escape
// sequences.
func plainText[T string | []byte](data T, most int) string {
	return toText(ansi.Strip(string(data[:min(len(data), most)])))
}

// textKinds returns the kinds of output that are indexed. If the agent's events
// are complete, its stdout has the same text and is left out.
func textKinds(complete bool) []coppice.OutputKind {
	kinds := []coppice.OutputKind{coppice.OutputEvent, coppice.OutputStderr, coppice.OutputHost, coppice.OutputApp}
	if !complete {
		kinds = append(kinds, coppice.OutputStdout)
	}
	return kinds
}

// maxCheck bounds the indexed text of a check. It is longer than a stored log,
// because the reason of a failure is often at its end.
const maxCheck = 512 << 10

func checkText(command, log string) string {
	return cutText(command) + "\n" + plainText(log, maxCheck)
}

// marks are those of Markdown: a fence around code, the start of a heading, quote or
// element of a list, bold and emphasized text, and a link.
type marks struct{ fence, line, strong, em, link *regexp.Regexp }

var markdown = sync.OnceValue(func() marks {
	return marks{
		fence:  regexp.MustCompile("^\\s*(```+|~~~+)"),
		line:   regexp.MustCompile(`^\s*(#{1,6}|[-*+]|>+)\s+`),
		strong: regexp.MustCompile(`\*\*(\S|\S[^\n]*?\S)\*\*`),
		em:     regexp.MustCompile(`\B\*([^\s*]|[^\s*][^*\n]*[^\s*])\*\B`),
		link:   regexp.MustCompile(`\[([^\]\n]+)\]\(([^)\n]*)\)`),
	}
})

// withoutMarkdown removes the marks of Markdown from a text, and keeps all its
// words, because each can be a match.
func withoutMarkdown(text string) string {
	var b strings.Builder
	fenced, marks := false, markdown()
	for line := range strings.Lines(text) {
		if mark := marks.fence.FindString(line); mark != "" {
			fenced, line = !fenced, line[len(mark):]
		} else if !fenced {
			line = marks.line.ReplaceAllString(line, "")
			line = marks.strong.ReplaceAllString(line, "$1")
			line = marks.em.ReplaceAllString(line, "$1")
			line = marks.link.ReplaceAllString(line, "$1 ($2)")
			line = strings.ReplaceAll(line, "`", "")
		}
		b.WriteString(line)
	}
	return b.String()
}
