package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/internal/spool"
)

// picture returns data that starts like a PNG.
func picture(size int) []byte {
	return append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{0, 0xff, '\n'}, size/3+1)...)[:max(size, 8)]
}

func TestKeep(t *testing.T) {
	t.Parallel()
	b, c := connected(t, "talk", "echo")
	small, large := picture(100), picture(mostPicture)
	jpeg, webp := []byte("\xff\xd8\xff\xe0 and so on"), []byte("RIFF\x00\x01\x02\x03WEBPVP8 ")
	for _, p := range [][]byte{small, large, jpeg, webp} {
		if err := c.Keep(b.ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	// A picture that is sent twice is kept twice.
	if err := c.Keep(b.ctx, small); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(b.ctx, Message{Text: "quit"}); err != nil {
		t.Fatal(err)
	}
	b.ended()
	got := b.pieces(coppice.OutputImage)
	if len(got) != 5 {
		t.Fatalf("%d pictures are kept", len(got))
	}
	for i, want := range [][]byte{small, large, jpeg, webp, small} {
		if !bytes.Equal(got[i], want) {
			t.Errorf("picture %d has %d bytes, want %d", i, len(got[i]), len(want))
		}
	}
	if out := b.output(coppice.OutputStdout); string(out) != "ready\n" {
		t.Errorf("the agent's own output is %q", out)
	}
	if err := c.Keep(b.ctx, small); !errors.Is(err, ErrGone) {
		t.Errorf("after the end: %v", err)
	}
}

func TestKeepRefuses(t *testing.T) {
	t.Parallel()
	b, c := connected(t, "talk", "echo")
	for name, x := range map[string]struct {
		data []byte
		code coppice.Code
	}{
		"nothing":   {nil, coppice.EInvalid},
		"text":      {[]byte("<script>alert(1)</script>"), coppice.EInvalid},
		"svg":       {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), coppice.EInvalid},
		"gif":       {[]byte("GIF89a and so on"), coppice.EInvalid},
		"half":      {[]byte("\x89PNG"), coppice.EInvalid},
		"riff":      {[]byte("RIFF\x00\x01\x02\x03WAVEfmt "), coppice.EInvalid},
		"too large": {picture(mostPicture + 1), coppice.ETooLarge},
	} {
		if err := c.Keep(b.ctx, x.data); coppice.ErrorCode(err) != x.code {
			t.Errorf("%s, as a client: %v", name, err)
		}
		// The host refuses it too, if a client does not check.
		if _, err := c.ask(b.ctx, request{Op: opKeep, Data: x.data}); coppice.ErrorCode(err) != x.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, line := range []string{`{"op":"keep","data":"!!!"}`, `{"op":"keep","data":[1,2]}`, `{"op":"keep","data":{}}`, `{"op":"keep"}`, `{"op":"keep","data":"` + strings.Repeat("A", maxRequest) + `"}`} {
		conn, err := connect(b.ctx, filepath.Join(b.dir, socketFile))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, line+"\n") // the host might close the connection
		_ = conn.(interface{ CloseWrite() error }).CloseWrite()
		answered, _ := io.ReadAll(conn) // then nothing can be read
		var a answer
		if json.Unmarshal(answered, &a) == nil && a.OK {
			t.Errorf("%.60s was taken", line)
		}
		conn.Close()
	}
	if err := c.Send(b.ctx, Message{Text: "quit"}); err != nil {
		t.Fatal(err)
	}
	b.ended()
	if got := b.pieces(coppice.OutputImage); len(got) != 0 {
		t.Errorf("%d pictures are kept", len(got))
	}
}

func TestKeepIsBounded(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ size, most int }{
		"by number": {64, mostPictures},
		"by size":   {mostPicture, mostEvidence / mostPicture},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bundle{t: t, dir: t.TempDir()}
			w, err := spool.Open(filepath.Join(b.dir, spoolDir))
			if err != nil {
				t.Fatal(err)
			}
			h := &host{spool: w, now: time.Now, log: slog.New(slog.DiscardHandler)}
			p := picture(x.size)
			for i := range x.most {
				if err := h.keep(p); err != nil {
					t.Fatalf("picture %d: %v", i, err)
				}
			}
			for range 2 {
				if err := h.keep(p); coppice.ErrorCode(err) != coppice.ETooLarge {
					t.Errorf("one more: %v", err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if n := len(b.pieces(coppice.OutputImage)); n != x.most {
				t.Errorf("%d pictures are kept, want %d", n, x.most)
			}
			if n := strings.Count(string(b.output(coppice.OutputHost)), "further ones might not be kept"); n != 1 {
				t.Errorf("the spool has the note %d times", n)
			}
		})
	}
}
