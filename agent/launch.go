package agent

import (
	"maps"
	"slices"
	"strings"

	"coppice"
)

// The names that stand for a value in a profile's arguments.
const (
	SlotPromptFile   = "{prompt_file}"
	SlotConversation = "{conversation}"
	SlotModel        = "{model}"
)

// LaunchProfile makes the Launch that a profile describes: its command, its
// arguments, those that choose the model and those that continue a
// conversation, each only where the request has one. A profile without
// arguments for a model or a conversation is started without: the prompt of a
// follow-up stands on its own.
func LaunchProfile(p coppice.Profile, r Request) (Launch, error) {
	if len(p.Command) == 0 || p.Command[0] == "" {
		return Launch{}, coppice.Errorf(coppice.EInvalid, "the agent's profile has no command").
			WithFix("name the program under agents.<name>.command in coppice.yaml")
	}
	file := strings.NewReplacer(SlotPromptFile, r.PromptFile)
	argv := slices.Clone(p.Command)
	for _, a := range p.Args {
		argv = append(argv, file.Replace(a))
	}
	if r.Model != "" {
		if err := coppice.ValidModel(r.Model); err != nil {
			return Launch{}, err
		}
		argv = fill(argv, p.Model, SlotModel, r.Model)
	}
	if r.Resume != "" {
		if err := coppice.ValidName("conversation", r.Resume); err != nil {
			return Launch{}, err
		}
		argv = fill(argv, p.Resume, SlotConversation, r.Resume)
	}
	return Launch{Argv: argv, Env: maps.Clone(p.Env)}, nil
}

func fill(argv, args []string, slot, value string) []string {
	for _, a := range args {
		argv = append(argv, strings.ReplaceAll(a, slot, value))
	}
	return argv
}
