package forge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"coppice"
)

// ciRank orders the states of checks: the worst one of several is the largest.
var ciRank = map[coppice.CIState]int{coppice.CIPassed: 1, coppice.CIPending: 2, coppice.CIFailed: 3}

// MergeChecks merges checks of the same name, and sorts them by name. Of two checks
// of a name the worse one stays: failed, then pending, then passed.
func MergeChecks(list []coppice.PullCheck) []coppice.PullCheck {
	slices.SortStableFunc(list, func(a, b coppice.PullCheck) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(ciRank[b.State], ciRank[a.State]))
	})
	return slices.CompactFunc(list, func(a, b coppice.PullCheck) bool { return a.Name == b.Name })
}

// MaxLogs limits how many logs of failed checks one read of a request fetches.
const MaxLogs = 5

// logKey marks the context of a request for a log.
type logKey struct{}

// LogContext returns a context for requests whose answer is a log. Client keeps only
// the end of such an answer, however long it is.
func LogContext(ctx context.Context) context.Context { return context.WithValue(ctx, logKey{}, true) }

// readAnswer reads an answer up to one byte more than MaxAnswer, or the end of a log.
func readAnswer(ctx context.Context, r io.Reader) ([]byte, error) {
	if ctx.Value(logKey{}) == nil {
		return io.ReadAll(io.LimitReader(r, MaxAnswer+1))
	}
	var log logTail
	_, err := io.Copy(&log, r)
	return log.end(), err
}

// logTail keeps the end of what is written to it.
type logTail struct{ kept []byte }

// tailBytes is more than what Coppice keeps of a log: the caller masks secrets before
// it cuts the text, and a secret that is cut here is in the part that the caller cuts
// off.
const tailBytes = 2 * coppice.MaxPullLog

func (t *logTail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > 4*tailBytes {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-tailBytes-1:]...)
	}
	return len(p), nil
}

// end returns the end of the log, from the start of a line if it has one.
func (t *logTail) end() []byte {
	over := len(t.kept) - tailBytes
	if over <= 0 {
		return t.kept
	}
	end := t.kept[over-1:] // with the byte before it, which can be a line break
	if i := bytes.IndexByte(end, '\n'); i >= 0 && i < len(end)-1 {
		return end[i+1:]
	}
	return end[1:]
}

// SortComments sorts comments by their time, the oldest first. Those of one second,
// the unit of some forges, are sorted by their numbers.
func SortComments(list []coppice.PullComment) {
	slices.SortStableFunc(list, func(a, b coppice.PullComment) int {
		kind, _, _ := strings.Cut(a.ID, "/")
		other, _, _ := strings.Cut(b.ID, "/")
		return cmp.Or(a.At.Compare(b.At), strings.Compare(kind, other), cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
}

// Explain returns the error of the contract for an error of a change: what Cause
// returns, and for an answer such as 422 an error with the forge's text.
func Explain(err error) error {
	var status *StatusError
	if !errors.As(err, &status) {
		return Cause(err)
	}
	code := coppice.EInvalid
	if status.Status == http.StatusConflict || strings.Contains(status.Text, "already exists") {
		code = coppice.EConflict
	}
	return coppice.Errorf(code, "the forge refuses the change: %s", status.Text)
}
