package ingest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coppice"
	"coppice/fabric"
	"coppice/internal/redact"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// secrets are whole ones; the file has none.
var secrets = []string{
	"ghp_" + strings.Repeat("aB3", 12), "AKIA" + strings.Repeat("ABCD", 4), "my told value", "cop_" + strings.Repeat("aB", 13),
}

var kinds = []coppice.OutputKind{coppice.OutputStdout, coppice.OutputStderr, coppice.OutputApp}

// written is what one stream of a random session wrote.
type written struct {
	text  strings.Builder
	plain strings.Builder // with the secrets hidden
	sent  int
}

// Random text with secrets, cut into frames at random places, on several streams
// at once, sent in random batches, with restarts and silences in between, shows no
// secret. When nothing is silent within a secret, everything else arrives as it was
// written, each byte in its own frame.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	r := redact.New("my told value")
	rapid.Check(t, func(rt *rapid.T) {
		silences := rapid.Bool().Draw(rt, "silences")
		frames, streams := writes(rt)
		var kept masks
		got := map[coppice.OutputKind]*strings.Builder{}
		for _, k := range kinds {
			got[k] = &strings.Builder{}
		}
		for taken, sent := 0, 0; taken < len(frames); {
			sent = min(sent+rapid.IntRange(1, 8).Draw(rt, "sent"), len(frames))
			quiet := sent == len(frames) || silences && rapid.IntRange(0, 3).Draw(rt, "quiet") == 0
			out, next := mask(r, kept, frames[taken:sent], quiet)
			if quiet && len(out) != sent-taken {
				rt.Fatalf("%d of %d frames were taken", len(out), sent-taken)
			}
			for i, o := range out {
				f := frames[taken+i]
				if o.Offset != f.Offset || o.Kind != f.Kind {
					rt.Fatalf("frame %d became %+v", taken+i, o)
				}
				got[o.Kind].Write(o.Data)
			}
			taken += len(out)
			raw, err := next.encode() // a restart: only what is kept is known
			if err == nil {
				kept, err = decodeMasks(raw)
			}
			if err != nil {
				rt.Fatal(err)
			}
		}
		for _, k := range kinds {
			text := got[k].String()
			for _, s := range secrets {
				if strings.Contains(text, s) {
					rt.Fatalf("%s shows %q: %q", k, s, text)
				}
			}
			if want := streams[k].plain.String(); !silences && text != want {
				rt.Fatalf("%s\n got %q\nwant %q", k, text, want)
			}
			if words(text) != words(streams[k].text.String()) {
				rt.Fatalf("%s lost something: %q", k, text)
			}
		}
	})
}

// words counts the marks between secrets.
func words(text string) int { return strings.Count(text, "<") + strings.Count(text, ">") }

// writes draws what a session writes, as frames.
func writes(rt *rapid.T) ([]fabric.Frame, map[coppice.OutputKind]*written) {
	streams := map[coppice.OutputKind]*written{}
	for _, k := range kinds {
		w := &written{}
		for i := range rapid.IntRange(0, 6).Draw(rt, "parts") {
			secret, gap := rapid.SampledFrom(secrets).Draw(rt, "secret"), rapid.SampledFrom([]string{" ", "\n", "="}).Draw(rt, "gap")
			fmt.Fprintf(&w.text, "<%d>%s%s%s", i, gap, secret, gap)
			fmt.Fprintf(&w.plain, "<%d>%s%s%s", i, gap, redact.Mask, gap)
		}
		streams[k] = w
	}
	var frames []fabric.Frame
	for {
		var open []coppice.OutputKind
		for _, k := range kinds {
			if streams[k].sent < streams[k].text.Len() {
				open = append(open, k)
			}
		}
		if len(open) == 0 {
			return frames, streams
		}
		k := rapid.SampledFrom(open).Draw(rt, "stream")
		w := streams[k]
		rest := w.text.String()[w.sent:]
		n := rapid.IntRange(1, min(len(rest), 30)).Draw(rt, "cut")
		w.sent += n
		at := int64(len(frames))
		frames = append(frames, fabric.Frame{Output: coppice.Output{Offset: at, At: noon, Kind: k, Data: []byte(rest[:n])}, Next: at + 1})
	}
}

func event(t *testing.T, e coppice.AgentEvent) fabric.Frame {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return fabric.Frame{Output: coppice.Output{At: noon, Kind: coppice.OutputEvent, Data: b}}
}

