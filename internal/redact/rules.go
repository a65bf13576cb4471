package redact

import "bytes"

// Sets of bytes that tokens are made of.
var (
	alnum     = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
	upper     = set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	hex       = set("0123456789abcdefABCDEF")
	word      = alnum.with("_")
	dashed    = alnum.with("_-")
	dotted    = alnum.with("_-.")
	base64    = alnum.with("+/=_-")
	credent   = alnum.with("+/=_-.~")
	notInURL  = set(" \t\r\n\"'<>`\\/?#@")
	spaceOnly = set(" \t")
	parameter = set("0123456789;:?")
)

type byteSet [256]bool

func set(s string) *byteSet {
	var b byteSet
	for i := range len(s) {
		b[s[i]] = true
	}
	return &b
}

func (b *byteSet) with(s string) *byteSet {
	c := *b
	for i := range len(s) {
		c[s[i]] = true
	}
	return &c
}

// run counts the leading bytes of s that are in the set.
func (b *byteSet) run(s []byte) int {
	for i, c := range s {
		if !b[c] {
			return i
		}
	}
	return len(s)
}

// rule recognizes tokens that begin with a fixed text. Between least and most
// bytes of its set must follow; what follows beyond that means it is something
// else, unless most is 0.
type rule struct {
	prefix string
	set    *byteSet
	least  int
	most   int
}

// rules has longer prefixes before shorter ones with the same start.
var rules = []rule{
	// Cloud providers.
	{"AKIA", upper, 16, 16},
	{"ASIA", upper, 16, 16},
	{"ABIA", upper, 16, 16},
	{"ACCA", upper, 16, 16},
	{"AIza", dashed, 35, 35},
	{"GOCSPX-", dashed, 28, 28},
	{"ya29.", dotted, 20, 0},
	{"dop_v1_", hex, 64, 64},
	{"doo_v1_", hex, 64, 64},
	{"dor_v1_", hex, 64, 64},
	{"dckr_pat_", dashed, 20, 0},
	{"hvs.", dashed, 24, 0},
	{"hvb.", dashed, 24, 0},
	{"tfp_", alnum, 40, 0},
	{"pul-", hex, 40, 40},
	{"sbp_", hex, 40, 40},
	{"dapi", hex, 32, 34},
	{"EAACEdEose0cBA", alnum, 10, 0},
	// Our own: a session's token.
	{"cop_", alnum, 26, 26},
	// Forges and package registries.
	{"github_pat_", word, 40, 0},
	{"ghp_", alnum, 36, 0},
	{"gho_", alnum, 36, 0},
	{"ghu_", alnum, 36, 0},
	{"ghs_", dotted, 36, 0},
	{"ghr_", alnum, 36, 0},
	{"glpat-", dotted, 20, 0},
	{"gldt-", dashed, 20, 0},
	{"glrt-", dotted, 20, 0},
	{"glcbt-", dashed, 20, 0},
	{"glptt-", dashed, 20, 0},
	{"ATBB", alnum, 32, 0},
	{"ATATT3", base64, 60, 0},
	{"lin_api_", alnum, 32, 0},
	{"lin_oauth_", alnum, 32, 0},
	{"npm_", alnum, 36, 36},
	{"pypi-AgE", dashed, 50, 0},
	{"rubygems_", hex, 48, 48},
	{"cio", alnum, 32, 32},
	// Model vendors.
	{"sk-ant-", dashed, 20, 0},
	{"sk-proj-", dashed, 20, 0},
	{"sk-or-", dashed, 20, 0},
	{"sk-svcacct-", dashed, 20, 0},
	{"sk-", dashed, 32, 0},
	{"gsk_", alnum, 40, 0},
	{"xai-", alnum, 40, 0},
	{"pplx-", alnum, 40, 0},
	{"hf_", alnum, 30, 0},
	{"r8_", alnum, 37, 37},
	// Chat, mail and payment.
	{"xoxb-", dashed, 20, 0},
	{"xoxp-", dashed, 20, 0},
	{"xoxa-", dashed, 20, 0},
	{"xoxr-", dashed, 20, 0},
	{"xoxs-", dashed, 20, 0},
	{"xapp-", dashed, 20, 0},
	{"SG.", dotted, 60, 0},
	{"key-", hex, 32, 32},
	{"sk_live_", alnum, 20, 0},
	{"sk_test_", alnum, 20, 0},
	{"rk_live_", alnum, 20, 0},
	{"whsec_", base64, 24, 0},
	{"shpat_", hex, 32, 32},
	{"SK", hex, 32, 32},
}

// match reports whether s begins with a token by this rule, and how many bytes
// that is.
func (r rule) match(s []byte, more bool) (int, verdict) {
	if v := begins(s, r.prefix, more); v != found {
		return 0, v
	}
	n := r.set.run(s[len(r.prefix):])
	switch size := len(r.prefix) + n; {
	case r.most > 0 && n > r.most:
		return 0, none
	case size == len(s) && more:
		return 0, open
	case n < r.least:
		return 0, none
	default:
		return size, found
	}
}

// begins reports whether s starts with a text, or could if more follows.
func begins(s []byte, text string, more bool) verdict {
	n := min(len(s), len(text))
	return whole(n == len(text), string(s[:n]) == text[:n], more)
}

