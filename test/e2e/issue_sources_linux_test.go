package e2e

import (
	"fmt"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
	gh "github.com/google/go-github/v84/github"

	"coppice/test/forges"
)

// issueScript is the agent of the tasks of issues.
const issueScript = `cases:
  - {match: 'Do part (\d+)', steps: [{write: {path: part$1.txt, content: "$1\n"}}]}
  - {match: 'Ask the person', steps: [{ask: Shall I continue?}, {write: {path: lead.txt, content: "lead\n"}}]}
  - match: Wait for 4 messages
    steps: [{wait_message: true}, {wait_message: true}, {wait_message: true}, {wait_message: true}, {write: {path: edited.txt, content: "${answer}\n"}}]
  - steps: [{write: {path: other.txt, content: "other\n"}}]
`

// issueSource is a tracker, and what people do there.
type issueSource struct {
	address string // without a slash at the end
	// A world whose tracker has an address. It has a source for each of the configs, which
	// have further keys of it.
	world  func(t *testing.T, address string, configs ...string) *world
	create func(title, text string, labels ...string) any // returns the id
	read   func(id any) issueSeen

	// What not every test needs.
	assign  func(id any) // to forges.Writer
	block   func(id, by any)
	part    func(id, parent any)
	edit    func(id any, title string)
	status  func(id any)                     // changes by hand what Coppice shows as the status
	comment func(id any, login, text string) // nobody without write access, if the tracker has no such people
}

// issueSeen is what people see of an issue.
type issueSeen struct {
	done     bool // it is closed, and its work is done
	labels   []string
	comments []string
	title    string
	text     string
}

// issueConfig is the configuration of sources with common keys and further ones.
func issueConfig(common string, configs []string) string {
	text := "land: {how: queue}\ntracker:\n"
	for _, c := range configs {
		text += "- {" + common + c + ", every: 10s, write: {labels: {working: busy, done: shipped}}}\n"
	}
	return text
}

// trackerWorld is a world whose project has no forge and sources of issues.
func trackerWorld(t *testing.T, common, secret, token string, configs []string) *world {
	t.Helper()
	w := newWorld(t, files{
		"coppice.yaml":           policy + "trust: unsandboxed\n" + issueConfig(common, configs),
		".coppice/scripted.yaml": issueScript,
	})
	if r := w.try(w.repo, token+"\n", "secret", "set", secret); r.code != 0 {
		t.Fatal(r.err)
	}
	return w
}

// giteaSource is a repository on a real Gitea, which is the project's forge, too.
func giteaSource(t *testing.T) issueSource {
	var p *pullWorld
	labels := map[string]int64{}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return issueSource{
		address: forges.Gitea(t).URL,
		world: func(t *testing.T, address string, configs ...string) *world {
			p = pullWorldAt(t, address, issueScript, issueConfig("", configs))
			return p.world
		},
		create: func(title, text string, names ...string) any {
			var ids []int64
			for _, name := range names {
				if labels[name] == 0 {
					label, _, err := p.api[forges.Owner].CreateLabel(forges.Owner, p.repo.Name, sdk.CreateLabelOption{Name: name, Color: "#00aabb"})
					must(err)
					labels[name] = label.ID
				}
				ids = append(ids, labels[name])
			}
			i, _, err := p.api[forges.Owner].CreateIssue(forges.Owner, p.repo.Name, sdk.CreateIssueOption{Title: title, Body: text, Labels: ids})
			must(err)
			return i.Index
		},
		read: func(id any) issueSeen {
			i, _, err := p.api[forges.Owner].GetIssue(forges.Owner, p.repo.Name, id.(int64))
			must(err)
			list, _, err := p.api[forges.Owner].ListIssueComments(forges.Owner, p.repo.Name, id.(int64), sdk.ListIssueCommentOptions{})
			must(err)
			seen := issueSeen{done: i.State == sdk.StateClosed, title: i.Title, text: i.Body}
			for _, l := range i.Labels {
				seen.labels = append(seen.labels, l.Name)
			}
			for _, c := range list {
				seen.comments = append(seen.comments, c.Body)
			}
			return seen
		},
		assign: func(id any) {
			_, _, err := p.api[forges.Owner].EditIssue(forges.Owner, p.repo.Name, id.(int64), sdk.EditIssueOption{Assignees: []string{forges.Writer}})
			must(err)
		},
	}
}

