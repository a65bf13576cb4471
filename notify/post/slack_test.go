package post_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/notify"
	"coppice/notify/post"
	"coppice/test/forges"
)

// Slack's emulator accepts the messages of an incoming webhook and of a bot, and returns
// them as they were sent.
func TestSlackEmulator(t *testing.T) {
	t.Parallel()
	const token = "xoxb-a-token-for-tests"
	api := forges.StartEmulator(t, "slack", "tokens:\n  "+token+": {login: coppice, scopes: [chat:write, channels:history, channels:read]}\n"+
		"slack:\n  users: [{name: coppice}]\n  channels: [{name: builds}]\n  incoming_webhooks: [{channel: builds, label: coppice}]\n")
	sender := post.Senders(post.Config{Client: notify.NewClient(nil, time.Now), Slack: api})["slack"]
	bot := notify.Target{Name: "team", Notifier: coppice.Notifier{Kind: "slack", To: []string{"builds"}}, Token: token}
	hook := notify.Target{Name: "team", Notifier: coppice.Notifier{Kind: "slack", URL: api + "/services/T000000001/B000000001/a-token"}}
	m := notify.Message{ID: "n-1", Priority: coppice.PriorityAction, Title: "app-4 asks <!channel>", Text: "Which colour?\n@here", Link: "http://127.0.0.1:4040/tasks/app-4", Count: 1, At: time.Now()}
	if err := sender.Send(t.Context(), bot, m); err != nil {
		t.Fatal(err)
	}
	m.ID = "n-2"
	if err := sender.Send(t.Context(), hook, m); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Channels []struct{ ID, Name string }
		Messages []struct {
			Text   string
			Blocks []struct {
				ID   string `json:"block_id"`
				Text struct{ Type, Text string }
			}
		}
	}
	call := func(path string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api+"/api/"+path, bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if before, after, ok := strings.Cut(path, "?"); ok {
			r, _ = http.NewRequestWithContext(t.Context(), http.MethodPost, api+"/api/"+before, strings.NewReader(after))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
	}
	call("conversations.list")
	for _, c := range list.Channels {
		if c.Name == "builds" {
			call("conversations.history?channel=" + c.ID)
		}
	}
	ids := map[string]bool{}
	for _, got := range list.Messages {
		if !strings.Contains(got.Text, "&lt;!channel&gt;") || len(got.Blocks) != 3 || got.Blocks[1].Text.Type != "plain_text" || got.Blocks[1].Text.Text != "Which colour?\n@here" {
			t.Errorf("%+v", got)
			continue
		}
		ids[got.Blocks[0].ID] = true
	}
	if !ids["n-1"] || len(list.Messages) == 0 {
		t.Errorf("%+v", list)
	}

	var f *coppice.Failure
	nowhere := bot
	nowhere.To = []string{"nowhere"}
	if err := sender.Send(t.Context(), nowhere, m); !errors.As(err, &f) || f.Class != coppice.ClassCapability {
		t.Errorf("another channel: %v", err)
	}
}
