package flow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Place says in words what the key of a step means.
type Place struct {
	Group string // what it shares with other steps, such as Cycle 3 or Loop 1, round 2; empty if nothing
	Name  string // its name in the group, such as review-2
	Phase string // the kind of work, such as review, round or item
	Side  int    // the side that made a statement in a round of a debate, from 1; otherwise 0
}

// counted has the parts of keys that are a letter with a number, or a number alone: the
// phase, and how people count. Rounds are counted from 0.
var counted = map[string]struct {
	name string
	add  int
}{"c": {"cycle", 0}, "l": {"loop", 0}, "r": {"round", 1}, "": {"item", 0}}

// PlaceOf reads the key of a step of any kind of flow.
func PlaceOf(key string) Place {
	p := Place{Name: key, Phase: key}
	parts := strings.Split(key, "/")
	var group []string
	for n, part := range parts {
		letter := strings.TrimRight(part, "0123456789")
		c, ok := counted[letter]
		number, err := strconv.Atoi(part[len(letter):])
		if !ok || err != nil {
			p.Name = strings.Join(parts[n:], "/")
			if p.Side = 0; p.Phase == counted["r"].name && n == len(parts)-1 {
				p.Side = slices.Index(sides[:], part) + 1
			}
			if p.Side == 0 {
				p.Phase = strings.TrimRight(part, "-0123456789")
			}
			break
		}
		p.Phase, p.Name = c.name, part
		if n < len(parts)-1 {
			group = append(group, fmt.Sprintf("%s %d", c.name, number+c.add))
		}
	}
	if p.Group = strings.Join(group, ", "); p.Group != "" {
		p.Group = strings.ToUpper(p.Group[:1]) + p.Group[1:]
	}
	return p
}

// Round is a round of a debate. Tasks has the key of the task of the newest statement
// of each side; empty if the side has made none.
type Round struct {
	Name  string
	Tasks []string
}

// Rounds returns the rounds of the debates of a flow, in the order in which they
// started.
func Rounds(v View) (list []Round) {
	for _, s := range v.Steps {
		p := PlaceOf(s.Key)
		if p.Side == 0 {
			continue
		}
		n := slices.IndexFunc(list, func(r Round) bool { return r.Name == p.Group })
		if n < 0 {
			n, list = len(list), append(list, Round{p.Group, make([]string, len(sides))})
		}
		list[n].Tasks[p.Side-1] = s.Task
	}
	return list
}