// An event stays valid JSON, whatever is hidden in it, and a private key is hidden
// though each of its lines is an event.
func TestSecretsInEvents(t *testing.T) {
	t.Parallel()
	r := redact.New("my told value", `say "friend" <here>`)
	pem, end, token := "-----BEGIN RSA "+"PRIVATE KEY-----", "-----END RSA "+"PRIVATE KEY-----", secrets[0]
	text := func(s string) coppice.AgentEvent { return coppice.AgentEvent{Kind: coppice.KindText, Text: s} }
	for name, c := range map[string]struct {
		in   []coppice.AgentEvent
		want []string
	}{
		"plain":             {[]coppice.AgentEvent{text("hello <b>")}, []string{"hello <b>"}},
		"a token":           {[]coppice.AgentEvent{text("<" + token + ">\n" + token)}, []string{"<[redacted]>\n[redacted]"}},
		"a quoted value":    {[]coppice.AgentEvent{text(`please say "friend" <here>!`)}, []string{"please [redacted]!"}},
		"a key":             {[]coppice.AgentEvent{text("a\n" + pem + "\nMIIE\n" + end + "\nb")}, []string{"a\n[redacted]\nb"}},
		"a key never ended": {[]coppice.AgentEvent{text(pem), text("is how they begin")}, []string{"[redacted]", "is how they begin"}},
		"a key line by line": {
			[]coppice.AgentEvent{text("a"), text(pem), text("MIIE"), {Kind: coppice.KindTool, Name: "MIIF"}, text("AAAA"), text(end), text("b")},
			[]string{"a", "[redacted]", "", "", "", "", "b"},
		},
		"elsewhere": {[]coppice.AgentEvent{{Kind: coppice.KindTool, Name: "run", Input: json.RawMessage(`{"command":"curl -H 'x: ` + token + `'"}`)}}, []string{""}},
	} {
		var frames []fabric.Frame
		for _, e := range c.in {
			frames = append(frames, event(t, e))
		}
		var kept masks
		for i, f := range frames { // each in a batch of its own
			out, next := mask(r, kept, []fabric.Frame{f}, false)
			if kept = next; len(out) != 1 {
				t.Fatalf("%s: event %d was not taken", name, i)
			}
			var e coppice.AgentEvent
			if err := json.Unmarshal(out[0].Data, &e); err != nil {
				t.Errorf("%s: %s: %v", name, out[0].Data, err)
			}
			if e.Text != c.want[i] || strings.Contains(string(out[0].Data), token) {
				t.Errorf("%s: event %d is %s, want %q", name, i, out[0].Data, c.want[i])
			}
			if e.Kind != c.in[i].Kind || e.Name != c.in[i].Name {
				t.Errorf("%s: event %d became %s", name, i, out[0].Data)
			}
		}
		if len(kept) != 0 {
			t.Errorf("%s: %v is remembered", name, kept)
		}
	}
}

// What a stream holds back is bounded, however much others write.
func TestAStreamDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	r := redact.New()
	wait := fabric.Frame{Output: coppice.Output{At: noon, Kind: coppice.OutputStdout, Data: []byte("a ghp_")}}
	other := fabric.Frame{Output: coppice.Output{At: noon, Kind: coppice.OutputStderr, Data: []byte("x\n")}}
	large := other
	large.Data = []byte(strings.Repeat("x\n", mostBytesBehind))
	late := other
	late.At = noon.Add(fabric.Quiet)
	many := []fabric.Frame{wait}
	for range mostBehind {
		many = append(many, other)
	}
	for name, c := range map[string]struct {
		frames []fabric.Frame
		want   int
	}{
		"a little": {[]fabric.Frame{other, wait, other}, 1}, "long": {[]fabric.Frame{wait, late}, 2},
		"much": {[]fabric.Frame{wait, large}, 2}, "often": {many, len(many)},
	} {
		if out, _ := mask(r, nil, c.frames, false); len(out) != c.want {
			t.Errorf("%s: %d of %d frames were taken, want %d", name, len(out), len(c.frames), c.want)
		}
	}
}

// A picture is kept as it is, though its bytes look like a secret.
func TestPicturesAreKept(t *testing.T) {
	t.Parallel()
	f := fabric.Frame{Output: coppice.Output{Kind: coppice.OutputImage, Data: []byte(secrets[0])}}
	if out, next := mask(redact.New(), nil, []fabric.Frame{f}, false); len(out) != 1 || string(out[0].Data) != secrets[0] || len(next) != 0 {
		t.Errorf("frames %+v, want one that is not masked", out)
	}
}
