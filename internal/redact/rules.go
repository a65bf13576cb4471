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

// rules is ordered so that a longer prefix stands before a shorter one it
// begins with.
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

// match returns how many bytes at the start of s are a token by this rule.
func (r rule) match(s []byte) int {
	if len(s) < len(r.prefix)+r.least || string(s[:len(r.prefix)]) != r.prefix {
		return 0
	}
	n := r.set.run(s[len(r.prefix):])
	if n < r.least || (r.most > 0 && n > r.most) {
		return 0
	}
	return len(r.prefix) + n
}

// shape recognizes secrets that are no fixed text plus a run. It gets the whole
// line and a position in it, and returns the range to hide.
type shape struct {
	first string // the bytes it can begin with
	find  func(line []byte, at int) (from, to int, ok bool)
}

var shapes = []shape{
	{"e", jwt},
	{"Bb", credential},
	{":", urlPassword},
	{"aA", assignedKey},
}

// jwt finds three base64url parts joined by dots, the first an encoded object.
func jwt(line []byte, at int) (int, int, bool) {
	s := line[at:]
	if !bytes.HasPrefix(s, []byte("eyJ")) || !boundary(line, at) {
		return 0, 0, false
	}
	n := 0
	for part := range 3 {
		run := dashed.run(s[n:])
		least := 8
		if part == 2 {
			least = 0 // an unsigned one still tells who is who
		}
		if run < least {
			return 0, 0, false
		}
		n += run
		if part < 2 {
			if n >= len(s) || s[n] != '.' {
				return 0, 0, false
			}
			n++
		}
	}
	return at, at + n, true
}

// credential finds what follows "Bearer" and "Basic".
func credential(line []byte, at int) (int, int, bool) {
	if !boundary(line, at) {
		return 0, 0, false
	}
	for _, scheme := range []string{"bearer", "basic"} {
		end := at + len(scheme)
		if end >= len(line) || !bytes.EqualFold(line[at:end], []byte(scheme)) {
			continue
		}
		gap := spaceOnly.run(line[end:])
		from := end + gap
		n := credent.run(line[from:])
		if gap > 0 && n >= 16 && mixed(line[from:from+n]) {
			return from, from + n, true
		}
	}
	return 0, 0, false
}

// urlPassword finds the password in scheme://user:password@host.
func urlPassword(line []byte, at int) (int, int, bool) {
	if !bytes.HasPrefix(line[at:], []byte("://")) || at == 0 || !alnum[line[at-1]] {
		return 0, 0, false
	}
	user := at + len("://")
	colon := -1
	for i := user; i < len(line); i++ {
		switch c := line[i]; {
		case c == ':' && colon < 0:
			colon = i
		case c == '@':
			if colon < 0 || i == colon+1 {
				return 0, 0, false
			}
			return colon + 1, i, true
		case notInURL[c]:
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// assignedKey finds the secret half of a cloud key pair, which has no mark of
// its own: only the name it is assigned to tells.
func assignedKey(line []byte, at int) (int, int, bool) {
	const name, size = "aws_secret_access_key", 40
	end := at + len(name)
	if end >= len(line) || !bytes.EqualFold(line[at:end], []byte(name)) {
		return 0, 0, false
	}
	from := end
	for from < len(line) && from < end+8 && bytes.IndexByte([]byte(" \t\"'=:\\>"), line[from]) >= 0 {
		from++
	}
	n := base64.run(line[from:])
	if from == end || n != size {
		return 0, 0, false
	}
	return from, from + n, true
}

// boundary tells whether a token may begin at this place.
func boundary(line []byte, at int) bool { return at == 0 || !word[line[at-1]] || escaped(line, at) }

// escaped tells whether the byte before is the letter of an escape such as \n,
// as in JSON, and so no part of the word that follows.
func escaped(line []byte, at int) bool {
	return at >= 2 && line[at-2] == '\\' && bytes.IndexByte([]byte("nrt"), line[at-1]) >= 0
}

// mixed tells whether the text has a digit or both cases: prose such as
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