// githubSource is a repository on the emulator.
func githubSource(t *testing.T) issueSource {
	const name = "app"
	server := forges.StartGitHub(t, forges.Owner, name, forges.Writer, forges.Stranger)
	front := server.Issues(t, forges.Owner, name)
	api := githubClient(t, server, server.API, forges.Owner)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return issueSource{
		address: strings.TrimSuffix(front.API, "/"),
		world: func(t *testing.T, address string, configs ...string) *world {
			return trackerWorld(t, fmt.Sprintf("kind: github, repo: %s/%s, url: %s, ", forges.Owner, name, address), "GITHUB_TOKEN", server.Token(forges.Writer), configs)
		},
		create: func(title, text string, labels ...string) any {
			labels = append([]string{}, labels...) // the emulator refuses null
			i, _, err := api.Issues.Create(t.Context(), forges.Owner, name, &gh.IssueRequest{Title: &title, Body: &text, Labels: &labels})
			must(err)
			return i.GetNumber()
		},
		read: func(id any) issueSeen {
			i, _, err := api.Issues.Get(t.Context(), forges.Owner, name, id.(int))
			must(err)
			list, _, err := api.Issues.ListComments(t.Context(), forges.Owner, name, id.(int), nil)
			must(err)
			seen := issueSeen{done: i.GetState() == "closed" && i.GetStateReason() == "completed", title: i.GetTitle(), text: i.GetBody()}
			for _, l := range i.Labels {
				seen.labels = append(seen.labels, l.GetName())
			}
			for _, c := range list {
				seen.comments = append(seen.comments, c.GetBody())
			}
			return seen
		},
		assign: func(id any) {
			_, _, err := api.Issues.AddAssignees(t.Context(), forges.Owner, name, id.(int), []string{forges.Writer})
			must(err)
		},
		block: func(id, by any) { front.Block(fmt.Sprint(id), fmt.Sprint(by)) },
		part:  func(id, parent any) { front.Part(fmt.Sprint(id), fmt.Sprint(parent)) },
		edit: func(id any, title string) {
			_, _, err := api.Issues.Edit(t.Context(), forges.Owner, name, id.(int), &gh.IssueRequest{Title: &title})
			must(err)
		},
		status: func(id any) {
			_, _, err := api.Issues.ReplaceLabelsForIssue(t.Context(), forges.Owner, name, id.(int), []string{"agent", "shipped", "busy"})
			must(err)
		},
		comment: func(id any, login, text string) {
			_, _, err := githubClient(t, server, server.API, login).Issues.CreateComment(t.Context(), forges.Owner, name, id.(int), &gh.IssueComment{Body: &text})
			must(err)
		},
	}
}

// gitlabSource is a project on the strict fake.
func gitlabSource(t *testing.T) issueSource {
	p := forges.NewGitLab(map[string]int{forges.GitLabUser: 40, forges.Owner: 50, forges.Writer: 30, forges.Stranger: 10})
	writer := forges.Writer
	return issueSource{
		address: strings.TrimSuffix(p.Serve(t), "/api/v4/"),
		world: func(t *testing.T, address string, configs ...string) *world {
			return trackerWorld(t, fmt.Sprintf("kind: gitlab, repo: %s, url: %s/api/v4/, ", p.Path, address), "GITLAB_TOKEN", forges.GitLabToken, configs)
		},
		create: func(title, text string, labels ...string) any {
			return p.CreateIssue(forges.Owner, title, text, labels...)
		},
		read: func(id any) issueSeen {
			i := p.Issue(id.(string))
			return issueSeen{i.Closed, i.Labels, i.Comments, i.Title, i.Text}
		},
		assign: func(id any) { p.EditIssue(id.(string), forges.GitLabEdit{Assignee: &writer}) },
		block:  func(id, by any) { p.BlockIssue(id.(string), by.(string)) },
		part:   func(id, parent any) { p.PartOfIssue(id.(string), parent.(string)) },
		edit:   func(id any, title string) { p.EditIssue(id.(string), forges.GitLabEdit{Title: &title}) },
		status: func(id any) {
			p.EditIssue(id.(string), forges.GitLabEdit{Labels: []string{"agent", "shipped", "busy"}})
		},
		comment: func(id any, login, text string) { p.CommentIssue(id.(string), login, text) },
	}
}

// linearSource is a team on the emulator.
func linearSource(t *testing.T) issueSource {
	server := forges.StartLinear(t, []string{"ENG"}, forges.Owner, forges.Writer)
	team := server.Team(t, "ENG")
	texts := func(of any, field string) (all []string) {
		for _, node := range of.(map[string]any)["nodes"].([]any) {
			all = append(all, node.(map[string]any)[field].(string))
		}
		return all
	}
	update := func(id any, input map[string]any) {
		team.As(forges.Owner, `mutation($id:String!,$input:IssueUpdateInput!){issueUpdate(id:$id,input:$input){success}}`, map[string]any{"id": id, "input": input})
	}
	return issueSource{
		address: strings.TrimSuffix(team.API, "/graphql"),
		world: func(t *testing.T, address string, configs ...string) *world {
			return trackerWorld(t, fmt.Sprintf("kind: linear, team: ENG, url: %s/graphql, ", address), "LINEAR_API_KEY", server.Token(forges.Writer), configs)
		},
		create: func(title, text string, labels ...string) any {
			return team.Create(forges.Owner, title, text, labels...)
		},
		read: func(id any) issueSeen {
			i := team.As(forges.Owner, `query($id:String!){issue(id:$id){title description state{type} labels(first:50){nodes{name}} comments(first:50){nodes{body}}}}`,
				map[string]any{"id": id}, "issue").(map[string]any)
			text, _ := i["description"].(string)
			return issueSeen{i["state"].(map[string]any)["type"] == "completed", texts(i["labels"], "name"), texts(i["comments"], "body"), i["title"].(string), text}
		},
		assign: func(id any) { update(id, map[string]any{"assigneeId": forges.Writer}) },
		block:  func(id, by any) { team.Block(id.(string), by.(string)) },
		part:   func(id, parent any) { team.Part(id.(string), parent.(string)) },
		edit:   func(id any, title string) { update(id, map[string]any{"title": title}) },
		status: func(id any) { update(id, map[string]any{"stateId": "Todo"}) },
		comment: func(id any, login, text string) {
			if login != forges.Stranger {
				team.As(login, `mutation($input:CommentCreateInput!){commentCreate(input:$input){success}}`, map[string]any{"input": map[string]any{"issueId": id, "body": text}})
			}
		},
	}
}
