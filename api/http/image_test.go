package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"coppice"
	"coppice/api"
	"coppice/store"
)

const png = "\x89PNG\r\n\x1a\n and so on \x00\xff"

func TestPicturesAreServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Project("/src/app")
	b.Task("app", coppice.NewTask{Title: "t"})
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
		resp, text := call(t, b, "GET", p, "")
		refused(t, resp, text, http.StatusUnprocessableEntity)
	}
	resp, text = call(t, b, "GET", path(s.Key, page.Output[0].Offset), "", header("Authorization", ""))
	refused(t, resp, text, http.StatusUnauthorized)
}
