package post

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"coppice"
	"coppice/notify"
)

// bare finds, in what a service gets of a text, a character that starts a mention, a link
// or other markup there.
var bare = map[string]*regexp.Regexp{
	"slack":    regexp.MustCompile(`[<>]`),
	"discord":  regexp.MustCompile("(^|[^\\\\])(\\\\\\\\)*[`*_~|<>\\[\\]()#@]"),
	"telegram": regexp.MustCompile("@([^\u2060]|$)"),
}

// No text of an agent mentions anybody or hides a link, whatever it is, and no service gets
// a text that is not UTF-8.
func FuzzServices(f *testing.F) {
	for _, s := range []string{hostile.Title, hostile.Text, "", "\\@everyone", "\\\\[a](b)", "<!here>", "@", "a@b\xff", strings.Repeat("\\", 5000), strings.Repeat("@x ", 3000), "😀<@1>"} {
		f.Add(s, s)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, title, text string) {
		m := notify.Message{ID: "n-1", Title: title, Text: text, At: at, Count: 1}.Clean()
		c := Config{Client: notify.NewClient(nil, func() time.Time { return at })}
		for kind, s := range services {
			target := notify.Target{Notifier: coppice.Notifier{Kind: kind, URL: "https://x.test/"}, Token: "a-token-for-tests"}
			r, err := s.request(c, target, m, "")
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if !utf8.Valid(r.Body) || !json.Valid(r.Body) || len(r.Body) > 150<<10 {
				t.Fatalf("%s: %d bytes: %.200q", kind, len(r.Body), r.Body)
			}
			for _, got := range texts(kind, r.Body) {
				if i := bare[kind].FindStringIndex(got); i != nil {
					t.Fatalf("%s: %q of %q", kind, got[i[0]:], got)
				}
			}
		}
	})
}

// texts returns the parts of a body in which a service knows markup.
func texts(kind string, body []byte) []string {
	var b struct {
		Text   string
		Embeds []struct{ Title, Description string }
	}
	if bare[kind] == nil || json.Unmarshal(body, &b) != nil {
		return nil
	}
	if kind == "discord" {
		return []string{b.Embeds[0].Title, b.Embeds[0].Description}
	}
	return []string{b.Text}
}
