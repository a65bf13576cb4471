package post

import (
	"cmp"
	"encoding/base64"

	"coppice/notify"
)

// The limits of ntfy. A longer message would become an attachment.
var (
	ntfyTitle = notify.Limit{Most: 250, Unit: notify.Bytes}
	ntfyText  = notify.Limit{Most: 3500, Unit: notify.Bytes}
)

var ntfyPriorities = priorities[int]{urgent: 5, action: 4, warning: 3, info: 2}

// ntfy publishes to a topic. ntfy shows the text as it is, unless markdown is set.
func ntfy(_ Config, t notify.Target, m notify.Message, to string) (notify.Request, error) {
	body := object{
		"topic": to, "title": ntfyTitle.Fit(m.Title, nil), "message": cmp.Or(ntfyText.Fit(m.Text, nil), ntfyTitle.Fit(m.Title, nil)),
		"priority": ntfyPriorities.of(m), "sequence_id": m.ID,
	}
	var actions []object
	for _, l := range m.Links() {
		actions = append(actions, object{"action": "view", "label": l.Name, "url": l.URL})
	}
	if len(actions) > 0 {
		body["actions"] = actions
	}
	if m.Link != "" {
		body["click"] = m.Link
	}
	r := asJSON(cmp.Or(t.URL, "https://ntfy.sh"), body)
	switch {
	case t.Token != "" && t.User != "":
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(t.User+":"+t.Token)))
	case t.Token != "":
		r.Header.Set("Authorization", "Bearer "+t.Token)
	}
	return r, nil
}
