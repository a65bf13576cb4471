package smallmodel

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPost(t *testing.T) {
	t.Parallel()
	const key = "very-secret"
	var other string // where a key must not go
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { other = r.Header.Get("X-Key") }))
	t.Cleanup(elsewhere.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			var in map[string]string
			if json.NewDecoder(r.Body).Decode(&in) != nil || in["q"] != "?" || r.Header.Get("X-Key") != key || r.Method != http.MethodPost {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			_, _ = w.Write([]byte(`{"a":"!"}`))
		case "/garbage":
			_, _ = w.Write([]byte(`{`))
		case "/large":
			_, _ = w.Write([]byte(`"` + strings.Repeat("x", mostAnswer) + `"`))
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		default:
			http.Error(w, "you said "+r.Header.Get("X-Key"), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(srv.Close)
	for path, want := range map[string]string{
		"/good": "", "/garbage": "cannot be read", "/large": "cannot be read", "/away": "answered 307", "/broken": "answered 500",
	} {
		var got map[string]string
		err := post(t.Context(), srv.URL+path, map[string]string{"X-Key": key}, map[string]string{"q": "?"}, &got)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key)) {
			t.Errorf("%s: %v", path, err)
		}
		if want == "" && got["a"] != "!" {
			t.Errorf("%s: %v", path, got)
		}
	}
	if other != "" {
		t.Error("the key went elsewhere")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := post(ctx, srv.URL+"/good", nil, nil, new(any)); err == nil {
		t.Error("a request that was cancelled continues")
	}
	if err := post(t.Context(), srv.URL, map[string]string{"X-Key": key + "\n"}, nil, new(any)); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("a key with a line break: %v", err)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://api.example.com": "https://api.example.com/v1/x", "http://127.0.0.1:1/a/": "http://127.0.0.1:1/a/v1/x",
		"": "", "api.example.com": "", "file:///etc": "", "https://me:pw@example.com": "", "http://": "", "\x00": "",
	} {
		if got, err := join(base, "/v1/x"); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", base, got, err)
		}
	}
}
