package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite"
)

const killEnv = "COPPICE_TEST_WRITE_TO"

func TestMain(m *testing.M) {
	if path := os.Getenv(killEnv); path != "" {
		if err := writeForEver(path, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// writeForEver writes events from several goroutines and prints the number of
// each once it is acknowledged.
func writeForEver(path string, out io.Writer) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for range 8 {
		go func() {
			for {
				e := &coppice.Event{Kind: coppice.EventTaskStage, By: "child"}
				if err := s.Update(ctx, func(tx store.Tx) error { return tx.Log.Append(e) }); err != nil {
					failed <- err
					return
				}
				fmt.Fprintln(out, e.Seq)
			}
		}()
	}
	return <-failed
}

// TestKill kills a writer with SIGKILL, again and again: whatever it was told
// is committed is there, and the log has no gap.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "coppice.db")
	acknowledged := map[int64]bool{}
	for round := range 4 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), killEnv+"="+path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		for n := 0; ; n++ {
			line, err := lines.ReadString('\n')
			if err != nil {
				break // killed; a line cut short was not acknowledged to us
			}
			seq, err := strconv.ParseInt(line[:len(line)-1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			acknowledged[seq] = true
			if n == 50+70*round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed

		s := open(t, path)
		err = s.View(t.Context(), func(r store.Reader) error {
			events, err := r.Log.Events(0, 1<<20, store.EventFilter{})
			for i, e := range events {
				if e.Seq != int64(i+1) {
					t.Fatalf("event %d has number %d", i+1, e.Seq)
				}
			}
			for seq := range acknowledged {
				if seq > int64(len(events)) {
					t.Errorf("event %d was acknowledged and is gone", seq)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acknowledged) < 4*50 {
		t.Errorf("only %d events were acknowledged", len(acknowledged))
	}
}
