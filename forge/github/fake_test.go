package github_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"coppice/forge"
	"coppice/forge/github"
)

func id(n int64) string { return strconv.FormatInt(n, 10) }

// answer is what the fake sends. Want is the body that it expects.
type answer struct {
	want   string
	status int
	header map[string]string
	body   string
	used   bool
}

// fake is a GitHub that knows only the calls that a test expects. Any other call, a
// body with another field and a call without the token fail the test, and so does an
// expected call that does not happen.
type fake struct {
	t      *testing.T
	url    string
	prefix string // of the REST API
	graph  string // the path of the GraphQL API

	mu    sync.Mutex
	calls map[string][]*answer
}

func newFake(t *testing.T, prefix, graph string) *fake {
	t.Helper()
	f := &fake{t: t, prefix: prefix, graph: graph, calls: map[string][]*answer{}}
	s := httptest.NewServer(f)
	t.Cleanup(func() {
		s.Close()
		for key, list := range f.calls {
			for _, a := range list {
				if !a.used {
					t.Errorf("no call %s with %s", key, a.want)
				}
			}
		}
	})
	f.url = s.URL
	return f
}

func (f *fake) forge() forge.Forge {
	f.t.Helper()
	r, err := github.Open(forge.Remote{Kind: "github", API: f.url + f.prefix, Owner: "ann", Name: "app"}, forge.Options{
		Token: func(context.Context) (string, error) { return "secret", nil },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// on expects a call below the repository: "GET pulls/1". Several answers for one call
// are sent in turn, and the last one again.
func (f *fake) on(call, want string, status int, body string) *answer {
	method, path, _ := strings.Cut(call, " ")
	return f.onPath(method+" "+f.prefix+"repos/ann/app/"+path, want, status, body)
}

func (f *fake) onPath(key, want string, status int, body string) *answer {
	a := &answer{want: want, status: status, body: body, header: map[string]string{}}
	f.calls[key] = append(f.calls[key], a)
	return a
}

// onGraph expects an operation of the GraphQL API.
func (f *fake) onGraph(operation, variables, body string) *answer {
	return f.onPath("GRAPHQL "+operation, variables, 200, body)
}

// get expects reads, each with its answer.
func (f *fake) get(calls map[string]string) {
	for call, body := range calls {
		f.on("GET "+call, "", 200, body)
	}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	key := r.Method + " " + r.URL.Path
	if r.URL.RawQuery != "" {
		key += "?" + r.URL.RawQuery
	}
	if r.URL.Path == f.graph {
		var err error
		if key, body, err = operation(body); err != nil {
			f.t.Errorf("GraphQL: %v", err)
		}
	}
	if got := r.Header.Get("Authorization"); got != "Bearer secret" {
		f.t.Errorf("%s has the token %q", key, got)
	}
	list := f.calls[key]
	if len(list) == 0 {
		f.t.Errorf("unexpected call %s %s", key, body)
		http.Error(w, "unexpected", http.StatusTeapot)
		return
	}
	a := list[0]
	if len(list) > 1 {
		f.calls[key] = list[1:]
	}
	a.used = true
	if !sameJSON(string(body), a.want) {
		f.t.Errorf("%s\n got %s\nwant %s", key, body, a.want)
	}
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	io.WriteString(w, a.body)
}

func sameJSON(a, b string) bool {
	if strings.TrimSpace(a) == b {
		return true
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// schema has the arguments of the operations that GitHub publishes, as far as Coppice
// uses them, with their types.
var schema = map[string]map[string]string{
	"repository":                    {"owner": "String", "name": "String", "number": "Int", "first": "", "after": "String"},
	"resolveReviewThread":           {"threadId": "ID"},
	"markPullRequestReadyForReview": {"pullRequestId": "ID"},
	"convertPullRequestToDraft":     {"pullRequestId": "ID"},
	"enqueuePullRequest":            {"pullRequestId": "ID", "expectedHeadOid": "GitObjectID", "jump": "Boolean"},
	"enablePullRequestAutoMerge": {
		"pullRequestId": "ID", "expectedHeadOid": "GitObjectID", "mergeMethod": "PullRequestMergeMethod",
		"commitHeadline": "String", "commitBody": "String", "authorEmail": "String",
	},
}

var (
	operationName = regexp.MustCompile(`^(?:query|mutation)\(([^)]*)\)\{(\w+)\(`)
	argument      = regexp.MustCompile(`(\w+):\$(\w+)`)
	declaration   = regexp.MustCompile(`\$(\w+):(\w+)!?`)
)

// operation returns the name of an operation and its variables, after it has compared
// its arguments with the schema.
func operation(body []byte) (key string, variables []byte, err error) {
	var call struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&call); err != nil {
		return "", nil, err
	}
	head := operationName.FindStringSubmatch(call.Query)
	if head == nil || schema[head[2]] == nil {
		return "", nil, fmt.Errorf("unknown operation %s", call.Query)
	}
	types := map[string]string{}
	for _, d := range declaration.FindAllStringSubmatch(head[1], -1) {
		types[d[1]] = d[2]
	}
	if !slices.Equal(slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(call.Variables))) {
		return "", nil, fmt.Errorf("declared %v, sent %v", types, call.Variables)
	}
	for _, a := range argument.FindAllStringSubmatch(strings.TrimPrefix(call.Query, head[0][:len(head[0])-len(head[2])-1]), -1) {
		if want := schema[head[2]][a[1]]; want == "" || want != types[a[2]] {
			return "", nil, fmt.Errorf("%s of %s is %q, not %q", a[1], head[2], want, types[a[2]])
		}
	}
	if strings.Count(call.Query, "{") != strings.Count(call.Query, "}") {
		return "", nil, fmt.Errorf("unbalanced: %s", call.Query)
	}
	variables, err = json.Marshal(call.Variables)
	return "GRAPHQL " + head[2], variables, err
}
