package github

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"

	gh "github.com/google/go-github/v84/github"

	"coppice"
	"coppice/forge"
)

// check is a check of CI, with the job of Actions that has its log.
type check struct {
	coppice.PullCheck
	job       int64
	cancelled bool
}

// checks returns the check runs and commit statuses of a commit, merged by name.
func (r *repo) checks(ctx context.Context, sha string) ([]coppice.PullCheck, error) {
	runs, err := r.runs(ctx, sha)
	if refused := err; missing(refused) {
		// A token with fine-grained permissions cannot have the one for checks.
		if runs, err = r.jobs(ctx, sha); missing(err) {
			err = refused
		}
	}
	if err != nil {
		return nil, err
	}
	list, err := r.statuses(ctx, sha)
	if err != nil {
		return nil, err
	}
	ended := map[string]bool{}
	for _, c := range runs {
		ended[c.Name] = ended[c.Name] || !c.cancelled
	}
	logs := 0
	for _, c := range runs {
		if c.cancelled && ended[c.Name] { // another run replaced it
			continue
		}
		if c.State == coppice.CIFailed && c.job != 0 && !c.cancelled && logs < forge.MaxLogs {
			logs++
			if c.Log, err = r.log(ctx, c.job); err != nil {
				return nil, err
			}
		}
		list = append(list, c.PullCheck)
	}
	return forge.MergeChecks(list), nil
}

// passed are the results of a check run that do not block a merge.
var passed = map[string]bool{"success": true, "neutral": true, "skipped": true}

// checkOf returns a check by the words that check runs and jobs share.
func checkOf(name, status, conclusion string) check {
	c := check{PullCheck: coppice.PullCheck{Name: name, State: coppice.CIPending}, cancelled: conclusion == "cancelled"}
	switch {
	case status != "completed":
	case passed[conclusion]:
		c.State = coppice.CIPassed
	default:
		c.State = coppice.CIFailed
	}
	return c
}

// runs returns the newest check runs of a commit.
func (r *repo) runs(ctx context.Context, sha string) ([]check, error) {
	latest := "latest"
	list, err := pages(func(o gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		result, resp, err := r.api.Checks.ListCheckRunsForRef(ctx, r.owner, r.name, sha, &gh.ListCheckRunsOptions{Filter: &latest, ListOptions: o})
		if err != nil {
			return nil, resp, err
		}
		return result.CheckRuns, resp, nil
	})
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return nil, nil
	}
	var checks []check
	for _, run := range list {
		if run.GetName() == "" {
			continue
		}
		c := checkOf(run.GetName(), run.GetStatus(), run.GetConclusion())
		c.Text = cmp.Or(run.GetOutput().GetTitle(), run.GetOutput().GetSummary())
		c.URL = cmp.Or(run.GetHTMLURL(), run.GetDetailsURL())
		if run.GetApp().GetSlug() == "github-actions" {
			c.job = run.GetID() // a job and its check run have the same id
		}
		checks = append(checks, c)
	}
	return checks, err
}

// jobs returns the jobs of Actions of a commit, for a token that cannot read check
// runs.
func (r *repo) jobs(ctx context.Context, sha string) ([]check, error) {
	found, _, err := r.api.Actions.ListRepositoryWorkflowRuns(ctx, r.owner, r.name, &gh.ListWorkflowRunsOptions{
		HeadSHA: sha, ListOptions: gh.ListOptions{PerPage: perPage},
	})
	if err != nil {
		return nil, forge.Explain(err)
	}
	var checks []check
	seen := map[int64]bool{} // the newest run of each workflow counts, and it is first
	for _, run := range found.WorkflowRuns {
		if run.GetID() == 0 || seen[run.GetWorkflowID()] || len(seen) == 20 {
			continue
		}
		seen[run.GetWorkflowID()] = true
		list, err := pages(func(o gh.ListOptions) ([]*gh.WorkflowJob, *gh.Response, error) {
			jobs, resp, err := r.api.Actions.ListWorkflowJobs(ctx, r.owner, r.name, run.GetID(), &gh.ListWorkflowJobsOptions{Filter: "latest", ListOptions: o})
			if err != nil {
				return nil, resp, err
			}
			return jobs.Jobs, resp, nil
		})
		if err != nil {
			return nil, err
		}
		for _, job := range list {
			if job.GetName() == "" {
				continue
			}
			c := checkOf(job.GetName(), job.GetStatus(), job.GetConclusion())
			c.URL, c.job = job.GetHTMLURL(), job.GetID()
			checks = append(checks, c)
		}
	}
	return checks, nil
}

// statuses returns the commit statuses of a commit.
func (r *repo) statuses(ctx context.Context, sha string) ([]coppice.PullCheck, error) {
	list, err := pages(func(o gh.ListOptions) ([]*gh.RepoStatus, *gh.Response, error) {
		result, resp, err := r.api.Repositories.GetCombinedStatus(ctx, r.owner, r.name, sha, &o)
		if err != nil {
			return nil, resp, err
		}
		return result.Statuses, resp, nil
	})
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	states := map[string]coppice.CIState{"success": coppice.CIPassed, "pending": coppice.CIPending}
	var checks []coppice.PullCheck
	for _, s := range list {
		if s.GetContext() == "" {
			continue
		}
		checks = append(checks, coppice.PullCheck{
			Name: s.GetContext(), State: cmp.Or(states[s.GetState()], coppice.CIFailed),
			Text: s.GetDescription(), URL: s.GetTargetURL(),
		})
	}
	return checks, nil
}

// log returns the end of the log of a job, "" if GitHub does not have it: a log is
// deleted after some time, and the token may lack the permission.
func (r *repo) log(ctx context.Context, job int64) (string, error) {
	req, err := r.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/actions/jobs/%d/logs", r.owner, r.name, job), nil)
	if err != nil {
		return "", err
	}
	resp, err := r.api.BareDo(forge.LogContext(ctx), req)
	if err != nil {
		return "", logError(ctx, forge.Explain(err))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// logError returns the errors of reading a log that end the whole read.
func logError(ctx context.Context, err error) error {
	if ctx.Err() != nil || failureClass(err) == coppice.ClassRateLimit {
		return err
	}
	return nil
}

// missing reports whether the token lacks a permission.
func missing(err error) bool { return failureClass(err) == coppice.ClassAuth }
