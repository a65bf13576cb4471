package forges

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
)

// LinearTeam is a team on the emulator, at an address that has what the emulator lacks: it
// refuses wrong tokens, filters as Linear does, and has relations, sub-issues and
// attachments. An operation that uses anything else than Linear has fails the test.
type LinearTeam struct {
	API string // the address of the GraphQL API

	t      testing.TB
	server *Linear
	key    string

	mu      sync.Mutex
	labels  map[string]string // their ids, by name
	parents map[string]string
	blocked map[string][]string
}

// Team opens an address for a team. It closes it when the test ends.
func (l *Linear) Team(t testing.TB, key string) *LinearTeam {
	f := &LinearTeam{t: t, server: l, key: key, labels: map[string]string{}, parents: map[string]string{}, blocked: map[string][]string{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.API = s.URL + "/graphql"
	return f
}

// linearArguments are those of the operations that Coppice uses, with the types that Linear
// publishes.
var linearArguments = map[string]map[string]string{
	"issues":           {"filter": "IssueFilter", "after": "String", "first": ""},
	"issue":            {"id": "String!"},
	"teams":            {"filter": ""},
	"issueLabels":      {"after": "String", "first": ""},
	"viewer":           {},
	"comment":          {"id": "String!"},
	"issueUpdate":      {"id": "String!", "input": "IssueUpdateInput!"},
	"issueAddLabel":    {"id": "String!", "labelId": "String!"},
	"issueRemoveLabel": {"id": "String!", "labelId": "String!"},
	"issueLabelCreate": {"input": "IssueLabelCreateInput!"},
	"commentCreate":    {"input": "CommentCreateInput!"},
	"commentUpdate":    {"id": "String!", "input": "CommentUpdateInput!"},
}

// linearInputs are the fields of the linearInputs.
var linearInputs = map[string][]string{
	"issueUpdate": {"title", "description", "stateId"}, "issueLabelCreate": {"name", "color", "teamId"},
	"commentCreate": {"issueId", "body"}, "commentUpdate": {"body"},
}

var (
	declared       = regexp.MustCompile(`\$(\w+):(\w+!?)`)
	named          = regexp.MustCompile(`^(?:query|mutation)(?:\([^)]*\))?\{(\w+)(?:\(([^)]*)\))?`)
	linearArgument = regexp.MustCompile(`(?:^|,)(\w+):(\$?)(\w*)`)
)

type operation struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

// check returns the name of an operation, after it has compared the operation with what
// Linear has.
func check(b operation) (string, error) {
	m := named.FindStringSubmatch(b.Query)
	if m == nil || linearArguments[m[1]] == nil {
		return "", fmt.Errorf("unknown operation %s", b.Query)
	}
	types := map[string]string{}
	head, _, _ := strings.Cut(b.Query, "{")
	for _, d := range declared.FindAllStringSubmatch(head, -1) {
		types[d[1]] = d[2]
	}
	if !slices.Equal(slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(b.Variables))) {
		return "", fmt.Errorf("%s declares %v, and gets %v", m[1], types, b.Variables)
	}
	for _, a := range linearArgument.FindAllStringSubmatch(m[2], -1) {
		want, known := linearArguments[m[1]][a[1]]
		if !known || a[2] == "$" && types[a[3]] != want {
			return "", fmt.Errorf("%s has the argument %s of type %q", m[1], a[0], types[a[3]])
		}
	}
	input, _ := b.Variables["input"].(map[string]any)
	for name := range input {
		if !slices.Contains(linearInputs[m[1]], name) {
			return "", fmt.Errorf("the input of %s has the field %s", m[1], name)
		}
	}
	return m[1], nil
}

func refuse(w http.ResponseWriter, status int, code, text string) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{"message": text, "extensions": map[string]any{"code": code}}}})
}

func (f *LinearTeam) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := r.Header.Get("Authorization")
	if !slices.Contains(f.server.tokens, token) {
		refuse(w, http.StatusUnauthorized, "AUTHENTICATION_ERROR", "Authentication required, not authenticated")
		return
	}
	var b operation
	raw, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(raw, &b); err != nil {
		f.t.Error(err)
	}
	name, err := check(b)
	if err != nil {
		f.t.Error(err)
		refuse(w, http.StatusBadRequest, "GRAPHQL_VALIDATION_FAILED", err.Error())
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case name == "issues":
		f.list(w, token, b)
	case strings.Contains(b.Query, "inverseRelations"):
		f.related(w, token, b)
	default:
		status, answer := f.send(token, b)
		if data, _ := answer["data"].(map[string]any); name == "issue" && data["issue"] == nil {
			refuse(w, http.StatusOK, "INPUT_ERROR", "Entity not found: Issue")
			return
		}
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(answer)
	}
}

// send sends an operation to the emulator.
func (f *LinearTeam) send(token string, b operation) (int, map[string]any) {
	req, err := http.NewRequestWithContext(context.WithoutCancel(f.t.Context()), http.MethodPost, f.server.API, bytes.NewReader(coppice.Raw(b)))
	if err != nil {
		f.t.Error(err)
		return 500, nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Error(err)
		return 500, nil
	}
	defer resp.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		f.t.Error(err)
	}
	return resp.StatusCode, answer
}

