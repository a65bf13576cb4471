// Package linear connects to the issues of a team on Linear, with its GraphQL API.
//
// Linear stores texts in its own format, and not what stays invisible in Markdown. So
// the marker of a comment is a line that people can see.
package linear

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"coppice"
	"coppice/forge"
)

// team is a team on Linear.
type team struct {
	http *http.Client
	api  string
	key  string // such as ENG
	now  func() time.Time

	labelling sync.Mutex // Linear would refuse the second one of two new labels with one name
}

var (
	_ forge.TrackerOpener = Open
	_ forge.Tracker       = (*team)(nil)
)

// Open connects to a team. The name of the remote is its key.
func Open(r forge.Remote, o forge.Options) (forge.Tracker, error) {
	client, err := forge.Client(r, o)
	if err != nil {
		return nil, err
	}
	t := &team{http: client, api: r.API, key: strings.ToUpper(r.Name), now: o.Now}
	if t.now == nil {
		t.now = time.Now
	}
	return t, nil
}

// The operations. Linear counts a list as large as it could be, and refuses a query that
// counts more than 10,000.
const (
	page        = `pageInfo{hasNextPage endCursor}`
	issueFields = `id identifier url title description updatedAt archivedAt team{key} state{name type} creator{displayName active app} assignee{displayName} labels(first:50){nodes{id name}} `

	queryIssues = `query($filter:IssueFilter,$after:String){issues(first:50,after:$after,filter:$filter){nodes{` + issueFields + `comments(first:50){nodes{updatedAt}}} ` + page + `}}`
	queryIssue  = `query($id:String!,$after:String){issue(id:$id){` + issueFields +
		`comments(first:100,after:$after){nodes{id body createdAt updatedAt user{id displayName active app}} ` + page + `}}}`
	queryRelated = `query($id:String!){issue(id:$id){parent{identifier} children(first:50){nodes{identifier archivedAt state{type}}} ` +
		`inverseRelations(first:50){nodes{type issue{identifier archivedAt state{type}}}} attachments(first:50){nodes{url}}}}`
	queryTeam    = `query($key:String!){teams(filter:{key:{eq:$key}}){nodes{id states(first:100){nodes{id name type position}}}}}`
	queryLabels  = `query($after:String){issueLabels(first:250,after:$after){nodes{id name team{key}} ` + page + `}}`
	queryViewer  = `query{viewer{id}}`
	queryComment = `query($id:String!){comment(id:$id){id}}`

	mutateIssue   = `mutation($id:String!,$input:IssueUpdateInput!){issueUpdate(id:$id,input:$input){success}}`
	mutateAdd     = `mutation($id:String!,$label:String!){issueAddLabel(id:$id,labelId:$label){success}}`
	mutateRemove  = `mutation($id:String!,$label:String!){issueRemoveLabel(id:$id,labelId:$label){success}}`
	mutateLabel   = `mutation($input:IssueLabelCreateInput!){issueLabelCreate(input:$input){issueLabel{id}}}`
	createComment = `mutation($input:CommentCreateInput!){commentCreate(input:$input){success}}`
	updateComment = `mutation($id:String!,$input:CommentUpdateInput!){commentUpdate(id:$id,input:$input){success}}`
)

type vars map[string]any

// refusal is an error of an operation.
type refusal struct {
	code string // Linear's
	text string
}

func (e *refusal) Error() string { return e.text }

// call sends an operation and returns its data.
func call[T any](ctx context.Context, t *team, operation string, variables vars) (T, error) {
	var answer struct {
		Data   T `json:"data"`
		Errors []struct {
			Message    string `json:"message"`
			Extensions struct {
				Code  string `json:"code"`
				Shown string `json:"userPresentableMessage"`
			} `json:"extensions"`
		} `json:"errors"`
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.api, bytes.NewReader(coppice.Raw(vars{"query": operation, "variables": variables})))
	if err != nil {
		return answer.Data, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := t.http.Do(req)
	if err != nil {
		return answer.Data, forge.Cause(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil && len(answer.Errors) == 0 { // the data of an operation that failed can be anything
		return answer.Data, forge.Cause(err)
	}
	if len(answer.Errors) > 0 {
		e := answer.Errors[0]
		text := coppice.FirstLine(e.Message)
		if e.Extensions.Shown != "" {
			text += ": " + coppice.FirstLine(e.Extensions.Shown)
		}
		return answer.Data, t.refused(resp, &refusal{e.Extensions.Code, text})
	}
	return answer.Data, nil
}

// refused returns the failure for an error that every operation can have.
func (t *team) refused(resp *http.Response, e *refusal) error {
	switch e.code {
	case "RATELIMITED":
		f := coppice.Failf(coppice.ClassRateLimit, "Linear limits the number of requests: "+e.text, "")
		f.RetryAt = t.now().Add(time.Minute)
		for _, kind := range []string{"Requests", "Complexity", "Endpoint-Requests"} {
			ms, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-"+kind+"-Reset"), 10, 64)
			if at := time.UnixMilli(ms); err == nil && resp.Header.Get("X-RateLimit-"+kind+"-Remaining") == "0" && at.After(f.RetryAt) && at.Before(t.now().Add(24*time.Hour)) {
				f.RetryAt = at
			}
		}
		return f
	case "AUTHENTICATION_ERROR", "FORBIDDEN":
		return coppice.Failf(coppice.ClassAuth, "Linear refuses the token: "+e.text, "store an API key that can read and write the team: coppice secret set LINEAR_API_KEY, or the name in tracker.token")
	}
	return e
}

// failed returns the error that a method of forge.Tracker fails with.
func failed(err error) error {
	var e *refusal
	if errors.As(err, &e) {
		return coppice.Failf(coppice.ClassEnvironment, "Linear refuses the request: "+e.text, "")
	}
	return err
}

// identifier is how people name an issue.
var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Z][A-Z0-9_]*)-[1-9][0-9]*$`) })

// ofTeam reports whether an identifier is that of an issue of the team.
func (t *team) ofTeam(id string) bool {
	m := identifier().FindStringSubmatch(id)
	return m != nil && m[1] == t.key
}

func missing(what, name string) error {
	return coppice.Errorf(coppice.ENotFound, "Linear does not have the %s %s, or the token cannot read it", what, coppice.Quote(name)).
		WithFix("check tracker.team in coppice.yaml and the permissions of the token")
}

// teamState is a state of the team's workflow.
type teamState struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Position float64 `json:"position"`
}

// team returns the number of the team and its states.
func (t *team) team(ctx context.Context) (id string, states []teamState, err error) {
	got, err := call[struct {
		Teams struct {
			Nodes []struct {
				ID     string
				States struct{ Nodes []teamState }
			}
		}
	}](ctx, t, queryTeam, vars{"key": t.key})
	switch {
	case err != nil:
		return "", nil, failed(err)
	case len(got.Teams.Nodes) == 0:
		return "", nil, missing("team", t.key)
	}
	return got.Teams.Nodes[0].ID, got.Teams.Nodes[0].States.Nodes, nil
}
