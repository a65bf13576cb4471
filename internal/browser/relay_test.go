package browser

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// pieces is a reader that returns what it is given, cut as it is given.
type pieces [][]byte

func (p *pieces) Read(b []byte) (int, error) {
	for len(*p) > 0 && len((*p)[0]) == 0 {
		*p = (*p)[1:]
	}
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(b, (*p)[0])
	(*p)[0] = (*p)[0][n:]
	return n, nil
}

// cut cuts bytes anywhere.
func cut(t *rapid.T, b []byte) *pieces {
	var p pieces
	for len(b) > 0 {
		n := rapid.IntRange(1, len(b)).Draw(t, "cut")
		p, b = append(p, b[:n]), b[n:]
	}
	return &p
}

func TestEveryByteStreamPassesUnchanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 40).Draw(t, "most")
		text := rapid.OneOf(
			rapid.SliceOf(rapid.Byte()),
			rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"\n", "a", "\r\n", "{}", "\x00", "long enough to be over the bound\n", "é"})), func(s []string) []byte {
				return []byte(strings.Join(s, ""))
			}),
		).Draw(t, "text")
		var passed bytes.Buffer
		var seen [][]byte
		err := relay(&passed, cut(t, slices.Clone(text)), most, func(line []byte) {
			// All before the line has passed, and nothing of the line itself.
			if !bytes.HasSuffix(append(passed.Bytes(), line...), line) || bytes.Count(passed.Bytes(), []byte("\n")) < len(seen) {
				t.Fatalf("shown too late: %q", line)
			}
			seen = append(seen, bytes.Clone(line))
		})
		if err != nil || !bytes.Equal(passed.Bytes(), text) {
			t.Fatalf("passed %q of %q: %v", passed.Bytes(), text, err)
		}
		var want [][]byte
		for line := range bytes.Lines(text) {
			if l, whole := bytes.CutSuffix(line, []byte("\n")); whole && len(line) <= most {
				want = append(want, l)
			}
		}
		if !slices.EqualFunc(seen, want, bytes.Equal) {
			t.Fatalf("shown %q, want %q", seen, want)
		}
	})
}

// endless is a line that does not end, of so many bytes.
type endless struct{ left int }

func (e *endless) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(b), e.left)
	for i := range b[:n] {
		b[i] = 'x'
	}
	e.left -= n
	return n, nil
}

// most counts what is written, and how much at once.
type most struct{ all, once int }

func (m *most) Write(b []byte) (int, error) {
	m.all, m.once = m.all+len(b), max(m.once, len(b))
	return len(b), nil
}

func TestAHugeLineIsBounded(t *testing.T) {
	t.Parallel()
	const size = 3*mostLine + 17
	var out most
	if err := relay(&out, &endless{size}, mostLine, func([]byte) { t.Error("it is shown") }); err != nil || out.all != size {
		t.Errorf("%d bytes passed: %v", out.all, err)
	}
	if out.once > mostLine+64<<10 {
		t.Errorf("%d bytes were held", out.once)
	}
}

func TestALineOf20MBIsSeen(t *testing.T) {
	t.Parallel()
	line := append(bytes.Repeat([]byte("y"), 20_000_000), '\n')
	var out most
	shown := 0
	if err := relay(&out, bytes.NewReader(line), mostLine, func(l []byte) { shown = len(l) }); err != nil || out.all != len(line) || shown != len(line)-1 {
		t.Errorf("%d bytes shown, %d passed: %v", shown, out.all, err)
	}
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }
func (broken) Read([]byte) (int, error)  { return 0, errBroken }

func TestABrokenSideEndsIt(t *testing.T) {
	t.Parallel()
	see := func([]byte) {}
	if err := relay(broken{}, strings.NewReader("a\nb\n"), 10, see); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := relay(broken{}, strings.NewReader("much longer than is looked at"), 3, see); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	var out bytes.Buffer
	if err := relay(&out, io.MultiReader(strings.NewReader("half"), broken{}), 10, see); !errors.Is(err, errBroken) || out.String() != "half" {
		t.Error(err, out.String())
	}
}

// kept is a watcher and what it kept.
func kept() (*watcher, *[]string) {
	var all []string
	return &watcher{log: slog.New(slog.DiscardHandler), keep: func(b []byte) error {
		all = append(all, string(b))
		return nil
	}}, &all
}

func image(data string) string {
	return fmt.Sprintf(`{"type":"image","data":%q,"mimeType":"image/png"}`, base64.StdEncoding.EncodeToString([]byte(data)))
}

func TestPicturesAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, other := filepath.Join(dir, "a shot.png"), filepath.Join(dir, "other.png")
	for path, text := range map[string]string{file: "in a file", other: "in another"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "large"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "large"), mostFile+1); err != nil {
		t.Fatal(err)
	}
	shot := func(id, path string) string {
		p, err := json.Marshal(path)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`>{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"take_screenshot","arguments":{"pageId":2,"filePath":%s}}}`, id, p)
	}
	says := func(id, text string) string {
		p, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`, id, p)
	}
	for name, c := range map[string]struct {
		lines []string // those of the agent begin with >
		want  []string
	}{
		"in a result":             {[]string{`{"id":1,"result":{"content":[{"type":"text","text":"took it"},` + image("one") + `,` + image("two") + `]}}`}, []string{"one", "two"}},
		"in a batch":              {[]string{`[{"id":1,"result":{"content":[` + image("one") + `]}},{"id":2,"result":{"content":[` + image("two") + `]}}]`}, []string{"one", "two"}},
		"of a failed call":        {[]string{`{"id":1,"result":{"isError":true,"content":[` + image("one") + `]}}`}, []string{"one"}},
		"by the agent's word":     {[]string{shot("1", file), says("1", "done")}, []string{"in a file"}},
		"by the server's word":    {[]string{shot("1", "elsewhere.png"), says("1", "Took a screenshot of the current page's viewport.\nSaved screenshot to "+file+".")}, []string{"in a file"}},
		"unasked in a file":       {[]string{`>{"id":"x","method":"tools/call","params":{"name":"take_screenshot","arguments":{"pageId":1}}}`, says(`"x"`, "Saved screenshot to "+other+".")}, []string{"in another"}},
		"only once":               {[]string{shot("1", file), says("1", ""), says("1", "")}, []string{"in a file"}},
		"each for itself":         {[]string{shot("1", file), shot("2", other), says("2", ""), says("1", "")}, []string{"in another", "in a file"}},
		"in the result after all": {[]string{shot("1", file), `{"id":1,"result":{"content":[` + image("one") + `]}}`}, []string{"one"}},
		"none that failed":        {[]string{shot("1", file), `{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"Access denied"}]}}`}, nil},
		"none that was lost":      {[]string{shot("1", filepath.Join(dir, "nowhere")), says("1", "")}, nil},
		"no directory":            {[]string{shot("1", dir), says("1", "")}, nil},
		"no pipe":                 {[]string{shot("1", filepath.Join(dir, "fifo")), says("1", "")}, nil},
		"none too large":          {[]string{shot("1", filepath.Join(dir, "large")), says("1", "")}, nil},
		"nobody's file":           {[]string{says("1", "Saved screenshot to "+file+".")}, nil},
		"another tool's word":     {[]string{`>{"id":1,"method":"tools/call","params":{"name":"evaluate_script","arguments":{"filePath":"take_screenshot"}}}`, says("1", "Saved screenshot to "+file+".")}, nil},
		"no base64":               {[]string{`{"id":1,"result":{"content":[{"type":"image","data":"!!"}]}}`}, nil},
		"no message":              {[]string{`"image"`, `["image"]`, `{"image":`, ``, `[`, `{"result":"image"}`, `{"id":{},"result":{"content":"image"}}`, `>take_screenshot`, `>["take_screenshot"]`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, got := kept()
			for _, line := range c.lines {
				if asks, ok := strings.CutPrefix(line, ">"); ok {
					w.asked([]byte(asks))
				} else {
					w.answered([]byte(line))
				}
			}
			if !slices.Equal(*got, c.want) {
				t.Errorf("kept %q, want %q", *got, c.want)
			}
		})
	}
}

func TestCallsThatNobodyAnswersAreForgotten(t *testing.T) {
	t.Parallel()
	w, _ := kept()
	for i := range 3 * mostPending {
		w.asked(fmt.Appendf(nil, `{"id":%d,"method":"tools/call","params":{"name":"take_screenshot"}}`, i))
	}
	if len(w.pending) > mostPending {
		t.Errorf("%d are remembered", len(w.pending))
	}
}

func TestAPictureThatIsNotKeptHarmsNobody(t *testing.T) {
	t.Parallel()
	w, _ := kept()
	w.keep = func([]byte) error { return errBroken }
	line := `{"id":1,"result":{"content":[` + image("one") + `]}}` + "\n"
	var out bytes.Buffer
	if err := relay(&out, strings.NewReader(line), mostLine, w.answered); err != nil || out.String() != line {
		t.Errorf("%q passed: %v", out.String(), err)
	}
}

func FuzzWatcher(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"tools/call","params":{"name":"take_screenshot"}}`), []byte(`{"id":1,"result":{"content":[`+image("x")+`]}}`))
	f.Add([]byte(`[{"id":null,"method":"tools/call","params":{"name":"take_screenshot"}}]`), []byte(`[{"result":{"content":[{"type":"image"}]}}]`))
	f.Fuzz(func(t *testing.T, asks, answers []byte) {
		if bytes.Contains(asks, []byte("filePath")) || bytes.Contains(answers, []byte("Saved")) {
			t.Skip("no files of this machine")
		}
		w, _ := kept()
		w.asked(asks)
		w.answered(answers)
		w.answered(answers)
	})
}
