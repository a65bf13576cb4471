package e2e

import (
	"fmt"
	"strings"
	"testing"

	"coppice/test/forges"
)

// TestIssuesOnGitLab uses the strict fake.
func TestIssuesOnGitLab(t *testing.T) {
	t.Parallel()
	issuesToTheirEnd(t, gitlabSource(t))
}

// gitlabSource is a project on the strict fake.
func gitlabSource(t *testing.T) issueSource {
	p := forges.NewGitLab(map[string]int{forges.GitLabUser: 40, forges.Owner: 50, forges.Writer: 30, forges.Stranger: 10})
	return issueSource{
		address: strings.TrimSuffix(p.Serve(t), "/api/v4/"),
		world: func(t *testing.T, address, config string) *world {
			return trackerWorld(t, fmt.Sprintf("kind: gitlab, repo: %s, url: %s/api/v4/, %s", p.Path, address, config), "GITLAB_TOKEN", forges.GitLabToken)
		},
		create: func(title, text string, labels ...string) any {
			return p.CreateIssue(forges.Owner, title, text, labels...)
		},
		block: func(id, by any) { p.BlockIssue(id.(string), by.(string)) },
		read: func(id any) issueSeen {
			i := p.Issue(id.(string))
			return issueSeen{i.Closed, i.Labels, i.Comments}
		},
	}
}
