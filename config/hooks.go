package config

import (
	"time"

	"github.com/goccy/go-yaml/ast"

	"coppice"
)

// hooks checks how many hooks each event has, how long each can run, and that only
// events that come before something block it.
func (d *decoder) hooks(all coppice.Hooks) error {
	return d.eachAt("hooks", func(name string, e *ast.MappingValueNode) error {
		event, list := coppice.HookEvent(name), e.Value
		seq, ok := list.(*ast.SequenceNode)
		if !ok {
			return nil // an event without a value
		}
		if len(seq.Values) > coppice.MaxHooks {
			return d.fail(seq.Values[coppice.MaxHooks], "%s has more than %d hooks", name, coppice.MaxHooks).
				WithFix("call several commands from one script")
		}
		for i, h := range all[event] {
			n := seq.Values[i]
			if h.Timeout > coppice.MaxHookTimeout {
				return d.fail(n, "a hook of %s can run for %s, and the limit is %s", name, h.Timeout.D(), coppice.MaxHookTimeout.D().Round(time.Minute)).
					WithFix("use a timeout of at most 10m, or let the command start the long work elsewhere")
			}
			if h.OnFailure == coppice.HookBlock && !event.Blocks() {
				return d.fail(n, "a hook of %s cannot block: it runs after the event", name).
					WithFix("use on_failure: warn, or the event %s", coppice.HookBeforeLand)
			}
		}
		return nil
	})
}
