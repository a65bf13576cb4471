package http_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"net/http"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/api/apitest"
	"coppice/store"
)

const png = "\x89PNG\r\n\x1a\n and so on \x00\xff"

func TestPicturesAreServed(t *testing.T) {
	t.Parallel()
	b := setupApp(t, "t")
	s := b.Session("app-1", coppice.SessionWorking, nil)
	other := b.Session("app-1", coppice.SessionDone, nil)
	jpeg, webp := "\xff\xd8\xff\xe0 jpeg", "RIFF\x00\x01\x02\x03WEBP"
	b.Write(s.ID, coppice.OutputEvent, `{"kind":"text"}`)
	b.Write(s.ID, coppice.OutputImage, png, jpeg, webp, "<html><script>alert(1)</script>")
	b.Write(s.ID, coppice.OutputStdout, "plain")
	b.Update(func(tx store.Tx) error {
		x, err := tx.Sessions.Get(s.ID)
		x.State = coppice.SessionDone
		b.Must(err)
		return tx.Sessions.Put(&x)
	})

	all, err := b.Client.Output(b.Ctx, s.Key, -1)
	b.Must(err)
	if len(all.Output) != 6 || all.Output[1].Size != int64(len(png)) || all.Output[5].Size != 0 || string(all.Output[5].Data) != "plain" {
		t.Fatalf("output %+v, want six pieces with the picture's size", all.Output)
	}
	page, err := b.Client.Output(b.Ctx, s.Key, -1, coppice.OutputImage)
	b.Must(err)
	var streamed []api.Output
	b.Must(b.Client.FollowOutput(b.Ctx, s.Key, -1, func(o api.Output) error { streamed = append(streamed, o); return nil }, coppice.OutputImage))
	for _, list := range [][]api.Output{page.Output, streamed} {
		if len(list) != 4 || list[0].Kind != coppice.OutputImage || list[0].Data != nil || list[2].Size != int64(len(webp)) {
			t.Fatalf("pictures: %+v", list)
		}
	}
	if _, text := call(t, b, "GET", "/api/v1/sessions/"+s.Key+"/output?tail=true&kinds=image", ""); strings.Contains(text, `"data"`) || !strings.Contains(text, fmt.Sprintf(`"size":%d`, len(png))) {
		t.Errorf("the last of it: %s", text)
	}

	path := func(key string, offset int64) string {
		return fmt.Sprintf("/api/v1/sessions/%s/images/%d", key, offset)
	}
	for i, want := range []struct{ kind, data string }{{"image/png", png}, {"image/jpeg", jpeg}, {"image/webp", webp}} {
		resp, got := call(t, b, "GET", path(s.Key, page.Output[i].Offset), "")
		if resp.StatusCode != http.StatusOK || got != want.data || resp.Header.Get("Content-Type") != want.kind {
			t.Errorf("%s: %d %q %q", want.kind, resp.StatusCode, resp.Header.Get("Content-Type"), got)
		}
		csp := resp.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "sandbox") || !strings.Contains(csp, "default-src 'none'") || resp.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(resp.Header.Get("Cache-Control"), "immutable") || !strings.Contains(resp.Header.Get("Cache-Control"), "private") {
			t.Errorf("%s: headers %v", want.kind, resp.Header)
		}
		if again, err := b.Client.Image(b.Ctx, s.Key, page.Output[i].Offset); err != nil || string(again) != want.data {
			t.Errorf("%s by the client: %q, %v", want.kind, again, err)
		}
	}
	resp, text := call(t, b, "GET", path(s.Key, page.Output[3].Offset), "") // kept by nobody we know
	refused(t, resp, text, http.StatusNotFound)
	if strings.Contains(text, "script") {
		t.Errorf("it is shown: %s", text)
	}
	for what, p := range map[string]string{
		"an event": path(s.Key, all.Output[0].Offset), "nothing": path(s.Key, 1<<60), "another session": path(other.Key, page.Output[0].Offset), "no session": path("app-1.9", 1),
	} {
		resp, text := call(t, b, "GET", p, "")
		if p := refused(t, resp, text, http.StatusNotFound); p.Code != coppice.ENotFound {
			t.Errorf("%s: refused with %+v, want the code %s", what, p, coppice.ENotFound)
		}
		if strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s is remembered", what)
		}
	}
	for _, p := range []string{path("app-1", 1), path(s.Key, -1), "/api/v1/sessions/" + s.Key + "/images/x"} {
		refuses(t, b, http.StatusUnprocessableEntity, "GET", p, "")
	}
	refuses(t, b, http.StatusUnauthorized, "GET", path(s.Key, page.Output[0].Offset), "", header("Authorization", ""))
}

// upload sends bytes as the dashboard does.
func upload(t *testing.T, b *apitest.Bundle, data []byte) (*http.Response, string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		t.Fatal(err)
	}
	return call(t, b, "POST", "/api/v1/images", string(body))
}

func TestImagesAreUploaded(t *testing.T) {
	t.Parallel()
	b := setupApp(t)
	var data bytes.Buffer
	b.Must(gif.Encode(&data, image.NewGray(image.Rect(0, 0, 2, 2)), nil))
	resp, text := upload(t, b, data.Bytes())
	var made coppice.Image
	if err := json.Unmarshal([]byte(text), &made); resp.StatusCode != http.StatusCreated || err != nil || made.Type != "image/gif" || made.Size != int64(data.Len()) {
		t.Fatalf("uploaded: %d %s %v", resp.StatusCode, text, err)
	}
	resp, got := call(t, b, "GET", "/api/v1/images/"+made.ID, "")
	if resp.StatusCode != http.StatusOK || got != data.String() || resp.Header.Get("Content-Type") != "image/gif" || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("served: %d %v", resp.StatusCode, resp.Header)
	}
	made2 := b.Task("app", coppice.NewTask{Title: "like this", Images: []string{made.ID}})
	d, err := b.Client.Task(b.Ctx, made2.Key)
	if err != nil || len(d.Images) != 1 || d.Images[0].ID != made.ID || d.Images[0].Size != made.Size {
		t.Errorf("its task has %+v, %v", d.Images, err)
	}
	m, err := b.Client.Send(b.Ctx, made2.Key, "see", made.ID)
	if err != nil || len(m.Images) != 1 {
		t.Errorf("message %+v, %v", m, err)
	}
	for name, c := range map[string]struct {
		data []byte
		want int
	}{
		"not an image": {[]byte("<svg onload=alert(1)>"), http.StatusUnprocessableEntity},
		"too large":    {append(bytes.Clone(data.Bytes()), make([]byte, coppice.MaxImage)...), http.StatusRequestEntityTooLarge},
		"far too much": {make([]byte, 13<<20), http.StatusRequestEntityTooLarge},
	} {
		if resp, text := upload(t, b, c.data); resp.StatusCode != c.want || name != "far too much" && !strings.Contains(text, `"fix"`) {
			t.Errorf("%s: %d %.200s", name, resp.StatusCode, text)
		}
	}
	if resp, _ := call(t, b, "GET", "/api/v1/images/none", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown image: %d", resp.StatusCode)
	}
	_, err = b.Client.CreateTasks(b.Ctx, "app", []coppice.NewTask{{Title: "x", Images: []string{"none"}}})
	if coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("a task with an unknown image: %v", err)
	}
}
