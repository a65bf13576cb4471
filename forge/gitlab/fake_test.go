package gitlab_test

import (
	"testing"

	"coppice/test/forges"
)

const one = `/merge_requests/(\d+)`

// serve starts the fake with the calls about merge requests.
func (p *project) serve(t *testing.T) string {
	t.Helper()
	rt, listing := forges.NewGitLabRoute, forges.GitLabListing
	return p.Serve(t,
		rt(`GET /merge_requests`, append([]string{"state", "order_by", "sort", "source_branch"}, listing...), nil, p.list),
		rt(`POST /merge_requests`, nil, []string{"title*", "source_branch*", "target_branch*", "description", "labels", "reviewer_ids"}, p.create),
		rt(`GET `+one, []string{"include_diverged_commits_count", "include_rebase_in_progress"}, nil, p.get),
		rt(`PUT `+one, nil, []string{"title", "description", "target_branch", "add_labels", "reviewer_ids", "state_event"}, p.update),
		rt(`PUT `+one+`/merge`, nil, []string{"sha", "squash", "auto_merge", "merge_when_pipeline_succeeds", "merge_commit_message", "squash_commit_message"}, p.accept),
		rt(`PUT `+one+`/rebase`, nil, []string{"skip_ci"}, p.rebase),
		rt(`GET `+one+`/discussions`, listing, nil, p.discussions),
		rt(`PUT `+one+`/discussions/([^/]+)`, nil, []string{"resolved*"}, p.resolve),
		rt(`POST `+one+`/notes`, nil, []string{"body*"}, p.postNote),
		rt(`GET `+one+`/approvals`, nil, nil, p.approvals),
		rt(`GET `+one+`/reviewers`, nil, nil, p.reviewers),
		rt(`GET /repository/branches/([^/]+)`, nil, nil, p.branch),
		rt(`GET /repository/commits/([^/]+)/statuses`, listing, nil, p.statuses),
		rt(`GET /pipelines/(\d+)/jobs`, listing, nil, p.jobs),
		rt(`GET /jobs/(\d+)/trace`, nil, nil, p.trace),
	)
}
