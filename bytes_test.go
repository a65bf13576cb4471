package coppice_test

import (
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]coppice.Bytes{
		"0": 0, "17": 17, "1 KiB": 1 << 10, "256 MiB": 256 << 20, "256MiB": 256 << 20, "256 mib": 256 << 20, "2G": 2 << 30,
		"1.5 GiB": 3 << 29, "1 MB": 1e6, "3 TiB": 3 << 40,
	} {
		var b coppice.Bytes
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%q is %d, %v; want %d", text, b, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1 MiB", "1 MiB more", "1e9", "0x10", "NaN", "inf", "9999999 TiB", "1 parsec", "1..5 MiB"} {
		var b coppice.Bytes
		if err := b.UnmarshalText([]byte(text)); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%q is %d, %v", text, b, err)
		}
	}
	for b, want := range map[coppice.Bytes]string{0: "0 B", 1023: "1023 B", 1 << 20: "1 MiB", 256 << 20: "256 MiB", 1<<30 + 1<<29: "1.5 GiB", 123<<20 + 1: "123 MiB"} {
		if got := b.String(); got != want {
			t.Errorf("%d is written %q, want %q", int64(b), got, want)
		}
	}
}

func TestBytesReadWhatTheyWrite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		want := coppice.Bytes(rapid.Int64Range(0, 1<<50).Draw(rt, "bytes"))
		text, err := want.MarshalText()
		if err != nil {
			rt.Fatal(err)
		}
		var got coppice.Bytes
		if err := got.UnmarshalText(text); err != nil || got != want {
			rt.Fatalf("%d is written %q and read as %d, %v", want, text, got, err)
		}
	})
}
