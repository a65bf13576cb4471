package acp

import (
	"coppice"
	"coppice/agent"
)

// checkRetry checks whether a line of stderr reports that the model's service
// refused the agent and that the agent will retry (driver.retry_log). If it is
// a limit, the driver ends the turn: the agent might wait for hours, and the
// engine can do something else. The agent handles shorter failures itself.
func (d *driver) checkRetry(line []byte) {
	if d.retryLog == nil || d.phase != turning || d.cancelling || d.Closed {
		return
	}
	m := d.retryLog.FindSubmatch(line)
	if len(m) < 2 {
		return
	}
	f := agent.Fail(agent.TextClass(agent.WithoutAddresses(string(m[1]))), agent.Text(m[1]))
	if f.Class == coppice.ClassRateLimit || f.Class == coppice.ClassBilling {
		d.limit = f
		d.cancel()
	}
}
