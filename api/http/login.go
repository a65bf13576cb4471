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
	maxCodes    = 16 // unused links
)

// login keeps the valid one-time codes, by their hashes and only in memory. The
// secret of a signed-in browser is signed with a key made from the server's
// token: a restart does not sign out a browser, and a new token signs out every
// browser.
type login struct {
	now func() time.Time
	key [32]byte

	mu    sync.Mutex
	codes map[[32]byte]time.Time // when they expire
}

func newLogin(now func() time.Time, token string) *login {
	return &login{now: now, key: sha256.Sum256([]byte("coppice browser " + token)), codes: map[[32]byte]time.Time{}}
}

// mint makes a code that signs in one browser, one time.
func (l *login) mint() (code string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	code, until = secret(), l.now().Add(codeTTL)
	l.put(code, until)
	return code, until
}

// redeem exchanges a code for a browser's secret. A code works one time.
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

// seal signs a text.
func (l *login) seal(text string) string {
	mac := hmac.New(sha256.New, l.key[:])
	_, _ = mac.Write([]byte(text)) // never fails
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// signedIn reports whether a browser's secret is valid and not expired.
func (l *login) signedIn(key string) bool {
	end := strings.LastIndexByte(key, '.')
	if end < 0 || !hmac.Equal([]byte(l.seal(key[:end])), []byte(key)) {
		return false
	}
	_, until, _ := strings.Cut(key[:end], ".")
	at, err := strconv.ParseInt(until, 10, 64)
	return err == nil && l.now().Before(time.Unix(at, 0))
}

// put adds a code. It drops expired codes and, if there are too many, the one
// that expires first.
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

// cookieName contains the port, because browsers share cookies among the ports
// of one host: two servers must not sign out each other's browsers.
func (s *Server) cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return "coppice_" + port
}

// isPrefetch reports whether a program requests an address that nobody has
// opened yet, to preview or prefetch it.
func isPrefetch(r *http.Request) bool {
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
	if isPrefetch(r) { // with this status browsers ask again later
		s.fail(w, r, coppice.Errorf(coppice.EUnavailable, "this link signs in only when a person opens it").WithFix("open it in a browser"))
		return
	}
	key, ok := s.login.redeem(r.URL.Query().Get("code"))
	if !ok {
		s.refuseLink(w, r, coppice.Errorf(coppice.EUnauthorized, "this link was used before or has expired").WithFix("get a new one with `coppice login`"))
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(r), Value: key, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(signedInTTL / time.Second),
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// refuseLink refuses a link that was used before or has expired. A browser that is
// signed in opens the dashboard anyway, as after a reload of the link.
func (s *Server) refuseLink(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case !readsPages(r):
		s.fail(w, r, err)
	case s.identify(r) == browser:
		http.Redirect(w, r, "/", http.StatusSeeOther)
	default:
		writeSignInPage(w, s.problem(r.Context(), err), "This sign-in link was used before or has expired")
	}
}
