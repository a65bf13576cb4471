package engine

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"coppice"
	"coppice/verb"
)

// taskActions returns what a person can do about the entry of a task: what helps
// with this kind of entry, then the verbs that the task can get.
func taskActions(now time.Time, kind coppice.InboxKind, t coppice.Task, st TaskStatus) []coppice.InboxAction {
	var list []coppice.InboxAction
	post := func(label, route, command string) *coppice.InboxAction {
		list = append(list, coppice.InboxAction{Label: label, Method: "POST", Route: "/tasks/" + t.Key + route, Command: fmt.Sprintf(command, t.Key)})
		return &list[len(list)-1]
	}
	needText := func(a *coppice.InboxAction, field, prompt string) { a.Text, a.Needs, a.Prompt = field, true, prompt }
	switch kind {
	case coppice.InboxQuestion, coppice.InboxPermission:
		command := `coppice answer %s "…"`
		if kind == coppice.InboxPermission {
			command = "coppice answer %s allow"
		}
		a := post("Answer", "/answer", command)
		needText(a, "text", "Your answer")
		a.Form = coppice.InboxAnswer
		a.Body = coppice.Raw(map[string]int64{"question": st.Question.ID})
	case coppice.InboxBudget:
		if t.Failure.Class == coppice.ClassLimit {
			a := post("Work until it is done", "", "coppice set %s --until-done")
			a.Method, a.Body = "PATCH", coppice.Raw(map[string]bool{"until_done": true})
			break
		}
		a := post("Raise the budget", "", "coppice set %s --budget N")
		a.Method = "PATCH"
		needText(a, "budget", "The most to spend on it, in dollars")
	}
	for _, v := range verb.Can(verb.Facts{Now: now, Task: t, Session: st.Session, Landing: st.Landing, Asks: st.Asks, Branch: t.Sessions > 0}) {
		if info := verb.Of(v); info != nil && info.Route.ID != "" { // the others are not requests to a task
			list = append(list, verbAction(t.Key, info))
		}
	}
	switch {
	case kind == coppice.InboxFailed:
		post("Archive", "/archive", "coppice archive %s")
	case kind != coppice.InboxQuestion && kind != coppice.InboxPermission && t.Stage == coppice.StageSession:
		needText(post("Send a message", "/send", `coppice send %s "…"`), "text", "A message to the agent")
	}
	return list
}

// formOf returns the form that an action needs.
func formOf(a coppice.InboxAction) coppice.InboxForm {
	switch {
	case a.Form != "":
		return a.Form
	case a.Text != "":
		return coppice.InboxText
	case a.Danger:
		return coppice.InboxConfirm
	}
	return ""
}

// verbAction returns a request with a verb, as the table of verbs describes it.
func verbAction(key string, info *verb.Info) coppice.InboxAction {
	command := fmt.Sprintf("coppice %s %s", cmp.Or(info.Command.Name, string(info.Verb)), key)
	if strings.Contains(info.Command.Use, "[TEXT]") {
		command += ` "…"`
	}
	a := coppice.InboxAction{
		Verb: info.Verb, Label: info.Button.Name, Method: "POST", Route: fmt.Sprintf("/tasks/%s/%s", key, info.Verb),
		Prompt: info.Button.Prompt, Danger: info.Button.Danger, Command: command,
	}
	if a.Prompt != "" {
		a.Text = info.Text
	}
	return a
}

// needActions returns what a person can do about a need of a project. A person
// ends a need about files in the checkout.
func needActions(prefix string, n coppice.Need) []coppice.InboxAction {
	switch n.Kind {
	case coppice.NeedCheckout:
		return nil
	case coppice.NeedTrust:
		return []coppice.InboxAction{trustAction(prefix, "Keep it from agents", coppice.TrustSandboxed), trustAction(prefix, "Allow it", coppice.TrustUnsandboxed)}
	}
	list := []coppice.InboxAction{{
		Label: "Confirm", Method: "POST", Route: "/projects/" + prefix + "/confirm",
		Body:    coppice.Raw(map[string]string{"kind": string(n.Kind), "diff": n.Diff}),
		Command: fmt.Sprintf("coppice project confirm %s --%s", prefix, n.Kind),
	}}
	if n.Kind == coppice.NeedBase {
		list[0].Label = "Keep it"
		list = append(list, coppice.InboxAction{
			Label: "Move it back", Method: "POST", Route: "/projects/" + prefix + "/restore-base", Danger: true,
			Command: "coppice project restore-base " + prefix,
		})
	}
	return list
}

// trustAction decides whether reactions can pass text from outside to agents.
func trustAction(prefix, label, level string) coppice.InboxAction {
	return coppice.InboxAction{
		Label: label, Method: "PATCH", Route: "/projects/" + prefix + "/config", Danger: level == coppice.TrustUnsandboxed,
		Body: coppice.Raw(map[string]string{"key": "trust", "value": level}), Command: "coppice config set trust " + level,
	}
}

// dayActions raises the budget of a project's day.
func dayActions(p coppice.Project) []coppice.InboxAction {
	return []coppice.InboxAction{{
		Label: "Raise the budget", Method: "PATCH", Route: "/projects/" + p.Prefix + "/config",
		Body: coppice.Raw(map[string]string{"key": "budget.day"}), Text: "value", Needs: true, Prompt: "The most to spend in a day, in dollars",
		Command: "coppice config set budget.day N",
	}}
}

// limitActions clears the limit of an account.
func limitActions(l coppice.AgentLimit) []coppice.InboxAction {
	return []coppice.InboxAction{{
		Label: "Clear the limit", Method: "POST", Route: "/agents/" + url.PathEscape(l.Agent) + "/clear", Command: "coppice limits clear " + l.Agent,
	}}
}
