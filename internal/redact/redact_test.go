package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"coppice/internal/redact"
)

// n makes a token body, so that this file has no whole credential.
func n(count int) string { return strings.Repeat("aB3", count)[:count] }

func hexes(count int) string { return strings.Repeat("0a9f", count)[:count] }

func TestKnownPatterns(t *testing.T) {
	t.Parallel()
	pem := "-----BEGIN RSA " + "PRIVATE KEY-----"
	end := "-----END RSA " + "PRIVATE KEY-----"
	cases := []struct{ name, in, want string }{
		{"cloud key", "id AKIA" + strings.Repeat("A", 16) + ".", "id [redacted]."},
		{"cloud secret", "AWS_SECRET_ACCESS_KEY=" + n(40), "AWS_SECRET_ACCESS_KEY=[redacted]"},
		{"cloud secret json", `"aws_secret_access_key": "` + n(40) + `"`, `"aws_secret_access_key": "[redacted]"`},
		{"api key", "key=AIza" + n(35), "key=[redacted]"},
		{"our own", "t=cop_" + n(26), "t=[redacted]"},
		{"forge", "ghp_" + n(36), "[redacted]"},
		{"forge fine grained", "github_pat_" + n(82), "[redacted]"},
		{"forge dashed", "glpat-" + n(20), "[redacted]"},
		{"model vendor", "sk-ant-api03-" + n(90), "[redacted]"},
		{"model vendor plain", "sk-" + n(48), "[redacted]"},
		{"behind a colour", "\x1b[1;32mghp_" + n(36) + "\x1b[0m", "\x1b[1;32m[redacted]\x1b[0m"},
		{"after a coded character", `{"t":"\u003cghp_` + n(36) + `\u003e"}`, `{"t":"\u003c[redacted]\u003e"}`},
		{"after an escape", `{"t":"a\nghp_` + n(36) + `"}`, `{"t":"a\n[redacted]"}`},
		{"chat", "xoxb-" + n(30), "[redacted]"},
		{"jwt", "eyJ" + n(20) + "." + n(30) + "." + n(40) + "!", "[redacted]!"},
		{"bearer", "Authorization: Bearer " + n(30), "Authorization: Bearer [redacted]"},
		{"bearer in lower case", "authorization: bearer " + n(30), "authorization: bearer [redacted]"},
		{"basic", "Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted]"},
		{"url", "postgres://app:hunter2@db/x", "postgres://app:[redacted]@db/x"},
		{"url with a colon", "https://u:a:b@h", "https://u:[redacted]@h"},
		{"private key", "a\n" + pem + "\nMIIE\nAAAA\n" + end + "\nb", "a\n[redacted]\nb"},
		{"private key with headers", pem + "\nProc-Type: 4,ENCRYPTED\n\nMIIE\n" + end, "[redacted]"},
		{"private key in json", `{"k":"` + pem + `\nMIIE\n` + end + `\n"}`, `{"k":"[redacted]\n"}`},
		{"private key indented", "  " + pem + "\n  MIIE\n  " + end + "\n", "  [redacted]\n"},
		{"private key never ended", pem + " is how\nsuch a file always begins, they say\n", "[redacted]such a file always begins, they say\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := redact.New().String(c.in); got != c.want {
				t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestLeavesOrdinaryTextAlone(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "\n", "plain text", "https://example.com/a@b", "https://host:8080/path", "git@host:team/app.git",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b", "sk-short", "task-" + n(48), "the bearer of responsibilities is",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", "eyJhbGciOi", "import \"npm_config\"",
		"AKIA is a prefix", "monkey-" + hexes(32), "basic understanding-of-things", "sha512-" + n(86) + "==",
	} {
		if got := redact.New().String(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	r := redact.New("correct horse", "correct horse battery", "tiny", "line one\nline two\n", `"quoted" word`)
	for in, want := range map[string]string{
		"a correct horse battery!":  "a [redacted]!",
		"a correct horse!":          "a [redacted]!",
		"xcorrect horsex":           "x[redacted]x",
		"tiny":                      "tiny",
		"> line one\n> line two":    "> [redacted]\n> [redacted]",
		`{"t":"a \"quoted\" word"}`: `{"t":"a [redacted]"}`,
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A value that is added later is hidden from then on, in each form in which text
// carries it.
func TestAdd(t *testing.T) {
	t.Parallel()
	r := redact.New("first value")
	value := "a \"quoted\" <val&ue>\\"
	r.Add(value)
	r.Add(value)
	r.Add("tiny")
	plain := `{"text":"a \"quoted\" <val&ue>\\"}`
	for in, want := range map[string]string{
		"x " + value + " y":               "x [redacted] y",
		string(encoded(t, value)):         `"[redacted]"`,
		plain:                             `{"text":"[redacted]"}`,
		"?q=" + url.QueryEscape(value):    "?q=[redacted]",
		"/p/" + url.PathEscape(value):     "/p/[redacted]",
		"the first value is still hidden": "the [redacted] is still hidden",
		"tiny":                            "tiny",
	} {
		if got := r.String(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	var log bytes.Buffer
	if n, err := r.Writer(&log).Write([]byte("a first value\n")); n != 14 || err != nil || log.String() != "a [redacted]\n" {
		t.Errorf("%d %v %q", n, err, &log)
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAddWhileOthersRead(t *testing.T) {
	t.Parallel()
	r := redact.New()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 200 {
				value := fmt.Sprintf("value-%d-%d-end", i, n)
				r.Add(value)
				if got := r.String("x " + value); got != "x [redacted]" {
					t.Errorf("%q", got)
				}
			}
		})
	}
	all.Wait()
}

// pieces are the material of the property test: secrets, parts of them, and text.
var pieces = []string{
	"\n", " ", "text", "ghp_" + n(36), "ghp_", n(20), "-----BEGIN PRIVATE" + " KEY-----\n", "MIIE\n", "-----END PRIVATE" + " KEY-----",
	"https://u:", "secret99@host", "Bearer ", n(30), "eyJ" + n(12) + ".", n(12) + ".", "my known value", "known", "AKIA", "ABCDEFGHIJKLMNOP", "é", "\x00", "\\n", "\x1b[32m", "\x1b[", "1;2H",
}

// text draws a text, at times with a long line.
func text(rt *rapid.T) string {
	in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(rt, "pieces"), "")
	if rapid.IntRange(0, 9).Draw(rt, "long") == 0 {
		in = strings.Repeat("x", rapid.IntRange(12<<10, 20<<10).Draw(rt, "pad")) + " " + in + strings.Repeat("y ", 10<<10)
	}
	return in
}

// cuts draws the pieces that a text comes in.
func cuts(rt *rapid.T, in string) (list [][]byte) {
	for rest := []byte(in); len(rest) > 0; {
		n := rapid.IntRange(1, min(len(rest), 5000)).Draw(rt, "cut")
		list, rest = append(list, rest[:n]), rest[n:]
	}
	return list
}

// kept is a state that went to disk and back.
func kept(rt *rapid.T, st redact.State) (again redact.State) {
	b, err := json.Marshal(st)
	if err == nil {
		err = json.Unmarshal(b, &again)
	}
	if err != nil {
		rt.Fatal(err)
	}
	return again
}

// However a text is cut, and whenever the reader starts again from what it kept,
// the result is that of the whole text, and each piece has what is its own.
func TestCutsDoNotMatter(t *testing.T) {
	t.Parallel()
	r := redact.New("my known value")
	rapid.Check(t, func(rt *rapid.T) {
		in := text(rt)
		want := r.String(in)
		if strings.Contains(want, "my known value") {
			rt.Fatalf("the value is still there: %q", want)
		}
		var got []byte
		var st redact.State
		var waiting [][]byte
		take := func(last bool) {
			done := r.Pieces(st, waiting, last)
			for i, d := range done {
				if len(d.Text) > len(waiting[i])+len(redact.Mask)*strings.Count(string(d.Text), redact.Mask) {
					rt.Fatalf("%q became %q", waiting[i], d.Text)
				}
				got, st = append(got, d.Text...), kept(rt, d.Behind)
			}
			waiting = waiting[len(done):]
		}
		for _, c := range cuts(rt, in) {
			waiting = append(waiting, c)
			take(false)
		}
		if take(true); string(got) != want || len(waiting) > 0 {
			rt.Fatalf("cut: %q\nwhole: %q", got, want)
		}
	})
}

// secrets are whole ones, each of which must never be shown.
var secrets = []string{
	"ghp_" + n(36), "AKIAABCDEFGHIJKLMNOP", "my known value", "sk-ant-api03-" + n(90), "cop_" + n(26), "eyJ" + n(20) + "." + n(30) + "." + n(40),
}

// A text that goes quiet at any place, also within a secret, shows no secret, and
// everything else arrives, whole and in order, on the disk and on a screen.
func TestASecretIsNeverShown(t *testing.T) {
	t.Parallel()
	r := redact.New("my known value")
	rapid.Check(t, func(rt *rapid.T) {
		var in strings.Builder
		var words []string
		for i := range rapid.IntRange(1, 12).Draw(rt, "parts") {
			words = append(words, fmt.Sprintf("<%d>", i))
			fmt.Fprintf(&in, "<%d>%s%s%s", i, rapid.SampledFrom([]string{" ", "\n", "", "="}).Draw(rt, "gap"),
				rapid.SampledFrom(secrets).Draw(rt, "secret"), rapid.SampledFrom([]string{" ", "\n", "."}).Draw(rt, "behind"))
		}
		check := func(how, got string) {
			for _, s := range secrets {
				if strings.Contains(got, s) {
					rt.Fatalf("%s: %q shows %q", how, got, s)
				}
			}
			at := 0
			for _, w := range words {
				i := strings.Index(got[at:], w)
				if i < 0 {
					rt.Fatalf("%s: %q misses %s", how, got, w)
				}
				at += i
			}
		}
		var st redact.State
		var waiting [][]byte
		var got, pipe, screen []byte
		onPipe, onScreen := r.Live(false), r.Live(true)
		list := cuts(rt, in.String())
		for i, c := range list {
			quiet := i == len(list)-1 || rapid.IntRange(0, 3).Draw(rt, "quiet") == 0
			waiting = append(waiting, c)
			done := r.Pieces(st, waiting, quiet)
			for _, d := range done {
				got, st = append(got, d.Text...), kept(rt, d.Behind)
			}
			waiting = waiting[len(done):]
			pipe, screen = append(pipe, onPipe.Write(c)...), append(screen, onScreen.Write(c)...)
			if quiet {
				pipe, screen = append(pipe, onPipe.Flush()...), append(screen, onScreen.Flush()...)
			}
		}
		if len(waiting) > 0 || onPipe.Held() || onScreen.Held() {
			rt.Fatal("something was held back without end")
		}
		check("kept", string(got))
		check("on a pipe", string(pipe))
		check("on a screen", string(screen))
		if len(screen) != in.Len() {
			rt.Fatalf("a screen shows %d bytes of %d: %q", len(screen), in.Len(), screen)
		}
	})
}

// What a State remembers is safe to keep: of a text that is not shown yet, or that
// was hidden, it has nothing.
func TestStateHoldsNothingHidden(t *testing.T) {
	t.Parallel()
	r := redact.New("my known value")
	token := "ghp_" + n(36)
	for _, c := range []struct {
		name   string
		pieces []string
		last   bool
		done   int
	}{
		{"not shown yet", []string{"a ", token[:20]}, false, 1},
		{"hidden", []string{"a " + token}, true, 1},
		{"hidden, and it continues", []string{token[:30], token[30:] + "."}, false, 2},
	} {
		var list [][]byte
		for _, p := range c.pieces {
			list = append(list, []byte(p))
		}
		done := r.Pieces(redact.State{}, list, c.last)
		if len(done) != c.done {
			t.Errorf("%s: %d pieces are decided", c.name, len(done))
		}
		for _, d := range done {
			if strings.Contains(string(d.Behind.Before)+string(d.Behind.Shown), token[10:15]) {
				t.Errorf("%s: state %+v", c.name, d.Behind)
			}
		}
	}
}

// A screen is shown at once what cannot be a secret, and keeps its layout while it
// shows a private key.
func TestLive(t *testing.T) {
	t.Parallel()
	l := redact.New().Live(true)
	for in, want := range map[string]string{"$ ": "$ ", "hello ": "hello ", "\x1b[1;1H": "\x1b[1;1H"} {
		if got := string(l.Write([]byte(in))); got != want {
			t.Errorf("%q shows %q", in, got)
		}
	}
	line := strings.Repeat("MIIE", 16)
	key := "\x1b[2;1H-----BEGIN PRIVATE" + " KEY-----\x1b[3;1H" + line + "\x1b[4;1H" + line[:50] + "\x1b[5;1H-----END PRIVATE" + " KEY-----\x1b[6;1H" + line + "\n"
	got := string(l.Write([]byte(key))) + string(l.Flush())
	want := "\x1b[2;1H[redacted]*****************\x1b[3;1H[redacted]" + strings.Repeat("*", 54) + "\x1b[4;1H[redacted]" + strings.Repeat("*", 40) +
		"\x1b[5;1H-----END PRIVATE" + " KEY-----\x1b[6;1H" + line + "\n"
	if got != want {
		t.Errorf("a key on a screen:\n got %q\nwant %q", got, want)
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	token := "ghp_" + n(36)
	for _, at := range []int{0, 59 << 10, 60<<10 - 20, 60 << 10, 64<<10 - 20, 64 << 10, 124 << 10, 200 << 10} {
		in := strings.Repeat("x ", at/2) + token + strings.Repeat(" y", 100<<10)
		got := redact.New().String(in)
		if strings.Contains(got, token[:20]) || !strings.Contains(got, redact.Mask) || len(got) != len(in)-len(token)+len(redact.Mask) {
			t.Errorf("a token at %d was not hidden", at)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, p := range pieces {
		f.Add([]byte(p), 3)
	}
	f.Add([]byte(strings.Join(pieces, "")), 7)
	r := redact.New("my known value")
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		want := r.Bytes(in)
		if bytes.Contains(want, []byte("my known value")) {
			t.Fatalf("the value is still there: %q", want)
		}
		cut = max(1, min(cut, len(in)))
		whole := [][]byte{in[:min(cut, len(in))], in[min(cut, len(in)):]}
		var got []byte
		var st redact.State
		done := r.Pieces(st, whole[:1], false)
		for _, d := range done {
			got, st = append(got, d.Text...), d.Behind
		}
		for _, d := range r.Pieces(st, whole[len(done):], true) {
			got = append(got, d.Text...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("cut at %d: %q, whole: %q", cut, got, want)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	line := "2026-01-02 ordinary log line of a build with paths/and/names.go:12: and a few words more\n"
	text := []byte(strings.Repeat(line, 1000))
	r := redact.New("my known value", "another known value")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Bytes(text)
	}
}
