package forges

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// GitHubIssues are the issues of a repository on the emulator, at an address that has what
// the emulator lacks: it refuses wrong tokens, has dependencies and sub-issues, and
// understands times without milliseconds.
type GitHubIssues struct {
	API string // the address of the API

	t        testing.TB
	server   *GitHub
	emulator *httputil.ReverseProxy
	repo     string // the path of the repository

	mu      sync.Mutex
	related map[string][]string // numbers of issues, by the path of the list
	parents map[string]string   // numbers of issues
}

// Issues opens an address for the issues of a repository. It closes it when the test ends.
func (g *GitHub) Issues(t testing.TB, owner, name string) *GitHubIssues {
	t.Helper()
	target, err := url.Parse(g.API)
	if err != nil {
		t.Fatal(err)
	}
	f := &GitHubIssues{
		t: t, server: g, emulator: httputil.NewSingleHostReverseProxy(target), repo: "/repos/" + owner + "/" + name,
		related: map[string][]string{}, parents: map[string]string{},
	}
	f.emulator.ErrorLog = log.New(io.Discard, "", 0) // connections that the test ends
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.API = s.URL + "/"
	return f
}

// Block lets an issue wait for another one.
func (f *GitHubIssues) Block(id, by string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.repo + "/issues/" + id + "/dependencies/blocked_by"
	f.related[list] = append(f.related[list], by)
}

// Part makes an issue a part of another one.
func (f *GitHubIssues) Part(id, parent string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.repo + "/issues/" + parent + "/sub_issues"
	f.related[list] = append(f.related[list], id)
	f.parents[f.repo+"/issues/"+id] = parent
}

func (f *GitHubIssues) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !slices.Contains(f.server.tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"message":"Bad credentials"}`) // the client might have ended
		return
	}
	f.mu.Lock()
	numbers, parent := f.related[r.URL.Path], f.parents[r.URL.Path]
	f.mu.Unlock()
	q := r.URL.Query()
	switch {
	case strings.HasSuffix(r.URL.Path, "/sub_issues") || strings.HasSuffix(r.URL.Path, "/blocked_by"):
		list := []json.RawMessage{}
		for _, n := range numbers {
			var i json.RawMessage
			f.get(r, f.repo+"/issues/"+n, &i)
			list = append(list, i)
		}
		_ = json.NewEncoder(w).Encode(list) // the client might have ended
	case parent != "" && r.Method == http.MethodGet:
		var fields map[string]any
		f.get(r, r.URL.Path, &fields)
		fields["parent_issue_url"] = strings.TrimSuffix(f.server.API, "/") + f.repo + "/issues/" + parent
		_ = json.NewEncoder(w).Encode(fields) // the client might have ended
	case q.Get("since") != "":
		q.Set("since", strings.Replace(q.Get("since"), "Z", ".000Z", 1))
		r.URL.RawQuery = q.Encode()
		fallthrough
	default:
		f.emulator.ServeHTTP(w, r)
	}
}

// get reads a path of the emulator as the client of a request.
func (f *GitHubIssues) get(r *http.Request, path string, v any) {
	req, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(f.server.API, "/")+path, nil)
	if err != nil {
		f.t.Error(err)
		return
	}
	req.Header.Set("Authorization", r.Header.Get("Authorization"))
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		defer resp.Body.Close()
		err = json.NewDecoder(resp.Body).Decode(v)
	}
	if err != nil {
		f.t.Error(err)
	}
}
