package post

import (
	"net/url"
	"strings"
	"time"

	"coppice/notify"
)

// The limits of an embed of Discord.
var (
	discordTitle = notify.Limit{Most: 256, Unit: notify.UTF16}
	discordText  = notify.Limit{Most: 4096, Unit: notify.UTF16}
)

// discordEscape escapes what starts a mention, a link or other markup. Discord shows the
// character after a backslash as it is.
var discordEscape = notify.Escaper(`\`, "\\`*_~|<>[]()#@-+")

var discordColors = priorities[int]{urgent: 0xdc2626, action: 0x2563eb, warning: 0xd97706, info: 0x64748b}

// discord sends an embed. A mention in an embed notifies nobody, and allowed_mentions
// switches all others off.
func discord(_ Config, t notify.Target, m notify.Message, _ string) (notify.Request, error) {
	var links []string
	for _, l := range m.Links() {
		links = append(links, "["+l.Name+"](<"+strings.NewReplacer("<", "%3C", ">", "%3E", ")", "%29", " ", "%20").Replace(l.URL)+">)")
	}
	end := strings.Join(links, " · ")
	if end != "" && m.Text != "" {
		end = "\n\n" + end
	}
	limit := notify.Limit{Most: max(discordText.Most-len([]rune(end)), 0), Unit: discordText.Unit}
	embed := object{
		"title": discordTitle.Fit(m.Title, discordEscape), "description": limit.Fit(m.Text, discordEscape) + end,
		"color": discordColors.of(m), "timestamp": m.At.UTC().Format(time.RFC3339), "footer": object{"text": "Coppice · " + m.ID},
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		return notify.Request{}, errAddress
	}
	query := u.Query()
	query.Set("wait", "true") // Discord answers when it has the message
	u.RawQuery = query.Encode()
	return asJSON(u.String(), object{"embeds": []object{embed}, "allowed_mentions": object{"parse": []string{}}}), nil
}
