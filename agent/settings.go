package agent

import (
	"regexp"
	"strings"
	"sync"

	"coppice"
)

// EnvSettings is the variable by which a profile gives an agent settings that it
// takes from a file only: NAME=text has a file with that text written to the
// session's own directory, and its path set as NAME. The variable itself does not
// reach the agent.
const EnvSettings = "COPPICE_SETTINGS"

// settingsFile is the file of a launch that holds the settings.
const settingsFile = "settings.json"

var settingsRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`) })

// settings adds the file that a profile's EnvSettings asks for.
func (l *Launch) settings(r Request) error {
	given, ok := l.Env[EnvSettings]
	if !ok {
		return nil
	}
	delete(l.Env, EnvSettings)
	name, text, ok := strings.Cut(given, "=")
	if !ok || !settingsRE().MatchString(name) {
		return coppice.Errorf(coppice.EInvalid, "%s of the agent's profile names no variable: %s", EnvSettings, coppice.Quote(given)).
			WithFix("write NAME=text, where NAME is the variable by which the agent finds the file")
	}
	path, err := l.AddFile(r, settingsFile, []byte(text+"\n"))
	if err != nil {
		return err
	}
	l.Env[name] = path
	return nil
}

// Settings is the text of the file that a variable of the launch names, if the
// launch has one.
func (l *Launch) Settings(name string) []byte {
	if path := l.Env[name]; path != "" && strings.HasSuffix(path, "/"+settingsFile) {
		return l.Files[settingsFile]
	}
	return nil
}
