package agent

import (
	"maps"
	"slices"
	"strings"

	"coppice"
)

// files adds the files of a profile's driver.files, each with its path in a
// variable.
func (l *Launch) files(p coppice.Profile, r Request) error {
	for _, name := range slices.Sorted(maps.Keys(p.Driver.Files)) {
		path, err := l.AddFile(r, settingsFile(name), []byte(p.Driver.Files[name]+"\n"))
		if err != nil {
			return err
		}
		*l = l.With(map[string]string{name: path})
	}
	return nil
}

func settingsFile(variable string) string { return "settings-" + strings.ToLower(variable) + ".json" }

// Settings returns the text of the file that driver.files has for a variable,
// if there is one.
func (l *Launch) Settings(variable string) []byte { return l.Files[settingsFile(variable)] }
