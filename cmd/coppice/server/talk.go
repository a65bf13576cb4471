package server

import (
	"slices"

	"coppice"
	"coppice/cmd/coppice/protocols"
	"coppice/control/tools"
)

// profileIn finds an agent's profile for a project.
func (s *Server) profileIn(p coppice.Project, name string) (coppice.Profile, error) {
	var own *coppice.Profile
	if o, ok := p.Policy.Agents[name]; ok {
		own = &o
	}
	return s.profile(name, own)
}

// screen returns an error unless a person can take over the agent's interactive
// screen.
func (s *Server) screen(p coppice.Project, name string) error {
	profile, err := s.profileIn(p, name)
	if err != nil {
		return err
	}
	if !profile.Screen.Set() {
		return coppice.Errorf(coppice.EConflict, "%s has no screen that a person can take over", name).
			WithFix("send it messages, or give its profile a screen under agents in coppice.yaml")
	}
	return nil
}

// terminal reports whether all sessions of an agent run on a terminal.
func (s *Server) terminal(p coppice.Project, name string) bool {
	profile, err := s.profileIn(p, name)
	return err == nil && profile.Protocol == "terminal"
}

// models returns the models that an agent's profile names by level of work.
func (s *Server) models(name string, own *coppice.Profile) map[string]string {
	profile, err := s.profile(name, own)
	if err != nil {
		return nil // the session reports the error
	}
	return profile.Models
}

// resumes reports whether an agent can resume a conversation that has ended.
func (s *Server) resumes(name string, own *coppice.Profile) bool {
	profile, err := s.profile(name, own)
	return err == nil && slices.Contains(protocols.Abilities(profile), protocols.CanResume)
}

// toolLines returns the tools of Coppice that sessions of an agent have in a role.
// lead means that they lead a goal.
func (s *Server) toolLines(name string, own *coppice.Profile, r coppice.Role, lead bool) []coppice.ToolLine {
	profile, err := s.profile(name, own)
	if err != nil || !slices.Contains(protocols.Abilities(profile), protocols.CanTools) {
		return nil
	}
	return tools.Lines(r, lead)
}
