package coppice

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// pictures are small images of every type.
func pictures(t *testing.T) map[string][]byte {
	t.Helper()
	one := image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	if err := png.Encode(&p, one); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, one, nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&g, one, nil); err != nil {
		t.Fatal(err)
	}
	w, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"image/png": p.Bytes(), "image/jpeg": j.Bytes(), "image/gif": g.Bytes(), "image/webp": w}
}

func TestNewImage(t *testing.T) {
	t.Parallel()
	now := time.Unix(100, 0)
	all := pictures(t)
	if kinds := slices.Sorted(maps.Keys(all)); !slices.Equal(kinds, slices.Sorted(slices.Values(ImageTypes))) {
		t.Errorf("the types are %v, and %v are listed", kinds, ImageTypes)
	}
	for kind, data := range all {
		got, err := NewImage(data, now)
		if err != nil || got.Type != kind || got.Size != int64(len(data)) || len(got.ID) != 64 || ValidName("image", got.ID) != nil {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
		again, err := NewImage(bytes.Clone(data), now.Add(time.Hour))
		if err != nil || again.ID != got.ID {
			t.Errorf("%s: the same bytes have another id: %v", kind, err)
		}
	}
	for name, c := range map[string]struct {
		data []byte
		code Code
		says string
	}{
		"nothing":      {nil, EInvalid, "not a PNG"},
		"a page":       {[]byte("<svg onload=alert(1)>"), EInvalid, "not a PNG"},
		"cut off":      {all["image/png"][:20], EInvalid, "damaged"},
		"cut off, gif": {all["image/gif"][:8], EInvalid, "damaged"},
		"too large":    {append(bytes.Clone(all["image/png"]), make([]byte, MaxImage)...), ETooLarge, "5 MiB are allowed"},
	} {
		_, err := NewImage(c.data, now)
		if ErrorCode(err) != c.code || !strings.Contains(fmt.Sprint(err), c.says) || Public(err).Fix == "" {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

func TestAddImages(t *testing.T) {
	t.Parallel()
	got, err := AddImages([]string{"a", "b"}, []string{"b", "c", "c"})
	if err != nil || strings.Join(got, " ") != "a b c" {
		t.Errorf("%v, %v, want each one time", got, err)
	}
	many := func(n int) (ids []string) {
		for i := range n {
			ids = append(ids, fmt.Sprint(i))
		}
		return ids
	}
	if _, err := AddImages(nil, many(MaxImages+1)); ErrorCode(err) != EInvalid {
		t.Errorf("too many at a time: %v", err)
	}
	if _, err := AddImages(many(MaxTaskImages), []string{"x"}); ErrorCode(err) != EInvalid {
		t.Errorf("too many in all: %v", err)
	}
}
