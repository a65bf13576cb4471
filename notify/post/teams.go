package post

import "coppice/notify"

// The limits of a card. A message to Teams can have 28 KB.
var (
	teamsTitle = notify.Limit{Most: 500, Unit: notify.Bytes}
	teamsText  = notify.Limit{Most: 8000, Unit: notify.Bytes}
)

var teamsColors = priorities[string]{urgent: "attention", action: "accent", warning: "warning", info: "default"}

// teams sends an Adaptive Card to a workflow. The runs of a RichTextBlock have no markup,
// and a mention needs an entry in entities.
func teams(_ Config, t notify.Target, m notify.Message, _ string) (notify.Request, error) {
	line := func(run object) object { return object{"type": "RichTextBlock", "inlines": []object{run}} }
	body := []object{line(object{"type": "TextRun", "text": teamsTitle.Fit(m.Title, nil), "weight": "bolder", "size": "medium", "color": teamsColors.of(m)})}
	body[0]["id"] = m.ID
	if m.Text != "" {
		body = append(body, line(object{"type": "TextRun", "text": teamsText.Fit(m.Text, nil)}))
	}
	card := object{"type": "AdaptiveCard", "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "version": "1.4", "body": body}
	var actions []object
	for _, l := range m.Links() {
		actions = append(actions, object{"type": "Action.OpenUrl", "title": l.Name, "url": l.URL})
	}
	if len(actions) > 0 {
		card["actions"] = actions
	}
	return asJSON(t.URL, object{
		"type": "message", "attachments": []object{{"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card}},
	}), nil
}
