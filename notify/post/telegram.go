package post

import (
	"cmp"
	"strings"
	"time"

	"coppice"
	"coppice/notify"
)

// telegramText is the longest message of Telegram.
var telegramText = notify.Limit{Most: 4096, Unit: notify.UTF16}

// telegramEscape puts an invisible character after what starts a mention: Telegram finds
// mentions in text without markup, too.
func telegramEscape(r rune) string {
	if r == '@' {
		return string(r) + "\u2060"
	}
	return string(r)
}

// telegram sends text without markup.
func telegram(_ Config, t notify.Target, m notify.Message, to string) (notify.Request, error) {
	title := notify.Limit{Most: 500, Unit: notify.UTF16}.Fit(m.Title, telegramEscape) + "\n\n"
	rest := notify.Limit{Most: telegramText.Most - 600, Unit: notify.UTF16} // the title has at most 502
	return asJSON(strings.TrimRight(cmp.Or(t.URL, "https://api.telegram.org"), "/")+"/bot"+t.Token+"/sendMessage", object{
		"chat_id": to, "text": strings.TrimSpace(title + m.Marked(rest, telegramEscape)),
		"link_preview_options": object{"is_disabled": true}, "disable_notification": m.Priority == coppice.PriorityInfo,
	}), nil
}

// telegramFailure reads how long Telegram asks to wait, which is in the body.
func telegramFailure(now time.Time) func(int, []byte) *coppice.Failure {
	return func(_ int, body []byte) *coppice.Failure {
		answer := decode[struct {
			Description string
			Parameters  struct {
				RetryAfter float64 `json:"retry_after"`
			}
		}](body)
		if answer.Parameters.RetryAfter <= 0 {
			return nil
		}
		f := coppice.Failf(coppice.ClassRateLimit, "Telegram limits the number of messages: "+answer.Description, "")
		f.RetryAt = notify.After(now, answer.Parameters.RetryAfter)
		return f
	}
}
