package forge

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// SignedFor is how far the signed time of a webhook can be from now.
	SignedFor = 5 * time.Minute
	// signingToken begins a secret with which GitLab signs. Any other secret is sent
	// as it is.
	signingToken = "whsec_"
)

// Signed checks the signature of a webhook, in constant time. The id is the same for
// each copy of a delivery, and nobody without the secret can change it.
//
// A secret of GitLab that is a signing token needs a signature: a header with the
// secret itself is refused, so that nobody can choose the weaker form.
func Signed(kind, secret string, h http.Header, body []byte, now time.Time) (id [sha256.Size]byte, ok bool) {
	if secret == "" {
		return id, false
	}
	switch kind {
	case "github":
		return signedHex(secret, body, h, "X-Hub-Signature-256")
	case "gitea":
		return signedHex(secret, body, h, "X-Forgejo-Signature", "X-Gitea-Signature", "X-Hub-Signature-256")
	case "gitlab":
		if key, signs := strings.CutPrefix(secret, signingToken); signs {
			return signedStandard(key, h, body, now)
		}
		got, want := sha256.Sum256([]byte(h.Get("X-Gitlab-Token"))), sha256.Sum256([]byte(secret))
		return sha256.Sum256(body), subtle.ConstantTimeCompare(got[:], want[:]) == 1
	}
	return id, false
}

// signedHex checks the HMAC of the body. The first of the headers that is set counts.
func signedHex(secret string, body []byte, h http.Header, names ...string) (id [sha256.Size]byte, ok bool) {
	id = mac([]byte(secret), body)
	for _, name := range names {
		if s := h.Get(name); s != "" {
			got, err := hex.DecodeString(strings.TrimPrefix(s, "sha256="))
			return id, err == nil && hmac.Equal(got, id[:])
		}
	}
	return id, false
}

// signedStandard checks a signature of the Standard Webhooks specification. The
// header can have several signatures, of an old and a new secret.
func signedStandard(key string, h http.Header, body []byte, now time.Time) (id [sha256.Size]byte, ok bool) {
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(secret) == 0 {
		return id, false
	}
	name, at := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	id = mac(secret, []byte(name), []byte("."), []byte(at), []byte("."), body)
	for s := range strings.FieldsSeq(h.Get("Webhook-Signature")) {
		version, text, _ := strings.Cut(s, ",")
		got, err := base64.StdEncoding.DecodeString(text)
		ok = ok || version == "v1" && err == nil && hmac.Equal(got, id[:])
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	signed := time.Unix(seconds, 0)
	return id, ok && err == nil && !signed.Before(now.Add(-SignedFor)) && !signed.After(now.Add(SignedFor))
}

func mac(secret []byte, parts ...[]byte) (sum [sha256.Size]byte) {
	m := hmac.New(sha256.New, secret)
	for _, p := range parts {
		m.Write(p)
	}
	m.Sum(sum[:0])
	return sum
}
