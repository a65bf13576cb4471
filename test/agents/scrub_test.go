package agents

import (
	"fmt"
	"regexp"
	"strings"
)

// What differs from run to run. Ids are replaced by numbers in the order they
// first appear, so that equal ones stay equal.
var (
	uuidRE  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	idRE    = regexp.MustCompile(`(msg_|s\d\dc\d\dx)[0-9a-f]{16}`)
	timeRE  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`)
	portRE  = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	spanRE  = regexp.MustCompile(`"([a-z_]*_ms)":[0-9.]+`)
	sockRE  = regexp.MustCompile(`/tmp/cc-socks/\d+`)
	shortRE = regexp.MustCompile(`\b[0-9a-f]{7} (add|start)`)
	// Lines of the CLI's own code, which some print with an error.
	codeRE = regexp.MustCompile(`(?m)^err +(\d+ \||at .*\$bunfs).*\n`)
	// Lists of what the CLI has to offer: long, and nothing a driver reads.
	listRE = regexp.MustCompile(`"(tools|slash_commands|terminal_slash_commands|skills|capabilities|agents|plugins)":\[[^\]]*\]`)
)

// scrub makes a transcript the same for every run of the same agent.
func (b *bench) scrub(s string) string {
	dashed := func(p string) string { return strings.NewReplacer("/", "-", ".", "-").Replace(p) }
	s = strings.NewReplacer(b.private, "/private", b.repo, "/repo", b.home, "/home/dev", cache(), "/cli", dashed(b.repo), "-repo", dashed(b.home), "-home-dev").Replace(s)
	ids := map[string]string{}
	s = uuidRE.ReplaceAllStringFunc(s, func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(ids)+1)
		}
		return ids[id]
	})
	s = idRE.ReplaceAllStringFunc(s, func(id string) string {
		if ids[id] == "" {
			ids[id] = id[:strings.LastIndexAny(id, "_x")+1] + fmt.Sprintf("%016d", len(ids)+1)
		}
		return ids[id]
	})
	s = timeRE.ReplaceAllString(s, "2026-01-01T00:00:00.000Z")
	s = portRE.ReplaceAllString(s, "127.0.0.1:8765")
	s = spanRE.ReplaceAllString(s, `"$1":1`)
	s = sockRE.ReplaceAllString(s, "/tmp/cc-socks/1")
	s = codeRE.ReplaceAllString(s, "")
	s = shortRE.ReplaceAllString(s, "1234567 $1")
	return listRE.ReplaceAllString(s, `"$1":[]`)
}