// beginsFold is begins for a text in lower case and letters of either case.
func beginsFold(s []byte, text string, more bool) verdict {
	n := min(len(s), len(text))
	for i, c := range s[:n] {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != text[i] {
			return none
		}
	}
	return whole(n == len(text), true, more)
}

func whole(all, same, more bool) verdict {
	switch {
	case same && all:
		return found
	case same && more:
		return open
	}
	return none
}

// shape recognizes secrets that are not a fixed text and a run. It gets the text and
// a position in it.
type shape struct {
	first  string // the bytes it can begin with
	second string // and those that can follow
	find   func(text []byte, at int, more bool) hit
}

var shapes = []shape{
	{"e", "y", jwt},
	{"Bb", "EeAa", credential},
	{":", "/", urlPassword},
	{"aA", "Ww", assignedKey},
	{"-", "-", keyBegins},
}

// jwt finds three base64url parts joined by dots, the first an encoded object.
func jwt(text []byte, at int, more bool) hit {
	s := text[at:]
	if !boundary(text, at) {
		return hit{}
	}
	if v := begins(s, "eyJ", more); v != found {
		return hit{verdict: v}
	}
	n := 0
	for part := range 3 {
		run := dashed.run(s[n:])
		n += run
		switch {
		case n == len(s) && more:
			return hit{verdict: open}
		case part == 2:
			return hit{verdict: found, from: at, to: at + n} // an unsigned one still says who is who
		case run < 8 || n == len(s) || s[n] != '.':
			return hit{}
		}
		n++
	}
	return hit{}
}

// credential finds what follows "Bearer" and "Basic".
func credential(text []byte, at int, more bool) hit {
	if !boundary(text, at) {
		return hit{}
	}
	for _, scheme := range []string{"bearer", "basic"} {
		switch beginsFold(text[at:], scheme, more) {
		case open:
			return hit{verdict: open}
		case found:
			end := at + len(scheme)
			gap := spaceOnly.run(text[end:])
			from := end + gap
			n := credent.run(text[from:])
			switch {
			case from+n == len(text) && more:
				return hit{verdict: open}
			case gap > 0 && n >= 16 && mixed(text[from:from+n]):
				return hit{verdict: found, from: from, to: from + n}
			}
		}
	}
	return hit{}
}

// urlPassword finds the password in scheme://user:password@host.
func urlPassword(text []byte, at int, more bool) hit {
	if at == 0 || !alnum[text[at-1]] {
		return hit{}
	}
	if v := begins(text[at:], "://", more); v != found {
		return hit{verdict: v}
	}
	user := at + len("://")
	colon := -1
	for i := user; i < len(text); i++ {
		switch c := text[i]; {
		case c == ':' && colon < 0:
			colon = i
		case c == '@':
			if colon < 0 || i == colon+1 {
				return hit{}
			}
			return hit{verdict: found, from: colon + 1, to: i}
		case notInURL[c]:
			return hit{}
		}
	}
	if more {
		return hit{verdict: open}
	}
	return hit{}
}

// assignedKey finds the secret half of a cloud key pair. Only the name of its
// variable identifies it.
func assignedKey(text []byte, at int, more bool) hit {
	const name, size = "aws_secret_access_key", 40
	if v := beginsFold(text[at:], name, more); v != found {
		return hit{verdict: v}
	}
	end := at + len(name)
	from := end
	for from < len(text) && from < end+8 && bytes.IndexByte([]byte(" \t\"'=:\\>"), text[from]) >= 0 {
		from++
	}
	n := base64.run(text[from:])
	switch {
	case n <= size && from+n == len(text) && more:
		return hit{verdict: open}
	case from == end || n != size:
		return hit{}
	}
	return hit{verdict: found, from: from, to: from + n}
}

// boundary reports whether a token may begin at this place.
func boundary(text []byte, at int) bool {
	return at == 0 || !word[text[at-1]] || escaped(text, at) || behindSequence(text, at)
}

// lookBehind is how many bytes before a place say whether a token may begin there.
const lookBehind = 16

// escaped reports whether the byte before is the end of an escape such as \n or
// \u003c, as in JSON, and so no part of the word that follows.
func escaped(text []byte, at int) bool {
	return at >= 2 && text[at-2] == '\\' && bytes.IndexByte([]byte("nrt"), text[at-1]) >= 0 ||
		at >= 6 && text[at-6] == '\\' && text[at-5] == 'u' && hex.run(text[at-4:at]) == 4
}

// behindSequence reports whether the byte before is the end of a control sequence
// of a terminal, such as a colour.
func behindSequence(text []byte, at int) bool {
	return at > 0 && text[at-1] >= '@' && withinSequence(text, at-1)
}

// withinSequence reports whether a place is in a control sequence, before its last
// byte or at it.
func withinSequence(text []byte, at int) bool {
	for i := at - 1; i > 0 && i > at-lookBehind; i-- {
		if !parameter[text[i]] {
			return text[i] == '[' && text[i-1] == '\x1b'
		}
	}
	return false
}

// mixed reports whether the text has a digit or both cases: prose such as
// "bearer responsibilities" has neither.
func mixed(s []byte) bool {
	var lower, upper bool
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			return true
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= 'A' && c <= 'Z':
			upper = true
		}
	}
	return lower && upper
}
