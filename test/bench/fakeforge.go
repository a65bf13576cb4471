package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	forgeRepo     = "team/app"
	forgeAPI      = "/api/v1/repos/" + forgeRepo + "/"
	forgeComments = 10 // of each request
	forgeChecks   = 8  // likewise
	noMore        = "" // the path of an empty page: only requests have more than one
)

// fakeForge answers what Coppice reads from a Gitea. It makes the answers before it
// is asked: a forge's own time is not measured. An answer that has not changed has
// the status 304.
type fakeForge struct {
	srv   *http.Server
	addr  string
	tip   string
	asked atomic.Int64 // requests

	mu      sync.Mutex
	answers map[string]fakeAnswer // by path below forgeAPI, with the page of a list
}

type fakeAnswer struct {
	body []byte
	tag  string
}

// headOf is the commit of a request.
func headOf(number int) string { return fmt.Sprintf("%040x", number) }

// fakeForge starts a forge with so many open requests whose base is at tip.
func (l *lab) fakeForge(tip string, pulls int) (*fakeForge, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &fakeForge{addr: listener.Addr().String(), tip: tip, answers: map[string]fakeAnswer{}}
	f.put("branches/main", map[string]any{"name": "main", "commit": map[string]any{"id": tip}})
	f.put(noMore, []any{})
	f.put("collaborators/ann/permission", map[string]any{"permission": "read"})
	var list []any
	for n := 1; n <= pulls; n++ {
		p := f.pull(n)
		list = append(list, p)
		f.put(fmt.Sprintf("pulls/%d", n), p)
		f.put(fmt.Sprintf("pulls/%d/reviews", n), []any{})
		f.put(fmt.Sprintf("issues/%d/comments", n), comments())
		f.status(n, "success")
	}
	const page = 50
	for n := 0; n*page < len(list); n++ {
		f.put(fmt.Sprintf("pulls %d", n+1), list[n*page:min((n+1)*page, len(list))])
	}
	f.srv = &http.Server{Handler: f, ReadHeaderTimeout: time.Minute}
	go func() { _ = f.srv.Serve(listener) }() // ends with close
	return f, nil
}

func (f *fakeForge) close() { _ = f.srv.Close() }

// url is the address of the repository.
func (f *fakeForge) url() string { return "http://" + f.addr + "/" + forgeRepo + ".git" }

func (f *fakeForge) put(path string, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // a mistake in this file
	}
	sum := sha256.Sum256(b)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[path] = fakeAnswer{b, `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// forgeTime is when all on the forge happened.
var forgeTime = time.Now().UTC().Add(-time.Hour).Truncate(time.Second)

func (f *fakeForge) pull(number int) any {
	branch := func(name, commit string) any {
		return map[string]any{"label": name, "ref": name, "sha": commit, "repo_id": 1}
	}
	return map[string]any{
		"number": number, "title": "Leave a file", "state": "open", "mergeable": true, "user": map[string]any{"login": "ann"}, "updated_at": forgeTime,
		"html_url": fmt.Sprintf("http://%s/%s/pulls/%d", f.addr, forgeRepo, number),
		"head":     branch(pullBranch(number), headOf(number)), "base": branch("main", f.tip),
	}
}

func pullBranch(number int) string { return fmt.Sprintf("coppice/app-%d", number) }

// comments are of a person without write access, so that nothing follows from them.
func comments() (list []any) {
	for n := range forgeComments {
		list = append(list, map[string]any{
			"id": n + 1, "user": map[string]any{"login": "ann"}, "created_at": forgeTime, "body": strings.Repeat("What somebody thinks about it. ", 12),
		})
	}
	return list
}

// status sets the result of CI for a request.
func (f *fakeForge) status(number int, state string) {
	var list []any
	for n := range forgeChecks {
		list = append(list, map[string]any{"id": n + 1, "context": fmt.Sprintf("check %d", n), "status": state, "description": "what CI says in a line"})
	}
	f.put("commits/"+headOf(number)+"/statuses", list)
}

// ServeHTTP implements http.Handler.
func (f *fakeForge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked.Add(1)
	path, ours := strings.CutPrefix(r.URL.Path, forgeAPI)
	page := r.URL.Query().Get("page")
	switch {
	case path == "pulls":
		path += " " + page
	case page != "" && page != "1":
		path = noMore
	}
	f.mu.Lock()
	a, found := f.answers[path]
	f.mu.Unlock()
	if !ours || !found {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", a.tag)
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(a.body) // the client might have gone
}

// webhook says at a listener that CI has a result for a request.
func (f *fakeForge) webhook(ctx context.Context, to, secret string, number int) error {
	body, err := json.Marshal(map[string]any{"sha": headOf(number), "updated_at": time.Now(), "repository": map[string]any{"full_name": forgeRepo}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	m := hmac.New(sha256.New, []byte(secret))
	m.Write(body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Gitea-Signature", hex.EncodeToString(m.Sum(nil)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && !bytes.Contains(text, []byte("accepted")) || res.StatusCode != http.StatusOK {
		err = fmt.Errorf("a webhook is answered with %d %s", res.StatusCode, text)
	}
	return err
}
