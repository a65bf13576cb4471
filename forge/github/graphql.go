package github

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v84/github"

	"coppice"
	"coppice/forge"
)

// The operations for which GitHub has no REST API.
const (
	queryThreads = `query($owner:String!,$name:String!,$number:Int!,$after:String){repository(owner:$owner,name:$name){pullRequest(number:$number){` +
		`reviewThreads(first:100,after:$after){nodes{id isResolved comments(first:1){nodes{databaseId}}}pageInfo{hasNextPage endCursor}}}}}`
	mutateResolve = `mutation($id:ID!){resolveReviewThread(input:{threadId:$id}){thread{isResolved}}}`
	mutateReady   = `mutation($id:ID!){markPullRequestReadyForReview(input:{pullRequestId:$id}){pullRequest{isDraft}}}`
	mutateDraft   = `mutation($id:ID!){convertPullRequestToDraft(input:{pullRequestId:$id}){pullRequest{isDraft}}}`
	mutateAuto    = `mutation($id:ID!,$head:GitObjectID!,$method:PullRequestMergeMethod!,$title:String,$body:String){enablePullRequestAutoMerge(input:{` +
		`pullRequestId:$id,expectedHeadOid:$head,mergeMethod:$method,commitHeadline:$title,commitBody:$body}){pullRequest{number}}}`
	mutateQueue = `mutation($id:ID!,$head:GitObjectID!){enqueuePullRequest(input:{pullRequestId:$id,expectedHeadOid:$head}){mergeQueueEntry{id}}}`
)

// graphErrors are the errors of a GraphQL answer whose status is 200.
type graphErrors []struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// call sends an operation and decodes its data. What the operation itself refuses is
// a *forge.Refused.
func (r *repo) call(ctx context.Context, operation string, variables map[string]any, data any) error {
	req, err := r.api.NewRequest(http.MethodPost, r.graph, map[string]any{"query": operation, "variables": variables})
	if err != nil {
		return err
	}
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors graphErrors     `json:"errors"`
	}
	resp, err := r.api.Do(ctx, req, &answer)
	if err != nil {
		return forge.Explain(err)
	}
	if len(answer.Errors) > 0 {
		return r.graphFail(resp, answer.Errors)
	}
	if data == nil {
		return nil
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		return forge.Explain(err)
	}
	return nil
}

// graphClasses are the failures of operations that have a type.
var graphClasses = map[string]coppice.Class{
	"FORBIDDEN": coppice.ClassAuth, "INSUFFICIENT_SCOPES": coppice.ClassAuth, "RATE_LIMITED": coppice.ClassRateLimit,
}

func (r *repo) graphFail(resp *gh.Response, list graphErrors) error {
	text := coppice.FirstLine(list[0].Message)
	switch class := graphClasses[list[0].Type]; {
	case list[0].Type == "NOT_FOUND":
		return coppice.Errorf(coppice.ENotFound, "GitHub: %s", text)
	case class == coppice.ClassAuth:
		return coppice.Failf(class, "the token of GitHub lacks a permission: "+text, "see docs/forges.md for the permissions of the token")
	case class != "":
		f := coppice.Failf(class, "GitHub limits the number of requests: "+text, "")
		if f.RetryAt = resp.Rate.Reset.Time; !f.RetryAt.After(r.now()) {
			f.RetryAt = r.now().Add(time.Minute)
		}
		return f
	}
	return &forge.Refused{Text: text}
}

// thread is a discussion on a line.
type thread struct {
	ID       string
	Resolved bool
}

// threads returns the discussions of a request by the id of their first comment. A
// server without GraphQL has none.
func (r *repo) threads(ctx context.Context, number int) (map[string]thread, error) {
	all := map[string]thread{}
	variables := map[string]any{"owner": r.owner, "name": r.name, "number": number, "after": nil}
	for range 10 {
		var data struct {
			Repository struct {
				PullRequest struct {
					ReviewThreads struct {
						Nodes []struct {
							ID         string `json:"id"`
							IsResolved bool   `json:"isResolved"`
							Comments   struct {
								Nodes []struct {
									DatabaseID int64 `json:"databaseId"`
								} `json:"nodes"`
							} `json:"comments"`
						} `json:"nodes"`
						PageInfo struct {
							HasNextPage bool   `json:"hasNextPage"`
							EndCursor   string `json:"endCursor"`
						} `json:"pageInfo"`
					} `json:"reviewThreads"`
				} `json:"pullRequest"`
			} `json:"repository"`
		}
		if err := r.call(ctx, queryThreads, variables, &data); coppice.ErrorCode(err) == coppice.ENotFound {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		list := data.Repository.PullRequest.ReviewThreads
		for _, t := range list.Nodes {
			if len(t.Comments.Nodes) > 0 {
				all[strconv.FormatInt(t.Comments.Nodes[0].DatabaseID, 10)] = thread{ID: t.ID, Resolved: t.IsResolved}
			}
		}
		if !list.PageInfo.HasNextPage {
			break
		}
		variables["after"] = list.PageInfo.EndCursor
	}
	return all, nil
}

func (r *repo) Resolve(ctx context.Context, number int, id string) error {
	all, err := r.threads(ctx, number)
	if err != nil {
		return err
	}
	t, ok := all[id]
	if !ok {
		return coppice.Errorf(coppice.ENotFound, "pull request #%d has no discussion %q", number, id)
	}
	if t.Resolved {
		return nil
	}
	return r.call(ctx, mutateResolve, map[string]any{"id": t.ID}, nil)
}

// auto leaves a merge to GitHub.
func (r *repo) auto(ctx context.Context, node string, m forge.Merge) error {
	variables := map[string]any{"id": node, "head": m.Head, "method": strings.ToUpper(m.Method), "title": nil, "body": nil}
	if m.Method != coppice.MergeRebase && m.Title != "" {
		variables["title"], variables["body"] = m.Title, m.Message
	}
	return r.call(ctx, mutateAuto, variables, nil)
}
