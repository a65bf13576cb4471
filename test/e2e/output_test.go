//go:build linux

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"coppice"
	"coppice/internal/spool"
	"coppice/store"
	"coppice/store/sqlite"
)

// talkative is a script of numbered words with floods between them, and the
// texts that it says, in order.
func talkative(n, flood int, pause string) (steps string, texts []string) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "      - say: number %d\n      - flood: {bytes: %d}\n      - sleep: %s\n", i, flood, pause)
		texts = append(texts, fmt.Sprintf("number %d", i))
		for left := flood; left > 0; left -= 64 {
			texts = append(texts, strings.Repeat("0123456789abcdef", 4)[:min(left, 64)])
		}
	}
	return b.String(), texts
}

// openStore opens the state of a world whose server does not run.
func (w *world) openStore() *sqlite.Store {
	w.t.Helper()
	s, err := sqlite.Open(w.t.Context(), sqlite.Config{Path: filepath.Join(w.State, "coppice.db")})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// accounted checks that a session's output is there from its first byte to its
// cursor, each frame where the one before it ends, and returns what the agent
// itself wrote.
func accounted(r store.Reader, s coppice.Session) (stdout []byte, err error) {
	at := int64(0)
	for {
		page, err := r.Outputs.After(s.ID, at-1, 1000)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		for _, o := range page {
			if o.Offset != at {
				return nil, fmt.Errorf("%s: there is a gap: output at %d follows what ends at %d", s.Key, o.Offset, at)
			}
			at += spool.Size(len(o.Data))
			if o.Kind == coppice.OutputStdout {
				stdout = append(stdout, o.Data...)
			}
		}
	}
	if at != s.Cursor {
		return nil, fmt.Errorf("%s: the output ends at %d, the cursor is at %d", s.Key, at, s.Cursor)
	}
	return stdout, nil
}

// texts returns the texts in an agent's output, and whether its last
// line is there.
func texts(stdout []byte) (all []string, whole bool, err error) {
	for line := range strings.Lines(string(stdout)) {
		var e coppice.AgentEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, false, fmt.Errorf("a torn line %q: %w", line, err)
		}
		if e.Kind == coppice.KindText {
			all = append(all, e.Text)
		}
		whole = e.Kind == "outcome"
	}
	return all, whole, nil
}

// complete checks that the store has exactly what a session's script said.
func (w *world) complete(t *testing.T, key string, wanted []string) {
	t.Helper()
	st := w.openStore()
	err := st.View(t.Context(), func(r store.Reader) error {
		s, err := r.Sessions.ByKey(key)
		if err != nil {
			return err
		}
		stdout, err := accounted(r, s)
		if err != nil {
			return err
		}
		got, whole, err := texts(stdout)
		if err != nil {
			return err
		}
		if !whole {
			return errors.New("the agent's last line is missing")
		}
		if len(got) != len(wanted) {
			return fmt.Errorf("%s said %d texts, %d are there", key, len(wanted), len(got))
		}
		for i := range got {
			if got[i] != wanted[i] {
				return fmt.Errorf("%s: text %d is %q, not %q", key, i, got[i], wanted[i])
			}
		}
		return nil
	})
	if err := errors.Join(err, st.Close()); err != nil {
		t.Error(err)
	}
}
