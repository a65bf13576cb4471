package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coppice"
	"coppice/internal/nearest"
)

// usage is an error in how a command was called.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

func wrongUse(cause, fix string) error {
	return usage{&coppice.Error{Code: coppice.EInvalid, Cause: cause, Fix: fix}}
}

// PrintError prints the cause, then the fix.
func PrintError(env Env, err error) {
	var e *coppice.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(env.Stderr, "coppice: %s\n", Clean(err.Error()))
		return
	}
	cause := e.Cause
	if e.Field != "" && !strings.Contains(cause, e.Field) {
		cause = e.Field + ": " + cause
	}
	fmt.Fprintf(env.Stderr, "coppice: %s\n", Clean(cause))
	if e.Fix != "" {
		fmt.Fprintf(env.Stderr, "→ %s\n", Clean(e.Fix))
	}
}

// jsonError is an error for programs.
type jsonError struct {
	Code    coppice.Code `json:"code"`
	Message string       `json:"message"`
	Fix     string       `json:"fix,omitempty"`
	Field   string       `json:"field,omitempty"`
}

func errorForJSON(err error) jsonError {
	var e *coppice.Error
	if !errors.As(err, &e) {
		return jsonError{Code: coppice.EInternal, Message: err.Error()}
	}
	return jsonError{Code: e.Code, Message: e.Cause, Fix: e.Fix, Field: e.Field}
}

// printErrorJSON prints an error for programs, on stderr.
func printErrorJSON(env Env, err error) {
	out := env
	out.Stdout = env.Stderr
	_ = out.json(map[string]jsonError{"error": errorForJSON(err)}) // there is no other place to report to
}

// wantsJSON reports whether a command was called with --json. If its flags could
// not be parsed, the arguments decide.
func wantsJSON(c *cobra.Command, args []string) bool {
	if on, err := c.Flags().GetBool("json"); err == nil && on {
		return true
	}
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// Errors of cobra, which has no types for them.
var (
	noCommand = regexp.MustCompile(`^unknown command "(.*)" for "`)
	badNumber = regexp.MustCompile(`^(accepts|requires) .* arg\(s\)`)
	badFlags  = regexp.MustCompile(`^if any flags in the group .* \[(.*)\] were all set$`)
)

// explainUse adds a fix to an error of the command line's parser.
func explainUse(c *cobra.Command, err error) error {
	var known *coppice.Error
	var flag *pflag.NotExistError
	see := "see " + c.CommandPath() + " --help"
	if errors.As(err, &known) {
		return usage{known}
	}
	if errors.As(err, &flag) {
		return unknownFlag(c, flag)
	}
	if m := noCommand.FindStringSubmatch(err.Error()); m != nil {
		return unknownCommand(c, m[1])
	}
	if badNumber.MatchString(err.Error()) {
		_, arguments, _ := strings.Cut(c.Use, " ")
		return wrongUse(fmt.Sprintf("%s needs %s", c.CommandPath(), arguments), see)
	}
	if m := badFlags.FindStringSubmatch(err.Error()); m != nil {
		return wrongUse("--"+strings.Join(strings.Fields(m[1]), " and --")+" cannot be used together", see)
	}
	return wrongUse(err.Error(), see)
}

// unknownFlag names the flag that was probably meant.
func unknownFlag(c *cobra.Command, flag *pflag.NotExistError) error {
	name, see := flag.GetSpecifiedName(), "see "+c.CommandPath()+" --help"
	if flag.GetSpecifiedShortnames() != "" {
		return wrongUse(fmt.Sprintf("%s has no flag -%s", c.CommandPath(), name), see)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := nearest.Name(name, names); near != "" {
		see = "did you mean --" + near + "? Otherwise " + see
	}
	return wrongUse(fmt.Sprintf("%s has no flag --%s", c.CommandPath(), name), see)
}

// unknownCommand names the command that was probably meant.
func unknownCommand(c *cobra.Command, name string) error {
	see := "see " + c.CommandPath() + " --help"
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if near := nearest.Name(name, names); near != "" {
		see = "did you mean " + c.CommandPath() + " " + near + "? Otherwise " + see
	}
	return wrongUse(fmt.Sprintf("%s has no command %s", c.CommandPath(), coppice.Quote(name)), see)
}

// noJSON makes a command that has no JSON output say so.
func noJSON(c *cobra.Command) {
	c.Flags().Bool("json", false, "")
	_ = c.Flags().MarkHidden("json") // it exists
	run := c.RunE
	c.RunE = func(c *cobra.Command, given []string) error {
		if on, err := c.Flags().GetBool("json"); err == nil && on {
			fix := "leave out --json"
			if instead := c.Annotations[insteadOfJSON]; instead != "" {
				fix = instead
			}
			return wrongUse(c.CommandPath()+" has no JSON output", fix)
		}
		return run(c, given)
	}
}

// insteadOfJSON is the annotation of a command without JSON output that says
// which command has it.
const insteadOfJSON = "instead-of-json"

// InsteadOfJSON says what to use instead of --json for a command without JSON
// output.
func InsteadOfJSON(text string) map[string]string { return map[string]string{insteadOfJSON: text} }
