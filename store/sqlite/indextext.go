package sqlite

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"coppice"
)

// maxText bounds what is indexed of one piece of output or one description.
const maxText = 64 << 10

// A row of output_words names a session and a place in what it wrote.
const (
	placeBits     = 36 // of a row's number: 64 GiB of output
	maxRowPlace   = 1<<placeBits - 1
	maxRowSession = 1<<(63-placeBits) - 1
)

func rowOf(session, place int64) int64 { return session<<placeBits | place }

func placeOf(row int64) (session, place int64) { return row >> placeBits, row & maxRowPlace }

// scope is a project as a word of the index.
func scope(project int64) string { return "p" + strconv.FormatInt(project, 10) }

func taskText(t coppice.Task) string {
	return cutText(t.Key + "\n" + t.Title + "\n" + t.Body)
}

// cutText bounds a text and makes it one that can be searched.
func cutText(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return toText(s)
}

func toText(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", " "), "\uFFFD")
}

// outputText is what can be read of a piece of output, and whether it tells
// that the agent's protocol says what the agent does.
func outputText(o coppice.Output) (text string, tells bool) {
	switch o.Kind {
	case coppice.OutputStdout, coppice.OutputStderr, coppice.OutputApp:
		return plainText(o.Data, maxText), false
	case coppice.OutputHost: // which speaks in events too
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

// plainText is what programs wrote, as text: without colours, and bounded.
func plainText[T string | []byte](data T, most int) string {
	return toText(ansi.Strip(string(data[:min(len(data), most)])))
}

// textKinds are the kinds of output that can be read, of a session whose agent
// tells what it does or of another. What its process writes to stdout is then
// that telling, and says nothing more.
func textKinds(tells bool) []coppice.OutputKind {
	kinds := []coppice.OutputKind{coppice.OutputEvent, coppice.OutputStderr, coppice.OutputHost, coppice.OutputApp}
	if !tells {
		kinds = append(kinds, coppice.OutputStdout)
	}
	return kinds
}

// maxCheck bounds what is indexed of one check. It is more than is kept of a
// log: what a check failed with often stands at its end.
const maxCheck = 512 << 10

func checkText(command, log string) string {
	return cutText(command) + "\n" + plainText(log, maxCheck)
}
