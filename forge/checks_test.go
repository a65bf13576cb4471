package forge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coppice"
)

func TestMergeChecks(t *testing.T) {
	t.Parallel()
	passed, failed := coppice.PullCheck{Name: "b", State: coppice.CIPassed}, coppice.PullCheck{Name: "b", State: coppice.CIFailed}
	pending, other := coppice.PullCheck{Name: "b", State: coppice.CIPending}, coppice.PullCheck{Name: "a", State: coppice.CIPassed}
	for _, c := range []struct{ list, want []coppice.PullCheck }{
		{nil, nil},
		{[]coppice.PullCheck{passed, failed, other}, []coppice.PullCheck{other, failed}},
		{[]coppice.PullCheck{failed, passed, pending}, []coppice.PullCheck{failed}},
		{[]coppice.PullCheck{passed, pending}, []coppice.PullCheck{pending}},
	} {
		if got := MergeChecks(slices.Clone(c.list)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %+v, want %+v", c.list, got, c.want)
		}
	}
}

func TestSortComments(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	list := []coppice.PullComment{{ID: "note/10", At: at}, {ID: "note/9", At: at}, {ID: "note/11", At: at.Add(-time.Second)}, {ID: "line/12", At: at}}
	SortComments(list)
	var got []string
	for _, c := range list {
		got = append(got, c.ID)
	}
	if want := []string{"note/11", "line/12", "note/9", "note/10"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The end of a log starts with a line, and is long enough for the caller to cut it
// after it has masked secrets.
func TestLogTail(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 15) + "\n"
	for name, c := range map[string]struct{ log, start string }{
		"short":        {"one\ntwo\n", "one\ntwo\n"},
		"whole":        {strings.Repeat(line, tailBytes/16), line},
		"aligned":      {"cut\n" + strings.Repeat(line, tailBytes/16), line},
		"middle":       {"cut here " + strings.Repeat(line, tailBytes/16+1), line},
		"one line":     {strings.Repeat("y", 3*tailBytes), "yyy"},
		"one long end": {strings.Repeat("y", 3*tailBytes) + "\n", "yyy"},
	} {
		for _, size := range []int{1 << 20, 1000} {
			var tail logTail
			for rest := c.log; rest != ""; {
				n := min(size, len(rest))
				tail.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			got := string(tail.end())
			if !strings.HasSuffix(c.log, got) || !strings.HasPrefix(got, c.start) || len(got) > tailBytes || len(got) < min(len(c.log), tailBytes-len(line)) || name == "aligned" && len(got) != tailBytes {
				t.Errorf("%s in parts of %d bytes: %d bytes that start with %.20q", name, size, len(got), got)
			}
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for status, want := range map[*StatusError]coppice.Code{
		{409, "there is one"}: coppice.EConflict, {422, "it already exists"}: coppice.EConflict, {422, "bad"}: coppice.EInvalid,
	} {
		err := Explain(fmt.Errorf("wrapped: %w", status))
		if coppice.ErrorCode(err) != want || !strings.Contains(err.Error(), status.Text) {
			t.Errorf("%+v: %v", status, err)
		}
	}
	known := coppice.Failf(coppice.ClassAuth, "no", "")
	if err := Explain(fmt.Errorf("wrapped: %w", known)); !errors.Is(err, known) || err.Error() != "no" {
		t.Error(err)
	}
	if Explain(nil) != nil {
		t.Error("nil is an error")
	}
}
