package gitlab

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	gl "gitlab.com/gitlab-org/api/client-go"

	"coppice"
	"coppice/forge"
)

type pipeline struct {
	ID      int64  `json:"id"`
	Project int64  `json:"project_id"`
	SHA     string `json:"sha"`
	Ref     string `json:"ref"`
	Status  string `json:"status"`
	WebURL  string `json:"web_url"`
	Errors  string `json:"yaml_errors"`
}

// check is a job of a pipeline, or a status that something else set on a commit.
type check struct {
	ID           int64  `json:"id"`
	Name         string `json:"name"`
	Status       string `json:"status"`
	AllowFailure bool   `json:"allow_failure"`
	Reason       string `json:"failure_reason"` // of a job
	WebURL       string `json:"web_url"`        // of a job
	Description  string `json:"description"`    // of a status
	TargetURL    string `json:"target_url"`     // of a status
}

// states are the results of jobs and pipelines that have ended. Any other one is
// pending.
var states = map[string]coppice.CIState{
	"success": coppice.CIPassed, "skipped": coppice.CIPassed, "failed": coppice.CIFailed, "canceled": coppice.CIFailed,
}

func (c check) state() coppice.CIState {
	if c.AllowFailure && (c.Status == "manual" || c.Status == "failed" || c.Status == "canceled") {
		return coppice.CIPassed // as GitLab counts it
	}
	return cmp.Or(states[c.Status], coppice.CIPending)
}

// checks returns the jobs of the head's pipeline and the commit statuses of the head.
// A job counts more than a status of its name: that can be of an older pipeline.
func (r *repo) checks(ctx context.Context, m request) ([]coppice.PullCheck, error) {
	if m.SHA == "" {
		return nil, nil
	}
	var list []coppice.PullCheck
	known := map[string]bool{}
	p := m.HeadPipeline
	if p != nil && (p.ID == 0 || !m.runsOn(p)) {
		p = nil
	}
	if p != nil {
		jobs, err := r.jobs(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, c := range jobs {
			known[c.Name] = true
			list = append(list, c)
		}
	}
	statuses, err := pages[check](ctx, r, "/repository/commits/"+gl.PathEscape(m.SHA)+"/statuses")
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return nil, err
	}
	for _, c := range statuses {
		if c.Name != "" && !known[c.Name] {
			list = append(list, coppice.PullCheck{Name: c.Name, State: c.state(), Text: c.Description, URL: c.TargetURL})
		}
	}
	list = forge.MergeChecks(list)
	if p != nil {
		// A pipeline can fail without a job: by its configuration, or in a pipeline that
		// it started.
		whole := coppice.PullCheck{Name: "pipeline", State: cmp.Or(states[p.Status], coppice.CIPending), Text: cmp.Or(p.Errors, p.Status), URL: p.WebURL}
		if with := forge.MergeChecks(append(slices.Clone(list), whole)); forge.CIOf(with) != forge.CIOf(list) {
			list = with
		}
	}
	return list, nil
}

// runsOn reports whether a pipeline is of the head of the request. A pipeline of the
// merged result has another commit.
func (m request) runsOn(p *pipeline) bool {
	return p.SHA == m.SHA || strings.HasPrefix(p.Ref, "refs/merge-requests/"+strconv.Itoa(m.IID)+"/")
}

// jobs returns the jobs of a pipeline, with the end of the log of failed ones.
func (r *repo) jobs(ctx context.Context, p *pipeline) ([]coppice.PullCheck, error) {
	// The pipeline can be of the project with the branch.
	in := &repo{api: r.api, project: r.project}
	if p.Project != 0 {
		in.project = strconv.FormatInt(p.Project, 10)
	}
	jobs, err := pages[check](ctx, in, "/pipelines/"+strconv.FormatInt(p.ID, 10)+"/jobs")
	if err != nil && coppice.ErrorCode(err) != coppice.ENotFound {
		return nil, err
	}
	var list []coppice.PullCheck
	logs := 0
	for _, j := range jobs {
		if j.Name == "" {
			continue
		}
		c := coppice.PullCheck{Name: j.Name, State: j.state(), URL: j.WebURL, Text: strings.ReplaceAll(j.Reason, "_", " ")}
		if c.State == coppice.CIFailed && j.Status == "failed" && logs < forge.MaxLogs {
			logs++
			if c.Log, err = in.trace(ctx, j.ID); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// trace returns the end of the log of a job, "" if GitLab does not have it or does
// not show it to the token.
func (r *repo) trace(ctx context.Context, job int64) (string, error) {
	req, err := r.api.NewRequest(http.MethodGet, "projects/"+gl.PathEscape(r.project)+"/jobs/"+strconv.FormatInt(job, 10)+"/trace", nil, []gl.RequestOptionFunc{gl.WithContext(forge.LogContext(ctx))})
	if err != nil {
		return "", err
	}
	var tail bytes.Buffer
	if _, err := r.api.Do(req, &tail); err != nil {
		var failure *coppice.Failure
		if ctx.Err() != nil || errors.As(err, &failure) && failure.Class == coppice.ClassRateLimit {
			return "", forge.Cause(err)
		}
		return "", nil
	}
	return tail.String(), nil
}
