package gitlab_test

import (
	"testing"

	"coppice"
	"coppice/forge"
	"coppice/forge/forgetest"
	"coppice/forge/gitlab"
	"coppice/test/forges"
)

// bundle is a new project on the fake.
func bundle(t *testing.T) (forgetest.Bundle, *project) {
	t.Helper()
	p := newProject(map[string]int{"coppice": 40, "bob": 30, "eve": 20, "project_42_bot_x": 30})
	remote := forge.Remote{Kind: "gitlab", API: p.serve(t), Owner: "group/sub.group", Name: "app"}
	return forgetest.Bundle{
		Open: gitlab.Open, Remote: remote, Token: forges.GitLabToken, Login: "coppice", Base: "main", Writer: "bob", Stranger: "eve",
		Commit: func(_ *testing.T, branch, file, text string) string { return p.push(branch, file, text) },
		SetStatus: func(_ *testing.T, commit, name string, state coppice.CIState, text string) {
			p.setStatus(commit, name, state, text)
		},
		Review: func(_ *testing.T, number int, login string, state coppice.ReviewState, text string) {
			p.review(number, login, state, text)
		},
		CommentLine: func(_ *testing.T, number int, login, path string, line int, text string) {
			p.say(number, login, text, map[string]any{
				"type": "DiffNote", "resolvable": true, "resolved": false, "position": map[string]any{"new_path": path, "old_path": path, "new_line": line, "old_line": nil},
			})
		},
		Comment: func(_ *testing.T, number int, login, text string) { p.say(number, login, text, nil) },
		Asked: func(_ *testing.T, number int) (list []string) {
			for _, id := range p.list_[number-1].reviewers {
				list = append(list, p.Login(id))
			}
			return list
		},
		RequireStatus: func(_ *testing.T, name string) { p.required = name },
		DeleteBranch:  func(_ *testing.T, branch string) { delete(p.branches, branch) },
	}, p
}

func (p *project) setStatus(commit, name string, state coppice.CIState, text string) {
	status := map[coppice.CIState]string{coppice.CIPending: "running", coppice.CIPassed: "success", coppice.CIFailed: "failed"}[state]
	for _, s := range p.status[commit] {
		if s["name"] == name {
			s["status"], s["description"] = status, text
			return
		}
	}
	p.status[commit] = append(p.status[commit], map[string]any{
		"id": p.ID(), "name": name, "status": status, "description": text, "target_url": nil, "allow_failure": false, "sha": commit,
	})
}

func TestSuite(t *testing.T) {
	t.Parallel()
	forgetest.Run(t, func(t *testing.T) forgetest.Bundle {
		b, _ := bundle(t)
		return b
	})
}
