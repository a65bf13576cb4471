// Package secret resolves secrets. Configuration names a secret, as in
// ${secret:TRACKER_TOKEN}, and never contains one. Where the value comes from is
// in the user's own configuration: a variable of the environment, a file that
// only its owner can read, a command, or the keyring of the desktop.
//
// A value is resolved when it is needed, in the process that needs it, and is
// written nowhere. The Resolver adds each value to its Redactor before it returns
// the value, so everything that uses the same Redactor hides it.
package secret

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"coppice"
	"coppice/internal/redact"
)

const (
	// MaxName is how long a name can be.
	MaxName = 64
	// MinValue is the minimum length of the longest line of a value. Hiding a
	// shorter value would hide ordinary words.
	MinValue = 8
	// MaxValue is how long a value can be, in bytes.
	MaxValue = 16 << 10
)

// Source says where a secret comes from. Exactly one field is set.
type Source struct {
	Env     string   `json:"env,omitempty" yaml:"env"`         // a variable of Coppice's own environment
	File    string   `json:"file,omitempty" yaml:"file"`       // a path; ~/ is the home directory, a relative one is below the user's configuration
	Command []string `json:"command,omitempty" yaml:"command"` // a program and its arguments; it prints the value
	Keyring string   `json:"keyring,omitempty" yaml:"keyring"` // the name of an entry in the keyring
}

// The kinds of source, as they are written in the configuration.
const (
	KindEnv     = "env"
	KindFile    = "file"
	KindCommand = "command"
	KindKeyring = "keyring"
)

// kind returns the kind of the source, and whether exactly one is set.
func (s Source) kind() (found kind, ok bool) {
	for _, k := range kinds {
		if k.text(s) != "" {
			if ok {
				return kind{}, false
			}
			found, ok = k, true
		}
	}
	return found, ok
}

// Kind returns the kind of the source, or "" when not exactly one is set.
func (s Source) Kind() string {
	k, _ := s.kind()
	return k.name
}

// String describes the source on one line.
func (s Source) String() string {
	k, ok := s.kind()
	if !ok {
		return "nowhere"
	}
	return k.name + " " + k.text(s)
}

var nameRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`) })

// NamePattern is the pattern of a name, for schemas.
const NamePattern = `^[A-Za-z][A-Za-z0-9_]*$`

// ValidName checks the name of a secret.
func ValidName(s string) error {
	if len(s) > MaxName || !nameRE().MatchString(s) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a valid name of a secret", coppice.Quote(s)).
			WithFix("use up to %d letters, digits and underscores, and begin with a letter", MaxName)
	}
	return nil
}

// CheckValue checks a value: text of a bounded size that can be hidden. The error
// never contains the value.
func CheckValue(name, value string) error {
	bad := func(code coppice.Code, why, fix string) error {
		return coppice.Errorf(code, "the value of the secret %s %s", name, why).WithFix("%s", fix)
	}
	if value == "" {
		return bad(coppice.EInvalid, "is empty", "store a value: coppice secret set "+name)
	}
	if len(value) > MaxValue {
		return bad(coppice.ETooLarge, "is longer than 16 KiB", "store the token or key alone")
	}
	control := func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f }
	if !utf8.ValidString(value) || strings.ContainsFunc(value, control) {
		return bad(coppice.EInvalid, "is not text", "store it as text, for example in base64")
	}
	longest := 0
	for line := range strings.Lines(value) {
		longest = max(longest, len(strings.TrimSpace(line)))
	}
	switch {
	case longest < MinValue:
		return bad(coppice.EInvalid, "is shorter than 8 bytes, so Coppice could not hide it in output without hiding ordinary words", "use a longer value")
	case longest > redact.MaxValue:
		return bad(coppice.ETooLarge, "has a line of more than 4 KiB, which Coppice could not hide in every output", "store the token or key alone")
	}
	return nil
}

// reference matches ${secret:NAME}, and what was meant to be one.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{secret:([^}]*)\}?`) })

// Mark begins every reference to a secret.
const Mark = "${secret:"

// CheckText checks the references in a text.
func CheckText(s string) error {
	for _, m := range reference().FindAllStringSubmatch(s, -1) {
		if err := ValidName(m[1]); err != nil {
			return err
		}
		if !strings.HasSuffix(m[0], "}") {
			return coppice.Errorf(coppice.EInvalid, "the reference to the secret %s has no end", m[1]).WithFix("write ${secret:%s}", m[1])
		}
	}
	return nil
}

// Fill returns a text with each reference replaced by the value that resolve returns.
func Fill(s string, resolve func(name string) (string, error)) (string, error) {
	var failed error
	filled := reference().ReplaceAllStringFunc(s, func(ref string) string {
		if failed != nil {
			return ""
		}
		var value string
		value, failed = resolve(strings.TrimSuffix(strings.TrimPrefix(ref, Mark), "}"))
		return value
	})
	if failed != nil {
		return "", failed
	}
	return filled, nil
}

// Names returns the names of the secrets that tool servers refer to, sorted.
func Names(servers map[string]coppice.MCPServer) []string {
	names := map[string]bool{}
	Replace(servers, func(name string) string {
		names[name] = true
		return ""
	})
	return slices.Sorted(maps.Keys(names))
}

// Used returns the names of the secrets that a project names, sorted: those of its
// tool servers and of its forge.
func Used(p coppice.Policy) []string {
	names := append(Names(p.MCP), p.Forge.Token, p.Forge.Webhook)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == "" })
}

// OfNotifier returns the names of the secrets that a notifier names, sorted.
func OfNotifier(n coppice.Notifier) (names []string) {
	for _, text := range append([]string{n.URL, n.From, n.User}, n.To...) {
		_, _ = Fill(text, func(name string) (string, error) { // it only collects the names
			names = append(names, name)
			return "", nil
		})
	}
	if n.Token != "" {
		names = append(names, n.Token)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Replace returns the servers with each reference in their headers and variables
// replaced. Without references it returns them as they are.
func Replace(servers map[string]coppice.MCPServer, with func(name string) string) map[string]coppice.MCPServer {
	found := false
	fill := func(texts map[string]string) map[string]string {
		out := maps.Clone(texts)
		for k, v := range texts {
			out[k] = reference().ReplaceAllStringFunc(v, func(ref string) string {
				found = true
				return with(strings.TrimSuffix(strings.TrimPrefix(ref, Mark), "}"))
			})
		}
		return out
	}
	all := make(map[string]coppice.MCPServer, len(servers))
	for name, s := range servers {
		s.Headers, s.Env = fill(s.Headers), fill(s.Env)
		all[name] = s
	}
	if !found {
		return servers
	}
	return all
}
