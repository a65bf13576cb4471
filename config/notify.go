package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"coppice"
	"coppice/secret"
)

// The limits of notifications.
const (
	mostNotifiers    = 50
	mostRoutes       = 100
	mostReceivers    = 50 // of one notifier
	longestSend      = coppice.Duration(5 * time.Minute)
	longestPause     = coppice.Duration(24 * time.Hour)
	notifierExamples = "{phone: {kind: ntfy, to: [my-topic]}, team: {kind: slack, url: \"${secret:SLACK_URL}\"}}"
)

// notifyKeys describes the keys about notifications. In coppice.yaml, notify is a list
// of names; in config.yaml it is a mapping.
func notifyKeys() map[string]key {
	return map[string]key{
		"notify":   {doc: "Who gets notifications. In coppice.yaml, it names those notifiers of your configuration that get the notices of this project.", unset: "all of them, as far as a route sends the notice", example: "[phone, team]", list: receivers},
		"notify[]": {doc: "The name of a notifier of the user's configuration.", pattern: namePattern, valid: named("notifier")},

		"notify.address": {doc: "Where people reach the dashboard and the links of messages, such as a proxy in front of webhooks.listen.", unset: "the server's own address, for links that open on this machine", example: "https://coppice.example.org", valid: forgeAddress},
		"notify.pause":   {doc: "The least time between two messages of a notifier. In the meantime, notices are collected for the next message. Urgent ones do not wait. At most 1d.", unset: "1m", example: "5m", least: "1s"},

		"notify.notifiers":           {doc: "Receivers of messages, by name. See notifications.md for each kind.", unset: "no messages are sent", example: notifierExamples, pattern: namePattern, mapKey: named("notifier")},
		"notify.notifiers.*":         {doc: "One receiver."},
		"notify.notifiers.*.kind":    {doc: "The kind of receiver.", unset: "the name of the notifier", example: "ntfy", oneOf: notifyKinds()},
		"notify.notifiers.*.url":     {doc: "Its address. ${secret:NAME} stands for one of your secrets. The addresses of slack, discord, teams and shoutrrr are secrets themselves.", unset: "the public address of the service", example: "\"${secret:SLACK_URL}\"", valid: noZero, secrets: true},
		"notify.notifiers.*.token":   {doc: "The name of the secret with its token or password; of a webhook, the secret that signs it.", example: "NTFY_TOKEN", pattern: secret.NamePattern, valid: secret.ValidName, secret: true},
		"notify.notifiers.*.to":      {doc: "Channels, chats, topics or mail addresses.", example: "[my-topic]", list: receivers},
		"notify.notifiers.*.to[]":    {doc: "A channel, chat, topic or mail address.", valid: plain, secrets: true},
		"notify.notifiers.*.from":    {doc: "The sender of mail.", example: "Coppice <coppice@example.org>", valid: plain, secrets: true},
		"notify.notifiers.*.user":    {doc: "The name for a login with a password: of mail, and of ntfy.", example: "coppice@example.org", valid: plain, secrets: true},
		"notify.notifiers.*.run":     {doc: "A shell command. It gets the message as JSON on stdin.", example: "./scripts/page.sh", valid: command},
		"notify.notifiers.*.timeout": {doc: "After this time a message that could not be sent has failed. It is tried again later. At most 5m.", unset: "30s", example: "10s", least: "1s"},

		"notify.routes":              {doc: "Which notices go where. Each route that matches sends. A notice matches a route if it matches all fields that are set.", unset: "all notifiers get what is urgent and what waits for you", example: "[{to: [phone], priority: [urgent]}, {to: [team], projects: [app], hours: \"08:00-18:00\"}]"},
		"notify.routes[]":            {doc: "One route."},
		"notify.routes[].to":         {doc: "The names of notifiers.", example: "[phone]", required: true, list: receivers},
		"notify.routes[].to[]":       {doc: "The name of a notifier.", pattern: namePattern, valid: named("notifier")},
		"notify.routes[].priority":   {doc: "Priorities: " + strings.Join(priorities(), ", ") + ".", unset: "[urgent, action]", example: "[urgent, action, warning]"},
		"notify.routes[].priority[]": {doc: "A priority.", oneOf: priorities()},
		"notify.routes[].projects":   {doc: "The prefixes of projects.", unset: "all projects", example: "[app]"},
		"notify.routes[].projects[]": {doc: "The prefix of a project.", valid: coppice.ValidPrefix},
		"notify.routes[].kinds":      {doc: "Kinds of notice: " + strings.Join(noticeKinds(), ", ") + ".", unset: "all kinds", example: "[question, review, landed]"},
		"notify.routes[].kinds[]":    {doc: "A kind of notice.", oneOf: noticeKinds()},
		"notify.routes[].hours":      {doc: "The hours in which the route sends, in the time zone of the server. Notices of other hours wait, except urgent ones.", unset: "all day", example: "\"08:00-18:00\"", valid: hours},
	}
}

