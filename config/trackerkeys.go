package config

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"coppice"
	"coppice/secret"
)

const (
	mostTrackers = 10
	teamPattern  = `^[A-Za-z][A-Za-z0-9]{0,15}$`
)

// trackerKeys describes the keys about trackers.
func trackerKeys() map[string]key {
	return map[string]key{
		"tracker":                   {doc: "The sources of issues that become tasks: one, or a list of them. See trackers.md.", unset: "no issue becomes a task", example: "{import: {labels: [agent]}}", single: true},
		"tracker[]":                 {doc: "One source."},
		"tracker[].name":            {doc: "The name of the source, as commands and pages show it.", unset: "its kind; forge for the project's forge", example: "bugs", pattern: namePattern, valid: named("tracker")},
		"tracker[].kind":            {doc: "The kind of tracker. gitea is also for Forgejo.", unset: "auto: the project's forge", example: "linear", oneOf: trackerKinds()},
		"tracker[].url":             {doc: "The address of the tracker's API, for a tracker with its own address.", unset: "that of the project's forge, or of the service", example: "https://forge.example.org/api/v1", valid: forgeAddress},
		"tracker[].repo":            {doc: "The repository whose issues are read.", unset: "the project's", example: "team/app", pattern: repoPattern, valid: forgeRepo},
		"tracker[].team":            {doc: "The key of the team whose issues are read, for linear.", example: "ENG", pattern: teamPattern, valid: team},
		"tracker[].token":           {doc: "The name of the secret with the token for the tracker.", unset: "that of the project's forge, or GITHUB_TOKEN, GITLAB_TOKEN, GITEA_TOKEN or LINEAR_API_KEY", example: "TRACKER_TOKEN", pattern: secret.NamePattern, valid: secret.ValidName, secret: true},
		"tracker[].every":           {doc: "The time between two reads of the tracker. At most 1d.", unset: "1m", example: "5m", least: coppice.MinTrackerInterval.D().String()},
		"tracker[].active":          {doc: "The most tasks of this source that are active at the same time. Further issues wait.", unset: fmt.Sprint(coppice.DefaultActiveIssues), example: "10", min: 1, max: coppice.MaxOpenIssues},
		"tracker[].template":        {doc: "The template of its tasks. The title and the description are those of the issue.", unset: "the defaults of the project", example: "bug", pattern: namePattern, valid: named("template")},
		"tracker[].authors":         {doc: "Logins whose comments and edits count.", unset: "everybody with write access", example: "[ada, grace]"},
		"tracker[].authors[]":       {doc: "A login, or the name that the tracker shows.", valid: plain},
		"tracker[].import":          {doc: "Which open issues become tasks automatically. An issue has to match all fields that are set.", unset: "only people import issues"},
		"tracker[].import.labels":   {doc: "Labels, all of which it has.", example: "[agent]"},
		"tracker[].import.labels[]": {doc: "A label.", valid: plain},
		"tracker[].import.assignee": {doc: "The login to which it is assigned.", example: "coppice-bot", valid: plain},
		"tracker[].import.query":    {doc: "Words that the search of the tracker finds in it. Without labels and an assignee, only issues by people whose edits count become tasks.", example: "crash", valid: plain},
		"tracker[].write":           {doc: "What Coppice writes to issues."},
		"tracker[].write.comment":   {doc: "One comment with the status of the task, which Coppice edits.", unset: "true", example: "false"},
		"tracker[].write.close":     {doc: "Close the issue when its task is done.", unset: "true", example: "false"},
		"tracker[].write.text":      {doc: "Write the title and the description if they change in Coppice.", unset: "true", example: "false"},
		"tracker[].write.labels":    {doc: "The label of an issue by the status of its task. Coppice removes the label of the status before.", unset: "no labels are written", example: "{working: in progress}", names: issueStatuses()},
		"tracker[].write.labels.*":  {doc: "The label for this status.", valid: plain},
	}
}

func trackerKinds() []string {
	kinds := []string{"auto"}
	for _, k := range coppice.TrackerKinds {
		kinds = append(kinds, k.Name)
	}
	return kinds
}

func issueStatuses() []string {
	var list []string
	for _, s := range coppice.IssueStatuses {
		list = append(list, string(s))
	}
	return list
}

func team(s string) error {
	if !teamRE().MatchString(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid key of a team", coppice.Quote(s)).WithFix("write the letters before the numbers of its issues, such as ENG")
	}
	return nil
}

// trackers checks each source, and that no two have the same name.
func (d *decoder) trackers(all coppice.Trackers) error {
	nodes := d.elements["tracker"]
	if len(all) > mostTrackers {
		return d.fail(nodes[mostTrackers], "there are more than %d trackers", mostTrackers).WithFix("remove some of them")
	}
	for i, t := range all {
		at := func(name string) ast.Node { return d.field(nodes[i], name) }
		switch linear := t.Kind == "linear"; {
		case linear && t.Team == "":
			return d.fail(nodes[i], "a tracker of kind linear needs the key of a team").WithFix("add it, as in team: ENG")
		case linear && t.Repo != "":
			return d.fail(at("repo"), "repo is not for linear").WithFix("remove it; team says which issues are read")
		case !linear && t.Team != "":
			return d.fail(at("team"), "team is only for linear").WithFix("remove it, or set kind: linear")
		case t.Every > longestReread:
			return d.fail(at("every"), "every is too long").WithFix("use at most 1d")
		}
		if j := slices.IndexFunc(all[:i], func(o coppice.TrackerPolicy) bool { return o.SourceName() == t.SourceName() }); j >= 0 {
			return d.fail(nodes[i], "two trackers have the name %s", t.SourceName()).WithFix("give each its own name, as in name: bugs")
		}
		for _, s := range coppice.IssueStatuses {
			label := t.Write.Labels[s]
			if slices.Contains(t.Import.Labels, label) && label != "" {
				return d.fail(at("write"), "the label %s chooses issues for import, so it cannot show a status", coppice.Quote(label)).WithFix("use another label in write.labels")
			}
		}
	}
	return nil
}

// loadTrackers reads the templates of the trackers that a file has.
func loadTrackers(dir string, d *decoder, p *coppice.Policy) error {
	for i := range p.Trackers {
		t := &p.Trackers[i]
		if t.Template == "" {
			continue
		}
		of, err := ReadTemplate(dir, t.Template)
		if err == nil {
			err = of.Problem
		}
		n := coppice.NewTask{Template: t.Template}
		if err == nil {
			n, err = of.Expand(n)
		}
		if e := coppice.Public(err); err != nil {
			at := d.field(d.elements["tracker"][i], "template")
			return d.fail(at, "the tracker %s cannot use its template: %s", t.SourceName(), e.Cause).WithFix("%s", e.Fix)
		}
		n.Title, n.Body = "", ""
		t.Task = &n
	}
	return nil
}
