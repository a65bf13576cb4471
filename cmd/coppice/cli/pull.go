package cli

import (
	"cmp"
	"fmt"
	"strings"

	"coppice"
)

// mostReactions limits the reactions that show lists.
const mostReactions = 5

// pullLine describes a pull request in one line.
func pullLine(p coppice.Pull) string {
	parts := []string{p.Mark().Word}
	if p.Number != 0 {
		parts = []string{p.Name(), parts[0]}
	}
	if ci := p.Report.CI; ci != coppice.CINone {
		parts = append(parts, "CI "+string(ci))
	}
	switch p.Report.Review {
	case coppice.ReviewApproved:
		parts = append(parts, "approved")
	case coppice.ReviewChanges:
		parts = append(parts, "changes requested")
	}
	if p.Report.Conflicts {
		parts = append(parts, "conflicts with "+p.Base)
	}
	if p.Failure != nil {
		parts = append(parts, p.Failure.Text)
	}
	line := strings.Join(parts, ", ")
	if p.URL != "" {
		line += "  " + p.URL
	}
	return coppice.Printable(line)
}

// reactionLine describes what followed an event in one line.
func reactionLine(r coppice.Reacted) string {
	return coppice.Printable(fmt.Sprintf("%s: %s → %s", r.Event, r.Text, cmp.Or(r.Why, r.Result, r.Do)))
}