func notifyKinds() []string {
	var names []string
	for _, k := range coppice.NotifyKinds {
		names = append(names, k.Name)
	}
	return names
}

func noticeKinds() []string {
	var names []string
	for k := range maps.Keys(coppice.NoticePriorities) {
		names = append(names, string(k))
	}
	slices.Sort(names)
	return names
}

func hours(s string) error {
	_, err := coppice.ParseHours(s)
	return err
}

func receivers(l []string) error {
	switch {
	case len(l) == 0:
		return coppice.Errorf(coppice.EInvalid, "the list is empty").WithFix("write at least one name")
	case len(l) > mostReceivers:
		return coppice.Errorf(coppice.EInvalid, "the list has more than %d entries", mostReceivers).WithFix("use a channel or a list of the service")
	}
	return nil
}

// notify checks each notifier against its kind, and that routes name notifiers.
func (d *decoder) notify(p coppice.NotifyPolicy) error {
	if n := d.values["notify.pause"]; n != nil && p.Pause > longestPause {
		return d.fail(n, "notify.pause is longer than a day").WithFix("use at most 1d")
	}
	if err := d.eachAt("notify.notifiers", func(name string, e *ast.MappingValueNode) error {
		return d.notifier(name, p.Notifiers[name], e, len(p.Notifiers))
	}); err != nil {
		return err
	}
	nodes := d.elements["notify.routes"]
	if len(nodes) > mostRoutes {
		return d.fail(nodes[mostRoutes], "there are more than %d routes", mostRoutes).WithFix("name several notifiers, projects or kinds in one route")
	}
	names := slices.Sorted(maps.Keys(p.Notifiers))
	for i, r := range p.Routes {
		for k, to := range r.To {
			if _, known := p.Notifiers[to]; known {
				continue
			}
			at := nodes[i]
			if seq, ok := d.field(at, "to").(*ast.SequenceNode); ok {
				at = seq.Values[k]
			}
			return d.fail(at, "there is no notifier %s", coppice.Quote(to)).
				WithFix("name one of notify.notifiers: %s", cmp.Or(strings.Join(names, ", "), "there are none"))
		}
	}
	return nil
}

func (d *decoder) notifier(name string, n coppice.Notifier, e *ast.MappingValueNode, count int) error {
	if count > mostNotifiers {
		return d.fail(e.Key, "there are more than %d notifiers", mostNotifiers).WithFix("remove those that you do not need")
	}
	if n.Timeout > longestSend {
		return d.fail(d.field(e.Value, "timeout"), "the timeout is longer than 5 minutes").WithFix("use at most 5m")
	}
	err := n.Valid(name)
	if err == nil {
		return nil
	}
	at := d.field(e.Value, coppice.Public(err).Field)
	if at == e.Value {
		return d.refuse(e.Key, err)
	}
	return d.refuse(at, err)
}

// field returns the value of a key of a mapping, or the mapping itself.
func (d *decoder) field(n ast.Node, name string) ast.Node {
	entries, _ := entriesOf(n)
	for _, e := range entries {
		if e.Key.GetToken().Value == name {
			return e.Value
		}
	}
	return n
}
