package post

import (
	"cmp"
	"html"
	"net/http"
	"slices"
	"strings"
	"time"

	"coppice"
	"coppice/notify"
)

// The limits of Slack.
var (
	slackHeader  = notify.Limit{Most: 150, Unit: notify.UTF16}
	slackSection = notify.Limit{Most: 3000, Unit: notify.UTF16}
)

// slackEscape escapes the characters with which links and mentions of Slack start.
func slackEscape(r rune) string {
	if strings.ContainsRune("&<>", r) {
		return html.EscapeString(string(r))
	}
	return string(r)
}

// slack sends blocks of the type plain_text, in which Slack knows no markup. The text
// besides them is for the notification that Slack shows.
func slack(c Config, t notify.Target, m notify.Message, to string) (notify.Request, error) {
	plain := func(text string) object { return object{"type": "plain_text", "text": text, "emoji": false} }
	blocks := []object{{"type": "header", "block_id": m.ID, "text": plain(slackHeader.Fit(m.Title, nil))}}
	if m.Text != "" {
		blocks = append(blocks, object{"type": "section", "text": plain(slackSection.Fit(m.Text, nil))})
	}
	var links []string
	for _, l := range m.Links() {
		links = append(links, "<"+html.EscapeString(strings.NewReplacer("|", "%7C", "<", "%3C", ">", "%3E", `"`, "%22", "'", "%27").Replace(l.URL))+"|"+l.Name+">")
	}
	if len(links) > 0 {
		blocks = append(blocks, object{"type": "section", "text": object{"type": "mrkdwn", "text": strings.Join(links, " · "), "verbatim": true}})
	}
	body := object{"text": slackSection.Fit(strings.TrimSpace(m.Title+"\n"+m.Text), slackEscape), "blocks": blocks, "unfurl_links": false, "unfurl_media": false}
	if to == "" {
		return asJSON(t.URL, body), nil
	}
	body["channel"], body["link_names"], body["parse"] = to, false, "none"
	r := asJSON(cmp.Or(c.Slack, "https://slack.com")+"/api/chat.postMessage", body)
	r.Header = http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Authorization": {"Bearer " + t.Token}}
	return r, nil
}

// slackAuth and slackPasses are the errors of Slack that a token causes, and those that
// might pass.
var (
	slackAuth = []string{
		"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "missing_scope", "no_permission",
		"not_allowed_token_type", "ekm_access_denied", "org_login_required", "team_access_not_granted", "access_denied", "action_prohibited",
	}
	slackPasses = []string{"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org", "rollup_error"}
)

// slackFailure reads the failures that Slack reports with the status 200.
func slackFailure(time.Time) func(int, []byte) *coppice.Failure {
	return func(status int, body []byte) *coppice.Failure {
		answer := decode[struct {
			OK    *bool
			Error string
		}](body)
		if status != http.StatusOK || answer.OK == nil || *answer.OK {
			return nil
		}
		text := "Slack refuses the message: " + answer.Error
		switch {
		case slices.Contains(slackAuth, answer.Error):
			return coppice.Failf(coppice.ClassAuth, text, "give the app the scope chat:write, install it again, and store its token with `coppice secret set`")
		case answer.Error == "ratelimited" || answer.Error == "rate_limited":
			return coppice.Failf(coppice.ClassRateLimit, text, "")
		case slices.Contains(slackPasses, answer.Error):
			return coppice.Failf(coppice.ClassEnvironment, text, "see https://status.slack.com")
		}
		return coppice.Failf(coppice.ClassCapability, text, "check the channels in to, and invite the app to them: /invite @APP")
	}
}
