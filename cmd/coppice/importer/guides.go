package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"coppice"
)

// The files in which a project describes itself to agents.
const (
	projectGuide     = ".coppice/PROJECT.md"
	conventionsGuide = ".coppice/CONVENTIONS.md"
)

// takeGuides imports .agentorchestr: what it says about the project. It reports what
// this version has no counterpart for.
func (t *taker) takeGuides(dir string) error {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return coppice.Errorf(coppice.EInvalid, "%s is not a folder", dir).WithFix("name the folder %s, or the repository that has it", GuidesDir)
	}
	name := func(file string) string { return GuidesDir + "/" + file }
	some := false
	for _, g := range []struct{ from, to string }{{"PROJECT.md", projectGuide}, {"CONVENTIONS.md", conventionsGuide}} {
		text, err := readWhole(filepath.Join(dir, g.from))
		switch {
		case coppice.ErrorCode(err) == coppice.ENotFound:
			continue
		case err != nil:
			t.refuse(name(g.from), nil, err)
			continue
		}
		t.add(name(g.from), nil, g.to, string(text), Took, "")
		if t.out["instructions"] == nil {
			t.out["instructions"] = g.to
			t.say(name(g.from), nil, Changed, "instructions", "agents follow "+g.to)
		} else {
			t.say(name(g.from), nil, Changed, "", fmt.Sprintf("add a line to %v that agents read %s, too", t.out["instructions"], g.to))
		}
		some = true
	}
	hooks := t.hooks(filepath.Join(dir, "hooks.json"))
	for _, d := range []struct{ dir, why string }{
		{"memory", "this version has no memory of earlier tasks; put what agents should know into " + projectGuide},
		{"skills", "this version has no skills; put their text into " + conventionsGuide},
	} {
		if files, err := os.ReadDir(filepath.Join(dir, d.dir)); err == nil && len(files) > 0 {
			t.say(name(d.dir), len(files), Dropped, "", d.why)
			some = true
		}
	}
	if !some && !hooks {
		return coppice.Errorf(coppice.ENotFound, "%s has neither PROJECT.md, CONVENTIONS.md nor hooks.json", dir).WithFix("name another folder")
	}
	return nil
}

// hooks reports the hooks: this version runs none.
func (t *taker) hooks(path string) bool {
	key := GuidesDir + "/hooks.json"
	b, err := readWhole(path)
	if coppice.ErrorCode(err) == coppice.ENotFound {
		return false
	}
	var all map[string]any
	if err = errors.Join(err, json.Unmarshal(b, &all)); err != nil {
		t.say(key, nil, Dropped, "", "it is not a JSON object")
		return true
	}
	for _, event := range slices.Sorted(maps.Keys(all)) {
		if all[event] != nil {
			t.say(key+": "+event, all[event], Dropped, "", "this version runs no hooks; what must pass before work lands belongs to checks, and what a new workspace needs to workspace.setup")
		}
	}
	return true
}
