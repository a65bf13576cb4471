package acp

import (
	"coppice"
	"coppice/agent"
)

// tried looks whether a line of stderr says that the model's service refused the
// agent and that the agent will retry (driver.retry_log). One that has met a limit
// is not waited for, and its turn ends: it may wait for hours, and the engine knows
// what else there is to do. What passes sooner is left to the agent.
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
