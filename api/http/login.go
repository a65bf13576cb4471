package http

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"coppice"
)

const (
	codeTTL     = 2 * time.Minute
	signedInTTL = 12 * time.Hour
	maxCodes    = 16 // links that wait to be used
)

// login remembers which one-time codes are good, by their hashes and only in
// memory. What a signed-in browser shows is sealed with a key made from the
// server's token instead: a restart under an open page does not sign it out,
// and a new token signs every browser out.
type login struct {
	now func() time.Time
	key [32]byte

	mu    sync.Mutex
	codes map[[32]byte]time.Time // until when
}

func newLogin(now func() time.Time, token string) *login {
	return &login{now: now, key: sha256.Sum256([]byte("coppice browser " + token)), codes: map[[32]byte]time.Time{}}
}

// mint makes a code that signs one browser in, once.
func (l *login) mint() (code string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	code, until = secret(), l.now().Add(codeTTL)
	l.put(code, until)
	return code, until
}

// redeem trades a code for a browser's secret; a code works once.
func (l *login) redeem(code string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := sha256.Sum256([]byte(code))
	until, ok := l.codes[sum]
	delete(l.codes, sum)
	if !ok || !l.now().Before(until) {
		return "", false
	}
	return l.seal(secret() + "." + strconv.FormatInt(l.now().Add(signedInTTL).Unix(), 10)), true
}

// seal adds the proof that we said a text.
func (l *login) seal(text string) string {
	mac := hmac.New(sha256.New, l.key[:])
	_, _ = mac.Write([]byte(text)) // never fails
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// signedIn tells whether a browser's secret is one of ours and not too old.
func (l *login) signedIn(key string) bool {
	end := strings.LastIndexByte(key, '.')
	if end < 0 || !hmac.Equal([]byte(l.seal(key[:end])), []byte(key)) {
		return false
	}
	_, until, _ := strings.Cut(key[:end], ".")
	at, err := strconv.ParseInt(until, 10, 64)
	return err == nil && l.now().Before(time.Unix(at, 0))
}

// put adds a code, dropping what has expired and, when there is no room, what
// expires first.
func (l *login) put(code string, until time.Time) {
	for k, t := range l.codes {
		if !l.now().Before(t) {
			delete(l.codes, k)
		}
	}
	for len(l.codes) >= maxCodes {
		var first [32]byte
		var at time.Time
		for k, t := range l.codes {
			if at.IsZero() || t.Before(at) {
				first, at = k, t
			}
		}
		delete(l.codes, first)
	}
	l.codes[sha256.Sum256([]byte(code))] = until
}

func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// cookieName holds the port, because browsers share cookies among the ports of
// one host: two servers must not sign each other's browsers out.
func (s *Server) cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "coppice_" + port
}

// fetchedAhead reports whether a program asks for an address that nobody has
// opened yet: to look at it, or to have it ready.
func fetchedAhead(r *http.Request) bool {
	if r.Method != http.MethodGet {
		return true
	}
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		if v := strings.ToLower(r.Header.Get(name)); strings.Contains(v, "prefetch") || strings.Contains(v, "preview") || strings.Contains(v, "prerender") {
			return true
		}
	}
	return false
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	if fetchedAhead(r) { // the status that browsers take for "not now", and then ask again
		s.fail(w, r, coppice.Errorf(coppice.EUnavailable, "this link signs in when it is opened, not ahead of that").WithFix("open it in a browser"))
		return
	}
	key, ok := s.login.redeem(r.URL.Query().Get("code"))
	if !ok {
		s.fail(w, r, coppice.Errorf(coppice.EUnauthorized, "this link was used before or has expired").WithFix("get a new one with `coppice login`"))
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(r), Value: key, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(signedInTTL / time.Second),
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
