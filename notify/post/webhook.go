package post

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"coppice"
	"coppice/notify"
)

var errAddress = coppice.Failf(coppice.ClassCapability, "the address of the notifier is not valid", "write it as https://host/path")

// webhook sends a message with the headers of Standard Webhooks.
func webhook(c Config, t notify.Target, m notify.Message, _ string) (notify.Request, error) {
	body, at := coppice.Raw(notify.PayloadOf(t, m)), strconv.FormatInt(c.Client.Now().Unix(), 10)
	signature, err := sign(t.Token, m.ID, at, body)
	if err != nil {
		return notify.Request{}, err
	}
	return notify.Request{URL: t.URL, Body: body, Header: http.Header{
		"Content-Type": {"application/json"}, "Webhook-Id": {m.ID}, "Webhook-Timestamp": {at}, "Webhook-Signature": {signature},
	}}, nil
}

// sign returns the signature of a webhook. A secret that starts with whsec_ is the base64
// of the key; any other is the key itself.
func sign(secret, id, at string, body []byte) (string, error) {
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return "", coppice.Failf(coppice.ClassAuth, "the secret of the webhook starts with whsec_, and the rest is not base64", "copy it again, and store it with `coppice secret set`")
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
