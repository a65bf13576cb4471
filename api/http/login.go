package http

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"sync"
	"time"

	"coppice"
)

const (
	codeTTL     = 2 * time.Minute
	signedInTTL = 12 * time.Hour
	maxCodes    = 16 // links that wait to be used
	maxSignedIn = 64 // browsers
)

// login remembers which one-time codes and which browsers are good. It keeps
// hashes only, and only in memory: a restart signs every browser out.
type login struct {
	now func() time.Time

	mu       sync.Mutex
	codes    map[[32]byte]time.Time // until when
	browsers map[[32]byte]time.Time
}

func newLogin(now func() time.Time) *login {
	return &login{now: now, codes: map[[32]byte]time.Time{}, browsers: map[[32]byte]time.Time{}}
}

// mint makes a code that signs one browser in, once.
func (l *login) mint() (code string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	code, until = secret(), l.now().Add(codeTTL)
	l.put(l.codes, code, until, maxCodes)
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
	key := secret()
	l.put(l.browsers, key, l.now().Add(signedInTTL), maxSignedIn)
	return key, true
}

func (l *login) signedIn(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.browsers[sha256.Sum256([]byte(key))]
	return ok && l.now().Before(until)
}

// put adds an entry, dropping what has expired and, when there is no room, what
// expires first.
func (l *login) put(m map[[32]byte]time.Time, key string, until time.Time, most int) {
	for k, t := range m {
		if !l.now().Before(t) {
			delete(m, k)
		}
	}
	for len(m) >= most {
		var first [32]byte
		var at time.Time
		for k, t := range m {
			if at.IsZero() || t.Before(at) {
				first, at = k, t
			}
		}
		delete(m, first)
	}
	m[sha256.Sum256([]byte(key))] = until
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

func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
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
