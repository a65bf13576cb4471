package profiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
	"coppice/agent"
)

var (
	slotRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[a-z_]+\}`) })
	envRE  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
	passRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`) })
)

// sizes are the kinds of work for which a profile can have a model.
var sizes = []string{"simple", "medium", "complex"}

const mostScore = 10

// refuse makes the error about a field of the profile.
type refuse func(field, fix, format string, args ...any) error

// Validate checks a profile, but not whether its protocol exists: only callers
// with the protocols can.
func Validate(name string, p coppice.Profile) error {
	bad := func(field, fix, format string, args ...any) error {
		return coppice.Errorf(coppice.EInvalid, format, args...).WithFix("%s", fix).WithField("agents." + name + "." + field)
	}
	if err := coppice.ValidName("agent", name); err != nil {
		return err
	}
	switch {
	case p.Protocol == "":
		return bad("protocol", "name the protocol by which Coppice talks to it", "the agent has no protocol")
	case len(p.Command) == 0 || p.Command[0] == "":
		return bad("command", "name its program", "the agent has no command")
	case p.Prompt != "" && p.Prompt != "stdin" && p.Prompt != "file":
		return bad("prompt", "use stdin or file", "%s is not a valid value for prompt", coppice.Quote(p.Prompt))
	case p.Prompt == "file" && !hasSlot(p.Args, agent.SlotPromptFile):
		return bad("args", "write "+agent.SlotPromptFile+" where the file's path belongs", "the prompt is passed in a file, but no argument names the file")
	}
	for _, check := range []func(coppice.Profile, refuse) error{validArgs, validEnv, validLogin, validModels, validScreen, validDriver} {
		if err := check(p, bad); err != nil {
			return err
		}
	}
	return nil
}

// validArgs checks that every argument has only placeholders that are filled
// there.
func validArgs(p coppice.Profile, bad refuse) error {
	for _, f := range []struct {
		field string
		args  []string
		may   string // slots, separated by spaces
	}{
		{"command", p.Command, SlotSelf}, {"args", p.Args, agent.SlotPromptFile}, {"model", p.Model, agent.SlotModel},
		{"resume", p.Resume, agent.SlotConversation}, {"fork", p.Fork, agent.SlotConversation},
		{"effort", p.Effort, agent.SlotEffort}, {"budget", p.Budget, agent.SlotUSD},
		{"schema", p.Schema, agent.SlotSchema + " " + agent.SlotSchemaFile},
		{"version", p.Version, SlotSelf}, {"login", p.Login, SlotSelf},
		{"screen.command", p.Screen.Command, SlotSelf}, {"screen.args", p.Screen.Args, agent.SlotPromptFile},
		{"screen.resume", p.Screen.Resume, agent.SlotConversation},
	} {
		for _, a := range f.args {
			if strings.ContainsRune(a, 0) {
				return bad(f.field, "remove it", "an argument has a zero byte")
			}
			for _, slot := range slotRE().FindAllString(a, -1) {
				if may := strings.Fields(f.may); !slices.Contains(may, slot) {
					return bad(f.field, fmt.Sprintf("only %s has a meaning here", strings.Join(may, " or ")), "%s is unknown", slot)
				}
			}
		}
	}
	return nil
}

func validEnv(p coppice.Profile, bad refuse) error {
	for _, k := range slices.Sorted(maps.Keys(p.Env)) {
		if !envRE().MatchString(k) {
			return bad("env", "use letters, digits and underscores", "%s is not a valid name of a variable", coppice.Quote(k))
		}
	}
	for _, k := range p.PassEnv {
		if !passRE().MatchString(k) {
			return bad("pass_env", "write NAME or PREFIX_*", "%s is not a valid name of a variable", coppice.Quote(k))
		}
	}
	return nil
}

func validLogin(p coppice.Profile, bad refuse) error {
	for _, k := range p.LoginEnv {
		if !envRE().MatchString(k) {
			return bad("login_env", "write the name of one variable", "%s is not a valid name of a variable", coppice.Quote(k))
		}
	}
	for _, file := range p.LoginFiles {
		if !wholePath(file) {
			return bad("login_files", "write ~/… or the whole path", "%s is not a path from the home directory or the root", coppice.Quote(file))
		}
	}
	for _, file := range slices.Sorted(maps.Keys(p.LoginConfig)) {
		if !wholePath(file) {
			return bad("login_config", "write ~/… or the whole path", "%s is not a path from the home directory or the root", coppice.Quote(file))
		}
		if _, err := regexp.Compile("(?m)" + p.LoginConfig[file]); err != nil || p.LoginConfig[file] == "" {
			return bad("login_config", "write a regular expression", "%s is not a valid pattern", coppice.Quote(p.LoginConfig[file]))
		}
	}
	return nil
}

