package profiles

import (
	"maps"
	"slices"
	"strings"

	"coppice"
)

// deprecated are the variables of a profile's env that became fields. An empty
// value turns off the setting of a built-in profile.
var deprecated = map[string]struct {
	field string
	set   func(d *coppice.DriverProfile, value string) error
}{
	"COPPICE_SETTINGS": {"driver.files", func(d *coppice.DriverProfile, value string) error {
		name, text, ok := strings.Cut(value, "=")
		if !ok || !envRE().MatchString(name) {
			return coppice.Errorf(coppice.EInvalid, "COPPICE_SETTINGS does not name a variable: %s", coppice.Quote(value)).
				WithFix("write driver.files: {NAME: text} instead, where NAME is the variable with the path of the file")
		}
		d.Files = map[string]string{name: text}
		return nil
	}},
	"COPPICE_ACP_AUTH":      {"driver.auth", text(func(d *coppice.DriverProfile) *string { return &d.Auth }, "none")},
	"COPPICE_ACP_META":      {"driver.meta", text(func(d *coppice.DriverProfile) *string { return &d.Meta }, "{}")},
	"COPPICE_ACP_TRIES":     {"driver.retry_log", text(func(d *coppice.DriverProfile) *string { return &d.RetryLog }, "^()$")},
	"COPPICE_ACP_MESSAGES":  {"driver.messages", choice(func(d *coppice.DriverProfile) *string { return &d.Messages }, coppice.DriverMessages)},
	"COPPICE_ACP_SECRETS":   {"driver.secrets", choice(func(d *coppice.DriverProfile) *string { return &d.Secrets }, coppice.DriverSecrets)},
	"COPPICE_CODEX_SANDBOX": {"driver.sandbox", text(func(d *coppice.DriverProfile) *string { return &d.Sandbox }, coppice.NoSandbox)},
	"COPPICE_ACP_ASK": {"driver.ask_env or driver.ask_args", func(d *coppice.DriverProfile, value string) error {
		d.AskArgs, d.AskEnv = []string{}, map[string]string{}
		if strings.HasPrefix(value, "-") {
			d.AskArgs = strings.Fields(value)
		} else if name, text, ok := strings.Cut(value, "="); ok {
			d.AskEnv[name] = text
		}
		return nil
	}},
}

// text sets a field, to off if the value is empty.
func text(field func(*coppice.DriverProfile) *string, off string) func(*coppice.DriverProfile, string) error {
	return func(d *coppice.DriverProfile, value string) error {
		if *field(d) = value; value == "" {
			*field(d) = off
		}
		return nil
	}
}

// choice sets a field to the first of two words if the value is that word, else
// to the second.
func choice(field func(*coppice.DriverProfile) *string, words []string) func(*coppice.DriverProfile, string) error {
	return func(d *coppice.DriverProfile, value string) error {
		if *field(d) = words[0]; value != words[0] {
			*field(d) = words[1]
		}
		return nil
	}
}

// Modern returns a profile with fields instead of the deprecated variables of
// its env, and a sentence about each of those variables. Such a variable
// overrides the field.
func Modern(name string, p coppice.Profile) (coppice.Profile, []string, error) {
	var found []string
	env := maps.Clone(p.Env)
	for _, variable := range slices.Sorted(maps.Keys(deprecated)) {
		value, ok := env[variable]
		if !ok {
			continue
		}
		delete(env, variable)
		was := deprecated[variable]
		if err := was.set(&p.Driver, value); err != nil {
			return p, nil, err
		}
		found = append(found, "agents."+name+".env."+variable+" is deprecated: write agents."+name+"."+was.field+" instead")
	}
	p.Env = env
	return p, found, nil
}
