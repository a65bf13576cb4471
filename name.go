package coppice

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits on what people can write.
const (
	MaxTitle    = 500     // bytes in a task's title
	MaxBody     = 4 << 20 // bytes in a task's description
	MaxMessage  = 1 << 20 // bytes in a message or an answer
	MaxReport   = 200     // bytes in what an agent reports that it is doing
	MaxName     = 64      // bytes in the name of a track, agent or model
	MaxContext  = 20      // context values of a task
	MaxValue    = 4096    // bytes in a context value
	MinPriority = -10     // the least urgent
	MaxPriority = 10      // the most urgent
)

var (
	prefixRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`) })
	nameRE   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })
	modelRE  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]*$`) })
	branchRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/+-]*$`) })
	hashRE   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`) })
)

// ValidPrefix checks the prefix of a project's task keys.
func ValidPrefix(s string) error {
	if !prefixRE().MatchString(s) {
		return Errorf(EInvalid, "%s is not a valid task prefix", Quote(s)).WithFix("use up to 16 lower-case letters and digits, a letter first")
	}
	return nil
}

// ValidName checks the name of a track, an agent or a node.
func ValidName(what, s string) error {
	if len(s) > MaxName || !nameRE().MatchString(s) || strings.Contains(s, "..") {
		return Errorf(EInvalid, "%s is not a valid %s name", Quote(s), what).
			WithFix("use up to %d letters, digits, dots, dashes and underscores, a letter or digit first", MaxName)
	}
	return nil
}

// ValidModel checks a model's name. It is passed to an agent as an argument.
func ValidModel(s string) error {
	if len(s) > MaxName || !modelRE().MatchString(s) {
		return Errorf(EInvalid, "%s is not a valid model name", Quote(s)).WithFix("use the vendor's name for it, such as opus or gpt-5")
	}
	return nil
}

// ValidBranch checks a branch name, more strictly than git does. A valid name is
// safe as an argument, in a path and in a ref.
func ValidBranch(s string) error {
	bad := s == "" || len(s) > 200 || !branchRE().MatchString(s) || strings.Contains(s, "..") || strings.Contains(s, "//") ||
		strings.HasSuffix(s, "/") || strings.HasSuffix(s, ".") || strings.HasSuffix(s, ".lock") ||
		strings.Contains(s, "/.") || strings.Contains(s, ".lock/") || s == "HEAD"
	if bad {
		return Errorf(EInvalid, "%s is not a valid branch name", Quote(s)).
			WithFix("use letters, digits, dots, dashes, underscores and slashes, as in ai-develop or team/main")
	}
	return nil
}

// ValidHash checks a full object id.
func ValidHash(s string) error {
	if !hashRE().MatchString(s) {
		return Errorf(EInvalid, "%s is not a valid object id", Quote(s))
	}
	return nil
}

// ValidTitle checks a task's title: any printable text on one line. A title is
// data everywhere and never reaches a shell, path or ref.
func ValidTitle(s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return Errorf(EInvalid, "the title is empty").WithFix("describe in one line what should be done").WithField("title")
	case len(s) > MaxTitle:
		return Errorf(EInvalid, "the title has %d bytes, %d are allowed", len(s), MaxTitle).
			WithFix("keep the title to a line and put the rest into the description (--body or --body-file)").WithField("title")
	case !utf8.ValidString(s):
		return Errorf(EInvalid, "the title is not valid UTF-8").WithField("title")
	}
	if why := LineProblem(s); why != "" {
		return Errorf(EInvalid, "the title %s", why).
			WithFix("keep the title to one line of visible text and put the rest into the description (--body or --body-file)").WithField("title")
	}
	return nil
}

// ValidPath checks the path of a directory that a person entered.
func ValidPath(s string) error {
	if strings.ContainsRune(s, '\t') || !utf8.ValidString(s) || LineProblem(s) != "" {
		return Errorf(EInvalid, "the path %s has a line break, a control character or one that changes the order of the text", Quote(s)).
			WithFix("rename the directory so that its path is plain text in one line").WithField("path")
	}
	return nil
}

// ValidText checks a description, message or answer.
func ValidText(field, s string, most int) error {
	switch {
	case len(s) > most:
		return Errorf(ETooLarge, "the text has %d bytes, %d are allowed", len(s), most).
			WithFix("shorten it, or put it into a file of the repository and name the file").WithField(field)
	case !utf8.ValidString(s):
		return Errorf(EInvalid, "the text is not valid UTF-8").WithField(field)
	case strings.ContainsRune(s, 0):
		return Errorf(EInvalid, "the text has a zero byte").WithField(field)
	}
	return nil
}

// ValidContext checks the context values of a task.
func ValidContext(values map[string]string) error {
	if len(values) > MaxContext {
		return Errorf(ETooLarge, "the task has %d context values, %d are allowed", len(values), MaxContext).
			WithFix("put the rest into the description").WithField("context")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := ValidName("context value", name); err != nil {
			return Public(err).WithField("context")
		}
		if err := ValidText("context", values[name], MaxValue); err != nil {
			e := Public(err)
			return Errorf(e.Code, "%s: %s", name, e.Cause).WithFix("%s", e.Fix).WithField("context")
		}
	}
	return nil
}

// Quote shows untrusted text in an error: quoted, and shortened if it is long.
func Quote(s string) string {
	if len(s) > 80 {
		cut := 77
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "..."
	}
	return strconv.Quote(s)
}

// TaskKey returns the key of a project's nth task.
func TaskKey(prefix string, n int) string { return prefix + "-" + strconv.Itoa(n) }

// SessionKey returns the key of a task's nth session.
func SessionKey(task string, n int) string { return task + "." + strconv.Itoa(n) }

var keyRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z][a-z0-9]{0,15})-([1-9][0-9]{0,8})(?:\.([1-9][0-9]{0,5}))?$`)
})

// ParseKey splits a task or session key. For a task's key, session is 0.
func ParseKey(s string) (prefix string, task, session int, err error) {
	m := keyRE().FindStringSubmatch(s)
	if m == nil {
		return "", 0, 0, Errorf(EInvalid, "%s is not a valid key of a task or session", Quote(s)).WithFix("write a key as `coppice list` shows it, such as app-12 or app-12.2")
	}
	task, _ = strconv.Atoi(m[2])
	if m[3] != "" {
		session, _ = strconv.Atoi(m[3])
	}
	return m[1], task, session, nil
}
