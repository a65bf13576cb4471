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

// n makes a token body, so that no whole credential stands in this file.
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
	r := redact.New("correct horse", "correct horse battery", "tiny", "line one\nline two\n")
	for in, want := range map[string]string{
		"a correct horse battery!": "a [redacted]!",
		"a correct horse!":         "a [redacted]!",
		"xcorrect horsex":          "x[redacted]x",
		"tiny":                     "tiny",
		"> line one\n> line two":   "> [redacted]\n> [redacted]",
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
	"https://u:", "secret99@host", "Bearer ", n(30), "eyJ" + n(12) + ".", n(12) + ".", "my told value", "told", "AKIA", "ABCDEFGHIJKLMNOP", "é", "\x00", "\\n",
}

func TestCutsDoNotMatter(t *testing.T) {
	t.Parallel()
	r := redact.New("my told value")
	rapid.Check(t, func(rt *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(rt, "pieces"), "")
		if rapid.IntRange(0, 9).Draw(rt, "long") == 0 {
			in = strings.Repeat("x", rapid.IntRange(60<<10, 70<<10).Draw(rt, "pad")) + " " + in + strings.Repeat("y ", 40<<10)
		}
		want := r.String(in)
		if strings.Contains(want, "my told value") {
			rt.Fatalf("the value is still there: %q", want)
		}
		var got []byte
		s, rest := r.Stream(), []byte(in)
		for len(rest) > 0 {
			cut := rapid.IntRange(1, min(len(rest), 5000)).Draw(rt, "cut")
			got = append(got, s.Write(rest[:cut])...)
			rest = rest[cut:]
		}
		got = append(got, s.Flush()...)
		if string(got) != want {
			rt.Fatalf("cut: %q\nwhole: %q", got, want)
		}
	})
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
	r := redact.New("my told value")
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		want := r.Bytes(in)
		if bytes.Contains(want, []byte("my told value")) {
			t.Fatalf("the value is still there: %q", want)
		}
		cut = max(1, min(cut, len(in)))
		s := r.Stream()
		got := s.Write(in[:min(cut, len(in))])
		if cut < len(in) {
			got = append(got, s.Write(in[cut:])...)
		}
		if got = append(got, s.Flush()...); !bytes.Equal(got, want) {
			t.Fatalf("cut at %d: %q, whole: %q", cut, got, want)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	line := "2026-01-02 ordinary log line of a build with paths/and/names.go:12: and a few words more\n"
	text := []byte(strings.Repeat(line, 1000))
	r := redact.New("my told value", "another told value")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Bytes(text)
	}
}
