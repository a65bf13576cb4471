// Package price calculates what tokens cost, without I/O. The table of prices by
// model is part of the program. The configuration can add and replace prices.
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
	Vendor string // empty for a model of the configuration with an unknown vendor
	Price  coppice.Price
	Source string // the vendor's page of prices, or Configured
	Date   string // the day on which the source was read; empty for the configuration
	// Confirmed says that the price is certain: it is from a copy of the
	// vendor's own page, or from the configuration. A cost from any other price
	// is an estimate.
	Confirmed bool
}

// Configured is the source of a price from the configuration.
const Configured = "configuration"

// Table has the prices of models. The zero Table is empty.
type Table struct{ entries map[string]Entry }

// New returns the program's table with the prices of configurations. The last
// configuration that names a model counts.
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

// Of returns the price of a model. A price that is not confirmed is an estimate.
// So is the price of a model that is not in the table: the highest price of its
// vendor. If the vendor is unknown too, ok is false. The user can then add the
// price to the configuration.
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

// Add adds what an agent reports to its earlier usage. If it reports tokens and
// no cost, the table gives the cost of all tokens.
func (t Table) Add(model string, used, more coppice.Usage) coppice.Usage {
	if used.Priced && more.CostUSD > 0 {
		used.CostUSD, used.Priced, used.Estimated = 0, false, false // the agent reports its cost after all
	}
	return t.Cost(model, used.Add(more))
}

// Cost returns a usage with the cost from the table, unless its agent reported a
// cost.
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

// plain returns a model's name without the parts that say where it runs: the
// provider before a slash, the variant after a bracket or a colon.
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
