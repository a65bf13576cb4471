package client

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// read decodes a stream to its end.
func read(r io.Reader) (ms []message, err error) {
	err = readStream(r, func() {}, func(m message) error {
		ms = append(ms, m)
		return nil
	})
	return ms, err
}

func TestACutEventNeverHappened(t *testing.T) {
	t.Parallel()
	whole := "id: 1\ndata: a\n\n: alive\nid: 4\n\nevent: reset\nid: 5\ndata: b\r\ndata: c\r\n\r\n"
	ms, err := read(iotest.OneByteReader(bytes.NewReader([]byte(whole))))
	var broken brokenStream
	if !errors.As(err, &broken) || len(ms) != 3 || ms[1].id != 4 || ms[1].data != nil || ms[2].name != "reset" || string(ms[2].data) != "b\nc" {
		t.Fatalf("messages %+v, %v; want three of them and a broken stream", ms, err)
	}
	for n := range len(whole) {
		part, _ := read(bytes.NewReader([]byte(whole[:n])))
		for i, m := range part {
			if m.id != ms[i].id || !bytes.Equal(m.data, ms[i].data) {
				t.Fatalf("cut at %d: %+v", n, m)
			}
		}
	}
}

func FuzzReadStream(f *testing.F) {
	f.Add([]byte("id: 1\ndata: a\n\n"))
	f.Add([]byte("data\n\nid:x\nevent:y\n:\n\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := read(bytes.NewReader(b))
		if err == nil {
			t.Fatal("a stream that ends is broken")
		}
		slow, _ := read(iotest.OneByteReader(bytes.NewReader(b)))
		if len(slow) != len(whole) {
			t.Fatalf("%d messages in one piece, %d in many", len(whole), len(slow))
		}
	})
}