// list filters the issues of the team.
func (f *LinearTeam) list(w http.ResponseWriter, token string, b operation) {
	filter := b.Variables["filter"].(map[string]any)
	b.Variables["filter"] = map[string]any{"team": map[string]any{"eq": f.key}}
	status, answer := f.send(token, b)
	issues := answer["data"].(map[string]any)["issues"].(map[string]any)
	issues["nodes"] = slices.DeleteFunc(issues["nodes"].([]any), func(node any) bool {
		ok, err := matches(node, filter)
		if err != nil {
			f.t.Error(err)
		}
		return !ok
	})
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer)
}

// matches reports whether a node of an answer matches a filter.
func matches(node any, filter map[string]any) (bool, error) {
	fields, _ := node.(map[string]any)
	for name, want := range filter {
		ok, err := false, error(nil)
		switch name {
		case "and", "or":
			ok = name == "and"
			for _, part := range want.([]any) {
				one, err := matches(node, part.(map[string]any))
				if err != nil {
					return false, err
				}
				ok = name == "and" && ok && one || name == "or" && (ok || one)
			}
		case "labels", "comments":
			some := want.(map[string]any)
			if len(some) != 1 || some["some"] == nil {
				return false, fmt.Errorf("unknown filter %v", want)
			}
			for _, child := range fields[name].(map[string]any)["nodes"].([]any) {
				one, err := matches(child, some["some"].(map[string]any))
				if err != nil {
					return false, err
				}
				ok = ok || one
			}
		case "searchableContent":
			ok = strings.Contains(fmt.Sprint(fields["title"], " ", fields["description"]), want.(map[string]any)["contains"].(string))
		case "team", "state", "assignee":
			ok, err = matches(fields[name], want.(map[string]any))
		case "key", "type", "name", "displayName", "updatedAt":
			text, _ := fields[name].(string)
			ok, err = compare(text, want.(map[string]any))
		default:
			err = fmt.Errorf("unknown filter %s", name)
		}
		if !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func compare(value string, with map[string]any) (bool, error) {
	for name, want := range with {
		ok := false
		switch name {
		case "eq":
			ok = value == want
		case "eqIgnoreCase":
			ok = strings.EqualFold(value, want.(string))
		case "nin":
			ok = !slices.Contains(want.([]any), any(value))
		case "gte":
			a, errA := time.Parse(time.RFC3339, value)
			b, errB := time.Parse(time.RFC3339, want.(string))
			if err := errors.Join(errA, errB); err != nil {
				return false, err
			}
			ok = !a.Before(b)
		default:
			return false, fmt.Errorf("unknown comparator %s", name)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

// related answers which issues belong together.
func (f *LinearTeam) related(w http.ResponseWriter, token string, b operation) {
	look := func(id any) map[string]any {
		_, answer := f.send(token, operation{`query($id:String!){issue(id:$id){identifier archivedAt state{type}}}`, map[string]any{"id": id}})
		i, _ := answer["data"].(map[string]any)["issue"].(map[string]any)
		return i
	}
	i := look(b.Variables["id"])
	id := i["identifier"].(string)
	children, relations := []any{}, []any{}
	for child, parent := range f.parents {
		if parent == id {
			children = append(children, look(child))
		}
	}
	for _, by := range f.blocked[id] {
		relations = append(relations, map[string]any{"type": "blocks", "issue": look(by)}, map[string]any{"type": "related", "issue": look(by)})
	}
	var parent any
	if p := f.parents[id]; p != "" {
		parent = map[string]any{"identifier": p}
	}
	json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"issue": map[string]any{
		"parent": parent, "children": map[string]any{"nodes": children}, "inverseRelations": map[string]any{"nodes": relations},
		"attachments": map[string]any{"nodes": []any{map[string]any{"url": "https://example.org/" + id}}},
	}}})
}

// As sends an operation as a person, and returns the value at a path of its data.
func (f *LinearTeam) As(name, query string, variables map[string]any, path ...string) any {
	f.t.Helper()
	_, answer := f.send(f.server.Token(name), operation{query, variables})
	if answer["errors"] != nil {
		f.t.Fatalf("%s: %v", query, answer["errors"])
	}
	v := answer["data"]
	for _, p := range path {
		v = v.(map[string]any)[p]
	}
	return v
}

// Create creates an issue as a person, and the labels that do not exist.
func (f *LinearTeam) Create(name, title, text string, labels ...string) (id string) {
	f.t.Helper()
	ids := []string{}
	for _, l := range labels {
		if f.labels[l] == "" {
			f.labels[l] = f.As(name, `mutation($input:IssueLabelCreateInput!){issueLabelCreate(input:$input){issueLabel{id}}}`,
				map[string]any{"input": map[string]any{"name": l, "teamId": f.key}}, "issueLabelCreate", "issueLabel", "id").(string)
		}
		ids = append(ids, f.labels[l])
	}
	return f.As(name, `mutation($input:IssueCreateInput!){issueCreate(input:$input){issue{identifier}}}`,
		map[string]any{"input": map[string]any{"teamId": f.key, "title": title, "description": text, "labelIds": ids}}, "issueCreate", "issue", "identifier").(string)
}

// Block lets an issue wait for another one.
func (f *LinearTeam) Block(id, by string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blocked[id] = append(f.blocked[id], by)
}

// Part makes an issue a part of another one.
func (f *LinearTeam) Part(id, parent string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parents[id] = parent
}
