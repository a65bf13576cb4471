package linear_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/linear"
	"coppice/test/forges"
)

func bundle(t *testing.T, server *forges.Linear, key string) forgetest.TrackerBundle {
	t.Helper()
	team := server.Team(t, key)
	update := func(id string, input map[string]any) {
		team.As("bob", `mutation($id:String!,$input:IssueUpdateInput!){issueUpdate(id:$id,input:$input){success}}`, map[string]any{"id": id, "input": input})
	}
	return forgetest.TrackerBundle{
		Open: linear.Open, Remote: forge.Remote{Kind: "linear", API: team.API, Name: key}, Token: server.Token("ann"), Login: "ann", Writer: "bob",
		Lacks: map[forgetest.Ability]string{
			forgetest.Access: "every user of a team can write", forgetest.Pulls: "Linear has no pull requests", forgetest.Validated: "all requests are POST",
		},
		Create: func(_ *testing.T, login, title, text string, labels ...string) string {
			return team.Create(login, title, text, labels...)
		},
		Close:  func(_ *testing.T, id string) { update(id, map[string]any{"stateId": "Done"}) },
		Assign: func(_ *testing.T, id, login string) { update(id, map[string]any{"assigneeId": login}) },
		Comment: func(_ *testing.T, id, login, text string) {
			team.As(login, `mutation($input:CommentCreateInput!){commentCreate(input:$input){success}}`, map[string]any{"input": map[string]any{"issueId": id, "body": text}})
		},
		Block: func(_ *testing.T, id, by string) { team.Block(id, by) },
		Part:  func(_ *testing.T, id, parent string) { team.Part(id, parent) },
		Remove: func(_ *testing.T, id string) {
			team.As("bob", `mutation($id:String!){issueDelete(id:$id){success}}`, map[string]any{"id": id})
		},
	}
}

func TestTracker(t *testing.T) {
	t.Parallel()
	var teams []string
	for i := range 12 {
		teams = append(teams, fmt.Sprintf("T%c", 'A'+i))
	}
	server := forges.StartLinear(t, teams, "ann", "bob")
	var mu sync.Mutex
	forgetest.RunTracker(t, func(t *testing.T) forgetest.TrackerBundle {
		mu.Lock()
		defer mu.Unlock()
		team := teams[0]
		teams = teams[1:]
		return bundle(t, server, team)
	})
}

// fixed is a Linear that answers all requests in the same way.
func fixed(t *testing.T, status int, header map[string]string, answer string) forge.Tracker {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer lin_oauth_x" {
			t.Errorf("the token is %q", got)
		}
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	f, err := linear.Open(forge.Remote{Kind: "linear", API: s.URL, Name: "ENG"}, forge.Options{
		Token: func(context.Context) (string, error) { return "lin_oauth_x", nil }, Key: "tracker",
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestErrors checks what Linear's errors become.
func TestErrors(t *testing.T) {
	t.Parallel()
	failure := func(err error) *coppice.Failure {
		var f *coppice.Failure
		if !errors.As(err, &f) {
			t.Errorf("%v is not a failure", err)
			return &coppice.Failure{}
		}
		return f
	}
	reset := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	limited := fixed(t, 400, map[string]string{"X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": strconv.FormatInt(reset.UnixMilli(), 10)},
		`{"errors":[{"message":"Rate limit exceeded","extensions":{"code":"RATELIMITED"}}],"data":null}`)
	if _, err := limited.Issue(t.Context(), "ENG-1"); failure(err).Class != coppice.ClassRateLimit || !failure(err).RetryAt.Equal(reset) {
		t.Errorf("a limit: %+v", err)
	}
	denied := fixed(t, 400, nil, `{"errors":[{"message":"no","extensions":{"code":"FORBIDDEN","userPresentableMessage":"Ask an admin."}}]}`)
	if err := denied.AddComment(t.Context(), "ENG-1", "text"); failure(err).Class != coppice.ClassAuth || !strings.Contains(err.Error(), "Ask an admin.") || failure(err).Fix == "" {
		t.Errorf("a permission: %+v", err)
	}
	invalid := fixed(t, 200, nil, `{"errors":[{"message":"Argument Validation Error","extensions":{"code":"INPUT_ERROR"}}],"data":null}`)
	if _, err := invalid.Issues(t.Context(), forge.IssueQuery{}); failure(err).Class != coppice.ClassEnvironment || !strings.Contains(err.Error(), "Argument Validation Error") {
		t.Errorf("an invalid request: %+v", err)
	}
	if _, err := invalid.Issue(t.Context(), "ENG-1"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("no issue: %v", err)
	}
	moved := fixed(t, 200, nil, `{"data":{"issue":{"identifier":"OPS-7"}}}`)
	if _, err := moved.Issue(t.Context(), "ENG-1"); coppice.ErrorCode(err) != coppice.ENotFound {
		t.Errorf("an issue that was moved: %v", err)
	}
	empty := fixed(t, 200, nil, `{"data":{"issues":{"nodes":[]},"teams":{"nodes":[]}}}`)
	if _, err := empty.Issues(t.Context(), forge.IssueQuery{}); coppice.ErrorCode(err) != coppice.ENotFound || !strings.Contains(coppice.Public(err).Fix, "tracker.team") {
		t.Errorf("no team: %v", err)
	}
}

// TestTexts writes comments with markers and reads them again.
func TestTexts(t *testing.T) {
	t.Parallel()
	server := forges.StartLinear(t, []string{"ENG"}, "ann", "bob")
	b := bundle(t, server, "ENG")
	f, err := b.Open(b.Remote, forge.Options{Token: func(context.Context) (string, error) { return b.Token, nil }})
	if err != nil {
		t.Fatal(err)
	}
	id := b.Create(t, "bob", "Texts", "")
	for _, text := range []string{
		"Plain.", "Done.\n\n" + coppice.IssueMarker("app-1"), "`coppice:x` in the middle\n", "an open <!-- coppice:app-1", "`coppice:", coppice.IssueMarker("a") + "\n" + coppice.IssueMarker("b"),
	} {
		if err := f.AddComment(t.Context(), id, text); err != nil {
			t.Fatal(err)
		}
		list, err := f.Comments(t.Context(), id)
		if err != nil || list[len(list)-1].Text != text && strings.Count(text, "<!--") < 2 {
			t.Errorf("%q is read as %q, %v", text, list[len(list)-1].Text, err)
		}
	}
	raw := b.Create(t, "bob", "Marker", "")
	if err := f.AddComment(t.Context(), raw, "Done.\n\n"+coppice.IssueMarker("app-1")); err != nil {
		t.Fatal(err)
	}
	other, err := b.Open(b.Remote, forge.Options{Token: func(context.Context) (string, error) { return server.Token("bob"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := other.Comments(t.Context(), raw); err != nil || list[0].Text != "Done.\n\n`coppice:app-1`" || list[0].Ours() {
		t.Errorf("a person reads %+v, %v", list, err)
	}
}
