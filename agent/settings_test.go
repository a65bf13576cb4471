package agent

import (
	"testing"

	"coppice"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	p := coppice.Profile{Command: []string{"x"}, Env: map[string]string{"OTHER": "1"}}
	p.Driver.Files = map[string]string{"MY_PATH": `{"a":"b"}`, "MY_OTHER": "text"}
	l, err := LaunchProfile(p, Request{Private: "/p"})
	if err != nil || l.Env["MY_PATH"] != "/p/settings-my_path.json" || string(l.Files["settings-my_path.json"]) != "{\"a\":\"b\"}\n" || l.Env["OTHER"] != "1" {
		t.Errorf("launch %+v, %v; want the settings in a file that MY_PATH names", l, err)
	}
	if string(l.Settings("MY_OTHER")) != "text\n" || l.Settings("OTHER") != nil {
		t.Errorf("settings %q and %q", l.Settings("MY_OTHER"), l.Settings("OTHER"))
	}
	if len(p.Env) != 1 {
		t.Errorf("the profile was changed: %v", p.Env)
	}
	if _, err := LaunchProfile(p, Request{}); err == nil {
		t.Error("a file is written nowhere")
	}
}
