package acp

import (
	"regexp"

	"coppice"
	"coppice/agent"
)

// EnvTries is the variable by which a profile says how the agent tells on stderr
// that the model's service refused it and that it will try again: a regular
// expression, whose first group is the cause. An agent that has met a limit then
// is not waited for: it may wait for hours, and the engine knows what else there
// is to do. What passes sooner is left to the agent.
const EnvTries = "COPPICE_ACP_TRIES"

// triesOf is what EnvTries says, or nil.
func triesOf(p coppice.Profile) (*regexp.Regexp, error) {
	text := p.Env[EnvTries]
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil || re.NumSubexp() == 0 {
		return nil, coppice.Errorf(coppice.EInvalid, "%s in the agent's profile is no regular expression with a group: %s", EnvTries, coppice.Quote(text)).
			WithFix("mend it under env of the agent in coppice.yaml")
	}
	return re, nil
}

// tried looks whether a line of stderr tells of a limit, and ends the turn if it
// does.
func (d *driver) tried(line []byte) {
	if d.tries == nil || d.phase != turning || d.cancelling || d.Closed {
		return
	}
	m := d.tries.FindSubmatch(line)
	if len(m) < 2 {
		return
	}
	f := agent.Fail(agent.TextClass(agent.WithoutAddresses(string(m[1]))), agent.Text(m[1]))
	if f.Class == coppice.ClassRateLimit || f.Class == coppice.ClassBilling {
		d.limit = f
		d.cancel()
	}
}
