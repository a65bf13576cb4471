//go:build linux

package gitea_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/gitea"
	"coppice/test/forges"
)

var branches atomic.Int64

func trackerBundle(t *testing.T) forgetest.TrackerBundle {
	s := forges.Gitea(t)
	r := s.Repo(t)
	number := func(id string) int64 {
		n, err := strconv.ParseInt(id, 10, 64)
		must(t, err)
		return n
	}
	edit := func(t *testing.T, id string, o sdk.EditIssueOption) {
		t.Helper()
		_, _, err := s.API(t, forges.Writer).EditIssue(forges.Owner, r.Name, number(id), o)
		must(t, err)
	}
	known := map[string]int64{}
	return forgetest.TrackerBundle{
		Open: gitea.OpenTracker, Remote: forge.Remote{Kind: "gitea", API: s.URL + "/api/v1/", Owner: forges.Owner, Name: r.Name},
		Token: s.Token(t, forges.Owner, "write:issue", "read:repository", "read:user"), Login: forges.Owner, Writer: forges.Writer, Stranger: forges.Stranger,
		Lacks: map[forgetest.Ability]string{forgetest.Parents: "task lists name only the parts", forgetest.States: "Gitea has only open and closed"},
		Create: func(t *testing.T, login, title, text string, labels ...string) string {
			var ids []int64
			for _, name := range labels {
				if known[name] == 0 {
					l, _, err := s.API(t, forges.Owner).CreateLabel(forges.Owner, r.Name, sdk.CreateLabelOption{Name: name, Color: "#123456"})
					must(t, err)
					known[name] = l.ID
				}
				ids = append(ids, known[name])
			}
			i, _, err := s.API(t, login).CreateIssue(forges.Owner, r.Name, sdk.CreateIssueOption{Title: title, Body: text, Labels: ids})
			must(t, err)
			return strconv.FormatInt(i.Index, 10)
		},
		Close: func(t *testing.T, id string) {
			closed := sdk.StateClosed
			edit(t, id, sdk.EditIssueOption{State: &closed})
		},
		Assign: func(t *testing.T, id, login string) { edit(t, id, sdk.EditIssueOption{Assignees: []string{login}}) },
		Comment: func(t *testing.T, id, login, text string) {
			_, _, err := s.API(t, login).CreateIssueComment(forges.Owner, r.Name, number(id), sdk.CreateIssueCommentOption{Body: text})
			must(t, err)
		},
		Block: func(t *testing.T, id, by string) {
			// Gitea's library does not send the repository.
			body := fmt.Sprintf(`{"index": %s, "owner": %q, "repo": %q}`, by, forges.Owner, r.Name)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("%s/api/v1/repos/%s/%s/issues/%s/dependencies", s.URL, forges.Owner, r.Name, id), strings.NewReader(body))
			must(t, err)
			req.Header.Set("Authorization", "token "+s.User(t, forges.Writer))
			req.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(req)
			must(t, err)
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusCreated {
				t.Fatal(resp.Status)
			}
		},
		Part: func(t *testing.T, id, parent string) {
			i, _, err := s.API(t, forges.Writer).GetIssue(forges.Owner, r.Name, number(parent))
			must(t, err)
			text := i.Body + "\n- [ ] #" + id
			edit(t, parent, sdk.EditIssueOption{Body: &text})
		},
		Pull: func(t *testing.T) string {
			branch := fmt.Sprint("pull-", branches.Add(1))
			r.Commit(t, branch, "file.txt", branch)
			p, _, err := s.API(t, forges.Writer).CreatePullRequest(forges.Owner, r.Name, sdk.CreatePullRequestOption{Head: branch, Base: "main", Title: "A pull request"})
			must(t, err)
			return strconv.FormatInt(p.Index, 10)
		},
		Remove: func(t *testing.T, id string) {
			_, err := s.API(t, forges.Owner).DeleteIssue(forges.Owner, r.Name, number(id))
			must(t, err)
		},
	}
}

func TestTracker(t *testing.T) {
	t.Parallel()
	forgetest.RunTracker(t, trackerBundle)
}
