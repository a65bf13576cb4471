package config

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
	"coppice/reaction"
	"coppice/secret"
)

const (
	repoPattern  = `^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$`
	loginPattern = `^[A-Za-z0-9_][A-Za-z0-9_.-]*(\[bot\])?$`
)

// forgeKeys describes the keys about forges, pull requests and reactions.
func forgeKeys() map[string]key {
	return map[string]key{
		"land.pr":             {doc: "How pull requests are opened and merged, if land.how is pr."},
		"land.pr.draft":       {doc: "Open the pull request as a draft before the work is proven, and mark it as ready afterwards. With false, it is opened when the work is proven.", unset: "true", example: "false"},
		"land.pr.labels":      {doc: "Labels of each pull request. Labels that others add stay.", example: "[agent]"},
		"land.pr.labels[]":    {doc: "A label.", valid: plain},
		"land.pr.reviewers":   {doc: "Logins that are asked for a review when the pull request is ready.", example: "[ada]"},
		"land.pr.reviewers[]": {doc: "A login.", pattern: loginPattern, valid: login},
		"land.pr.merge":       {doc: "How the forge merges: one squashed commit, a merge commit, or the branch's own commits rebased.", unset: coppice.PullMerges[0], example: "merge", oneOf: coppice.PullMerges},
		"land.pr.auto":        {doc: "A merge is left to the forge: its auto-merge, or its merge queue. It merges when its own rules allow it.", example: "true"},
		"land.pr.keep_branch": {doc: "Keep the branch on the forge after the merge.", example: "true"},
		"land.pr.stack":       {doc: "A task that depends on another one starts from the branch of that task's pull request, and its own pull request aims at this branch.", example: "true"},
		"land.pr.push_failed": {doc: "Push the branch of a task that failed, so that its work is kept on the forge.", example: "true"},

		"forge":           {doc: "Where pull requests are."},
		"forge.kind":      {doc: "The kind of forge. gitea is also for Forgejo.", unset: "auto: by the address of the remote", example: "gitea", oneOf: forgeKinds()},
		"forge.url":       {doc: "The address of the forge's API, for a forge with its own address.", unset: "by the address of the remote", example: "https://forge.example.org/api/v1", valid: forgeAddress},
		"forge.repo":      {doc: "The repository on the forge, with all groups of GitLab.", unset: "by the address of the remote", example: "team/app", pattern: repoPattern, valid: forgeRepo},
		"forge.token":     {doc: "The name of the secret with the token for the forge.", unset: "GITHUB_TOKEN, GITLAB_TOKEN or GITEA_TOKEN", example: "FORGE_TOKEN", pattern: secret.NamePattern, valid: secret.ValidName, secret: true},
		"forge.webhook":   {doc: "The name of the secret that signs webhooks of the forge.", unset: "webhooks are refused, and the forge is read at intervals", example: "FORGE_WEBHOOK", pattern: secret.NamePattern, valid: secret.ValidName, secret: true},
		"forge.every":     {doc: "The time between two reads of the forge. At most 1d.", unset: "30s", example: "1m", least: coppice.MinForgeInterval.D().String()},
		"forge.authors":   {doc: "Logins whose comments and reviews count. Comments of all others have no reaction.", unset: "everybody with write access to the repository", example: "[ada, grace]"},
		"forge.authors[]": {doc: "A login.", pattern: loginPattern, valid: login},

		"trust": {doc: "Where reactions can pass text from outside, such as comments and logs of CI, to agents: only to sessions in a sandbox, or to all sessions. Sessions have no sandbox yet, so sandboxed means nowhere.", unset: coppice.TrustLevels[0], example: coppice.TrustUnsandboxed, oneOf: coppice.TrustLevels},

		"reactions":                    {doc: "What follows events of pull requests and agents, by event: one rule, or a list of rules. The first rule whose condition holds applies. An event that is missing has the default rules.", unset: "the default rules; see reactions.md", example: "{ci-failed: {do: send-to-agent, retries: 3}, approved-and-green: {do: merge}}", names: reaction.Names()},
		"reactions.*":                  {doc: "The rules of this event.", example: "{do: notify}", single: true},
		"reactions.*[]":                {doc: "One rule."},
		"reactions.*[].if":             {doc: "A condition on the fields of the event.", unset: "the rule always applies", example: `'label == "needs-tests" && author in team'`, valid: noZero},
		"reactions.*[].do":             {doc: "What happens: send-to-agent, the agent continues its conversation with the message; task, a new task has the message as its description; notify, a person gets the message; merge, the pull request is merged; run, a command runs as a hook does; nothing.", example: "notify", oneOf: coppice.ReactionActions, required: true},
		"reactions.*[].message":        {doc: "The message, with values of the event in double braces, such as {{errors}}.", unset: "the event's own", example: "'CI failed: {{errors}}'", valid: noZero},
		"reactions.*[].run":            {doc: "The shell command, with do: run.", example: "./scripts/deploy.sh", valid: command},
		"reactions.*[].retries":        {doc: "How often the rule acts for one pull request. After that a person decides.", unset: "2; 10 for changes-requested and comment", example: "3", min: 1, max: 20},
		"reactions.*[].escalate_after": {doc: "A person decides if the event lasts longer than this. At most 30d.", unset: "never", example: "30m", least: "1m"},
		"reactions.*[].threshold":      {doc: "The event counts when it has lasted this long. At most 30d.", unset: "10m for agent-idle and agent-stuck, otherwise immediately", example: "10m", least: "1s"},
		"reactions.*[].priority":       {doc: "How urgent the message to people is.", unset: "the event's own", example: "urgent", oneOf: priorities()},

		"webhooks":        {doc: "Where the server receives webhooks of forges, and serves the links of messages that answer a question. The listener serves nothing else.", example: "{listen: \"127.0.0.1:4041\"}"},
		"webhooks.listen": {doc: "An IP address and a port. The forge, or a proxy in front of it, must reach it.", unset: "no webhooks are received", example: "127.0.0.1:4041", valid: listenAddress},
	}
}

func forgeKinds() []string {
	kinds := []string{"auto"}
	for _, k := range coppice.ForgeKinds {
		kinds = append(kinds, k.Name)
	}
	return kinds
}

func priorities() []string {
	var list []string
	for _, p := range coppice.Priorities {
		list = append(list, string(p))
	}
	return list
}

var (
	repoRE  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(repoPattern) })
	teamRE  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(teamPattern) })
	loginRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(loginPattern) })
)

func login(s string) error {
	if len(s) > 100 || !loginRE().MatchString(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid login", coppice.Quote(s)).WithFix("write the name of an account of the forge, without @")
	}
	return nil
}

func forgeRepo(s string) error {
	dots := func(part string) bool { return strings.Trim(part, ".") == "" }
	if len(s) > 300 || !repoRE().MatchString(s) || slices.ContainsFunc(strings.Split(s, "/"), dots) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid repository", coppice.Quote(s)).WithFix("write its owner and its name, such as team/app")
	}
	return nil
}

// forgeAddress accepts an HTTP address without a password: tokens are secrets.
func forgeAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid address", coppice.Quote(s)).WithFix("write it as https://host/path")
	}
	if u.User != nil {
		return coppice.Errorf(coppice.EInvalid, "the address contains a user or a password").WithFix("remove it, and store the token with `coppice secret set`")
	}
	return nil
}

func listenAddress(s string) error {
	if _, err := netip.ParseAddrPort(s); err != nil {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid address to listen on", coppice.Quote(s)).WithFix("write an IP address and a port, such as 127.0.0.1:4041")
	}
	return nil
}
