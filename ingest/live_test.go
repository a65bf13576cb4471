package ingest

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
	"coppice/fabric"
	"coppice/internal/redact"
)

func (r *LiveRun) text() string {
	var b strings.Builder
	for _, o := range r.Read(coppice.RunPosition{}, 1<<30).Output {
		b.Write(o.Data)
	}
	return b.String()
}

// secretLine draws a line that has a secret, or a line without one.
func secretLine(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"all is well\n", "\n", "a ghp_" + strings.Repeat("aB3", 12) + " b\n", "url https://user:hunter2-hunter2@host/path\n", "my given value\n",
		"-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("MIIEsecret", 6)+"\n", 3) + "-----END RSA " + "PRIVATE KEY-----\n",
	}).Draw(t, "line")
}

// However the output is cut into reports, and whichever of them are repeated,
// people see what masking the whole text gives.
func TestLiveMasksAcrossReports(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.Custom(secretLine), 1, 6).Draw(t, "lines"), "")
		r := redact.New("my given value")
		run := NewLive(r).begin(1, 1)
		for at := 0; at < len(text); {
			n := rapid.IntRange(1, min(40, len(text)-at)).Draw(t, "size")
			back := rapid.IntRange(0, min(at, 20)).Draw(t, "repeated")
			run.add(fabric.Progress{Commands: make([]coppice.CommandRun, 1), Output: []coppice.RunOutput{{Offset: int64(at - back), Data: []byte(text[at-back : at+n])}}})
			at += n
		}
		run.end()
		if got, want := run.text(), r.String(text); got != want {
			t.Fatalf("%q is seen, not %q", got, want)
		}
	})
}

// Whatever a worker leaves out, no part of a secret is seen.
func TestLiveMasksAfterGaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.Custom(secretLine), 1, 6).Draw(t, "lines"), "")
		run := NewLive(redact.New("my given value")).begin(1, 1)
		for at := 0; at < len(text); {
			n := rapid.IntRange(1, min(60, len(text)-at)).Draw(t, "size")
			if rapid.IntRange(0, 3).Draw(t, "left out") > 0 {
				run.add(fabric.Progress{Commands: make([]coppice.CommandRun, 1), Output: []coppice.RunOutput{{Offset: int64(at), Data: []byte(text[at : at+n])}}})
			}
			at += n
		}
		got := run.text()
		for _, part := range []string{"aB3aB3", "hunter2", "IIEsecret", "given val"} {
			if strings.Contains(got, part) {
				t.Fatalf("%q of %q is seen in %q", part, text, got)
			}
		}
	})
}

// A long output is kept without its middle, and a reader notices by the offset.
func TestLiveIsBounded(t *testing.T) {
	t.Parallel()
	run := NewLive(redact.New()).begin(1, 1)
	line := []byte(strings.Repeat("0123456789", 100) + "\n")
	const lines = 4000
	for i := range lines {
		run.add(fabric.Progress{Commands: make([]coppice.CommandRun, 1), Output: []coppice.RunOutput{{Offset: int64(i * len(line)), Data: line}}})
	}
	run.end()
	kept := run.commands[0].kept
	if n := cap(kept.head) + cap(kept.tail); n > 4*(liveHead+2*liveTail) {
		t.Errorf("%d bytes are in memory", n)
	}
	var at coppice.RunPosition
	got, gaps := 0, 0
	for {
		r := run.Read(at, 1000)
		if len(r.Output) == 0 {
			break
		}
		for _, o := range r.Output {
			if o.Offset > at.Offset {
				gaps++
			}
			if want := bytes.Repeat(line, 2)[o.Offset%int64(len(line)):]; !bytes.HasPrefix(want, o.Data) {
				t.Fatalf("at %d: %q", o.Offset, o.Data)
			}
			got += len(o.Data)
			at.Offset = o.Offset + int64(len(o.Data))
		}
	}
	if at.Offset != lines*int64(len(line)) || gaps != 1 || got < liveHead+liveTail || got > liveHead+2*liveTail {
		t.Errorf("read %d bytes up to %d with %d gaps", got, at.Offset, gaps)
	}
}

// A reader continues where it was, from one command to the next.
func TestLiveReadsOn(t *testing.T) {
	t.Parallel()
	run := NewLive(redact.New()).begin(1, 1)
	run.add(fabric.Progress{Commands: make([]coppice.CommandRun, 3), Output: []coppice.RunOutput{{Data: []byte("one\n")}, {Command: 2, Data: []byte("three\n")}}})
	got := ""
	for at := (coppice.RunPosition{}); ; {
		r := run.Read(at, 3)
		if len(r.Output) == 0 {
			break
		}
		for _, o := range r.Output {
			got += string(o.Data)
		}
		at = r.Next
	}
	if got != "one\nthree\n" {
		t.Errorf("read %q", got)
	}
}

// Runs that no worker ends are dropped, and their readers are woken.
func TestLiveDropsOldRuns(t *testing.T) {
	t.Parallel()
	l := NewLive(redact.New())
	first := l.begin(1, 1)
	for id := range int64(mostRuns) {
		l.begin(id+2, 1)
	}
	if err := first.Wait(context.Background(), 0); err != nil || !first.Read(coppice.RunPosition{}, 0).Ended || l.Run(1) != nil || len(l.runs) != mostRuns {
		t.Errorf("%d runs are kept, %v", len(l.runs), err)
	}
}
