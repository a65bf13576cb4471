// Package price says what tokens cost. It is pure: the table of prices, per
// model, is part of the program, and the configuration adds to it and replaces
// what it names.
//
//	t := price.New(user.Prices, project.Policy.Prices)
//	session.Usage = t.Add(session.Model, session.Usage, reported)
package price

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice"
)

// Entry is one line of the table.
type Entry struct {
	Model  string
	Vendor string // empty for a model of the configuration whose vendor is not known
	Price  coppice.Price
	Source string // the vendor's page for prices, or Configured
	Date   string // on which the evidence was read; empty for one of the configuration
	// Confirmed says that the price is certain: a copy of the vendor's own page has
	// it, or the configuration. A cost that follows from any other is an estimate.
	Confirmed bool
}

// Configured is the source of a price that the configuration names.
const Configured = "configuration"

// Table is what models cost. The zero Table knows no model.
type Table struct{ entries map[string]Entry }

// New makes the table that is part of the program, with the prices of
// configurations: the last one that names a model counts.
func New(own ...map[string]coppice.Price) Table {
	t := Table{entries: make(map[string]Entry, len(listed))}
	for _, l := range listed {
		p := coppice.Price{Input: l.input, Output: l.output, CacheRead: l.cacheRead, CacheWrite: l.cacheWrite}
		t.entries[l.model] = Entry{Model: l.model, Vendor: l.vendor, Price: p, Source: pages[l.vendor], Date: lookedUp, Confirmed: confirmed[l.model]}
	}
	for _, prices := range own {
		for model, p := range prices {
			t.entries[plain(model)] = Entry{Model: plain(model), Vendor: vendorOf(plain(model)), Price: p, Source: Configured, Confirmed: true}
		}
	}
	return t
}

// Entries lists the table by vendor and model.
func (t Table) Entries() []Entry {
	list := make([]Entry, 0, len(t.entries))
	for _, e := range t.entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int { return cmp.Or(cmp.Compare(a.Vendor, b.Vendor), cmp.Compare(a.Model, b.Model)) })
	return list
}

// Of returns what a model costs. A price that is not confirmed is an estimate. A
// model that is not in the table costs as much as the dearest of its vendor, which
// is an estimate, too. It is false when the vendor
// is not known either: whoever runs that model says what it costs in the
// configuration.
func (t Table) Of(model string) (p coppice.Price, estimated, ok bool) {
	name := plain(model)
	for _, n := range []string{name, dated().ReplaceAllString(name, "")} {
		if e, known := t.entries[n]; known {
			return e.Price, !e.Confirmed, true
		}
	}
	vendor := vendorOf(name)
	for _, e := range t.entries {
		if vendor != "" && e.Vendor == vendor && e.Source != Configured {
			ok = true
			p.Input, p.Output = max(p.Input, e.Price.Input), max(p.Output, e.Price.Output)
			p.CacheRead, p.CacheWrite = max(p.CacheRead, e.Price.CacheRead), max(p.CacheWrite, e.Price.CacheWrite)
		}
	}
	return p, ok, ok
}

// Add adds what an agent reports to what it has used before. Where it reports
// tokens and no cost, the cost of all of them follows from the table.
func (t Table) Add(model string, used, more coppice.Usage) coppice.Usage {
	if used.Priced && more.CostUSD > 0 {
		used.CostUSD, used.Priced, used.Estimated = 0, false, false // it reports its cost after all
	}
	return t.Cost(model, used.Add(more))
}

// Cost is a usage with the cost that follows from the table, unless its agent
// reported one.
func (t Table) Cost(model string, u coppice.Usage) coppice.Usage {
	if u.CostUSD != 0 && !u.Priced || u.InputTokens+u.OutputTokens+u.CacheRead+u.CacheWrite == 0 {
		return u
	}
	p, estimated, ok := t.Of(model)
	if !ok {
		return u
	}
	u.CostUSD, u.Priced, u.Estimated = p.Cost(u), true, estimated
	return u
}

// plain is a model's name without what only says where it runs: the provider
// before a slash, the variant after a bracket or a colon.
func plain(model string) string {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if i := strings.IndexAny(name, "[:@"); i > 0 {
		name = name[:i]
	}
	return name
}

// dated finds the date at the end of a model's name.
var dated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-(\d{8}|\d{4}-\d{2}-\d{2})$`) })

func vendorOf(name string) string {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p.prefix) {
			return p.vendor
		}
	}
	return ""
}