// wholePath reports whether a path starts at the home directory or the root.
func wholePath(file string) bool {
	return !strings.ContainsRune(file, 0) && (strings.HasPrefix(file, "~/") || filepath.IsAbs(file))
}

func validModels(p coppice.Profile, bad refuse) error {
	for _, size := range slices.Sorted(maps.Keys(p.Models)) {
		if !slices.Contains(sizes, size) {
			return bad("models", "use "+strings.Join(sizes, ", "), "%s is not a valid kind of work", coppice.Quote(size))
		}
		if err := coppice.ValidModel(p.Models[size]); err != nil {
			return err
		}
	}
	for _, level := range p.Efforts {
		if err := coppice.ValidName("effort", level); err != nil {
			return err
		}
	}
	for _, score := range []int{p.Scores.Lead, p.Scores.Implement} {
		if score < 0 || score > mostScore {
			return bad("scores", fmt.Sprintf("use 0 to %d", mostScore), "%d is not a valid score", score)
		}
	}
	return nil
}

func validScreen(p coppice.Profile, bad refuse) error {
	s := p.Screen
	if s.Runtime != "" && s.Runtime != "pty" && s.Runtime != "tmux" {
		return bad("screen.runtime", "use pty or tmux", "%s is not a valid value for screen.runtime", coppice.Quote(s.Runtime))
	}
	for _, r := range s.Rules {
		if _, err := regexp.Compile("(?m)" + r.Match); err != nil || r.Match == "" {
			return bad("screen.rules", "fix match", "%s is not a valid regular expression", coppice.Quote(r.Match))
		}
		switch r.State {
		case coppice.SessionWorking, coppice.SessionWaiting, coppice.SessionIdle:
		default:
			return bad("screen.rules", "write working, waiting or idle", "%s is not a valid state of a screen", coppice.Quote(string(r.State)))
		}
	}
	return nil
}

func validDriver(p coppice.Profile, bad refuse) error {
	d := p.Driver
	for _, f := range []struct {
		field, value string
		oneOf        []string
	}{
		{"driver.messages", d.Messages, coppice.DriverMessages}, {"driver.secrets", d.Secrets, coppice.DriverSecrets},
		{"driver.sandbox", d.Sandbox, coppice.DriverSandboxes},
	} {
		if f.value != "" && !slices.Contains(f.oneOf, f.value) {
			return bad(f.field, "use one of: "+strings.Join(f.oneOf, ", "), "%s is not a valid %s", coppice.Quote(f.value), f.field)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(merged(d.Files, d.AskEnv))) {
		if !envRE().MatchString(k) {
			return bad("driver", "use letters, digits and underscores", "%s is not a valid name of a variable", coppice.Quote(k))
		}
	}
	for _, err := range []error{ValidMeta(d.Meta), ValidRetryLog(d.RetryLog)} {
		var e *coppice.Error
		if errors.As(err, &e) {
			return bad("driver", e.Fix, "%s", e.Cause)
		}
	}
	return nil
}

// ValidMeta checks a text for driver.meta: a JSON object, or nothing.
func ValidMeta(text string) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); text != "" && (err != nil || object == nil) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a JSON object", coppice.Quote(text)).WithFix(`write it as '{"name": "value"}'`)
	}
	return nil
}

// ValidRetryLog checks a text for driver.retry_log: a regular expression with a
// group, or nothing.
func ValidRetryLog(text string) error {
	re, err := regexp.Compile(text)
	if text != "" && (err != nil || re.NumSubexp() == 0) {
		return coppice.Errorf(coppice.EInvalid, "%s is not a regular expression with a group", coppice.Quote(text)).
			WithFix("put the part that says why the service refused the agent in parentheses")
	}
	return nil
}

func hasSlot(args []string, slot string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, slot) })
}
