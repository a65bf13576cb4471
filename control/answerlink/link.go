// Package answerlink has the pages on which people answer a question from a message: a
// signed link answers exactly one question, until its time is over or the question has an
// answer.
//
// Everybody who has a link can answer, so a page shows only the question. Without a valid
// signature, nothing is read and nothing is shown. Opening a link changes nothing: chat
// services open links by themselves.
package answerlink

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"coppice"
	"coppice/store"
)

// Path is where the pages are: the signed part follows.
const Path = "/answer/"

// Key returns the key that signs links, from the token of the server. It is as secret and
// as stable as the token.
func Key(token string) [sha256.Size]byte {
	return sha256.Sum256([]byte("coppice answer link " + token))
}

// claim is what a link says. After a backup was restored, a question can
// get the id of another one, so a link also has the time of its question.
type claim struct {
	question int64
	until    time.Time
	asked    time.Time
}

// maxPart is the length of a part of a link. A longer one is not read.
const maxPart = 64

func (c claim) text() string {
	part := func(n int64) string { return strconv.FormatInt(n, 36) }
	return part(c.question) + "." + part(c.until.Unix()) + "." + part(c.asked.UnixNano())
}

func (p *Pages) sign(text string) []byte {
	mac := hmac.New(sha256.New, p.cfg.Key[:])
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// Link returns the path of the page that answers a question until a time. It is empty if
// the question is not open.
func (p *Pages) Link(ctx context.Context, question int64, until time.Time) (string, error) {
	q, err := p.question(ctx, question)
	if err != nil || !q.Open() {
		return "", err
	}
	text := claim{question, until, q.AskedAt}.text()
	return Path + text + "." + base64.RawURLEncoding.EncodeToString(p.sign(text)), nil
}

func (p *Pages) question(ctx context.Context, id int64) (q coppice.Question, err error) {
	err = p.cfg.Store.View(ctx, func(r store.Reader) error {
		q, err = r.Questions.Get(id)
		return err
	})
	return q, err
}

// verify returns what a link says, if its signature is right.
func (p *Pages) verify(link string) (c claim, ok bool) {
	i := strings.LastIndexByte(link, '.')
	if i < 0 || len(link) > 4*maxPart {
		return c, false
	}
	mac, err := base64.RawURLEncoding.Strict().DecodeString(link[i+1:])
	if err != nil || !hmac.Equal(mac, p.sign(link[:i])) {
		return c, false
	}
	var numbers [3]int64
	parts := strings.Split(link[:i], ".")
	if len(parts) != len(numbers) {
		return c, false
	}
	for k, part := range parts {
		if numbers[k], err = strconv.ParseInt(part, 36, 64); err != nil {
			return c, false
		}
	}
	return claim{numbers[0], time.Unix(numbers[1], 0), time.Unix(0, numbers[2])}, true
}
