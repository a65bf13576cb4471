package gitconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"coppice/workspace/git"
)

// Credentials are in the user's configuration only: files of Coppice have settings
// without them. Git gets them, as they are at that moment, in the environment of the
// calls that connect to a remote.

// userInfo finds the part of an address before the host.
var userInfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*)://([^/\s"'?#]*)@`)

// WithoutCredentials removes user names, passwords and tokens from the addresses in a
// text. An address of SSH keeps its user name.
func WithoutCredentials(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	return userInfo.ReplaceAllStringFunc(text, func(found string) string {
		part := userInfo.FindStringSubmatch(found)
		scheme, user := part[1], ""
		if strings.Contains(strings.ToLower(scheme), "ssh") {
			user, _, _ = strings.Cut(part[2], ":")
			user += "@"
		}
		return scheme + "://" + user
	})
}

// Public returns a setting without credentials. In place of a header of requests it has a
// digest, so that a change is noticed.
func Public(s git.Setting) git.Setting {
	s.Key, s.Value = WithoutCredentials(s.Key), WithoutCredentials(s.Value)
	if isHeader(s) && s.Value != "" && !strings.HasPrefix(s.Value, digestPrefix) {
		sum := sha256.Sum256([]byte(s.Value))
		s.Value = digestPrefix + hex.EncodeToString(sum[:8])
	}
	return s
}

const digestPrefix = "not shown: "

// isHeader reports whether a setting is a header of requests.
func isHeader(s git.Setting) bool { return strings.HasSuffix(s.Key, ".extraheader") }

// HasCredentials reports whether a setting has credentials.
func HasCredentials(s git.Setting) bool { return Public(s) != s }

// ForFile returns settings for a file of Coppice: without credentials.
func ForFile(settings []git.Setting) []git.Setting {
	var list []git.Setting
	for _, s := range settings {
		if p := Public(s); !isHeader(p) || p.Value == "" {
			list = append(list, p)
		}
	}
	return list
}

// Counting returns the settings that count: those that need no confirmation, and the
// confirmed ones with the credentials that the user's configuration has now. If known is
// false, all count.
func Counting(settings, confirmed []git.Setting, known bool) []git.Setting {
	if !known {
		return settings
	}
	list := slices.DeleteFunc(slices.Clone(settings), func(s git.Setting) bool { return MustConfirm(s.Key) })
	for _, c := range confirmed {
		switch at := slices.IndexFunc(settings, func(s git.Setting) bool { return Public(s) == c }); {
		case at >= 0:
			list = append(list, settings[at])
		case !HasCredentials(c) && !strings.HasPrefix(c.Value, digestPrefix):
			list = append(list, c)
		}
	}
	return list
}

// Access returns overrides, as git.Call has them, with which git uses the credentials of
// settings: for the addresses of the remotes' and submodules' servers, and all other
// settings with credentials.
func Access(settings []git.Setting) []string {
	var list []string
	for _, s := range settings {
		section, _, _ := strings.Cut(s.Key, ".")
		switch {
		case !HasCredentials(s):
		case section != "remote" && section != "submodule":
			list = append(list, git.Pair(s.Key, s.Value))
		default:
			if base := serverOf(s.Value); base != "" {
				list = append(list, git.Pair("url."+base+".insteadof", WithoutCredentials(base)))
			}
		}
	}
	return list
}

// serverOf returns the beginning of an address of HTTP, up to the slash after its host.
func serverOf(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	if !ok || !strings.HasPrefix(strings.ToLower(scheme), "http") {
		return ""
	}
	return scheme + "://" + host + "/"
}
