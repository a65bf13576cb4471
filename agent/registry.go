package agent

import (
	"fmt"
	"slices"
	"strings"

	"coppice"
)

// Registry finds protocols by the names profiles use. It does not change once
// made and is safe for concurrent use.
type Registry struct {
	byName map[string]Protocol
	names  []string
}

// NewRegistry holds the protocols given. Two of one name are a mistake of the
// program, and it panics.
func NewRegistry(protocols ...Protocol) *Registry {
	r := &Registry{byName: make(map[string]Protocol, len(protocols))}
	for _, p := range protocols {
		if _, taken := r.byName[p.Name()]; taken {
			panic(fmt.Sprintf("agent: two protocols are called %q", p.Name()))
		}
		r.byName[p.Name()] = p
		r.names = append(r.names, p.Name())
	}
	slices.Sort(r.names)
	return r
}

// Names lists the protocols, sorted.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Get returns the protocol of that name.
func (r *Registry) Get(name string) (Protocol, error) {
	p, ok := r.byName[name]
	if !ok {
		return nil, coppice.Errorf(coppice.EInvalid, "there is no agent protocol %s", coppice.Quote(name)).
			WithFix("use one of: %s", strings.Join(r.names, ", ")).WithField("protocol")
	}
	return p, nil
}
