package agent

import (
	"testing"

	"coppice"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	with := func(given string) coppice.Profile {
		return coppice.Profile{Command: []string{"x"}, Env: map[string]string{EnvSettings: given, "OTHER": "1"}}
	}
	p := with(`MY_PATH={"a":"b=c"}`)
	l, err := LaunchProfile(p, Request{Private: "/p"})
	if err != nil || l.Env["MY_PATH"] != "/p/settings.json" || string(l.Files["settings.json"]) != "{\"a\":\"b=c\"}\n" || l.Env["OTHER"] != "1" {
		t.Errorf("%+v, %v", l, err)
	}
	if _, there := l.Env[EnvSettings]; there || p.Env[EnvSettings] == "" {
		t.Errorf("the variable reaches the agent, or the profile was changed: %v, %v", l.Env, p.Env)
	}
	if got := l.Settings("MY_PATH"); string(got) != "{\"a\":\"b=c\"}\n" || l.Settings("OTHER") != nil {
		t.Errorf("settings %q", got)
	}
	for _, given := range []string{"", "x", "=x", "my path=x", "lower=x"} {
		if _, err := LaunchProfile(with(given), Request{Private: "/p"}); coppice.ErrorCode(err) != coppice.EInvalid {
			t.Errorf("%q: %v", given, err)
		}
	}
	if _, err := LaunchProfile(p, Request{}); err == nil {
		t.Error("a file is written nowhere")
	}
}
