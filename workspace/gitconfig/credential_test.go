package gitconfig

import (
	"slices"
	"testing"

	"coppice/workspace/git"
)

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://user:token@host/a.git":         "https://host/a.git",
		"https://token@host:8443/a.git":         "https://host:8443/a.git",
		"HTTPS://a:b@c@host/x":                  "HTTPS://host/x",
		"url.https://t@host/.insteadof":         "url.https://host/.insteadof",
		"http://u:p@one/ and http://u:p@two/":   "http://one/ and http://two/",
		"ssh://git:secret@host/a":               "ssh://git@host/a",
		"ssh://git@host/a":                      "ssh://git@host/a",
		"git@host:a/b.git":                      "git@host:a/b.git",
		"https://host/a@b":                      "https://host/a@b",
		"/srv/a@b":                              "/srv/a@b",
		"socks5://u:p@proxy:1080":               "socks5://proxy:1080",
		"https://host/?q=https://u:p@other/x":   "https://host/?q=https://other/x",
		"file:///srv/a@b":                       "file:///srv/a@b",
		"mail ann@example.org about https://x/": "mail ann@example.org about https://x/",
	} {
		if got := WithoutCredentials(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A setting that was confirmed counts with the credentials of today. An address that
// somebody changed, and a header, do not count.
func TestCounting(t *testing.T) {
	t.Parallel()
	setting := func(key, value string) git.Setting { return git.Setting{Scope: "local", Key: key, Value: value} }
	before := []git.Setting{setting("remote.origin.url", "https://old@host/a"), setting("http.extraheader", "Authorization: x"), setting("remote.b.url", "https://t@host/b"), setting("http.proxy", "http://u:p@proxy")}
	confirmed := ForFile(before)
	confirmed = append(confirmed, Public(before[1]))
	now := []git.Setting{
		setting("user.name", "Ann"), setting("remote.origin.url", "https://new@host/a"), setting("http.extraheader", "Authorization: y"),
		setting("remote.b.url", "https://t@evil/b"), setting("http.proxy", "http://u:p@proxy"), setting("remote.c.url", "https://evil/c"),
	}
	want := []git.Setting{now[0], now[1], setting("remote.b.url", "https://host/b"), now[4]}
	got := Counting(now, confirmed, true)
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := Counting(now, nil, false); !slices.Equal(got, now) {
		t.Errorf("nothing is confirmed: %+v", got)
	}
	access := []string{"url.https://new@host/.insteadof=https://host/", "http.proxy=http://u:p@proxy"}
	if got := Access(want); !slices.Equal(got, access) {
		t.Errorf("%q", got)
	}
}
