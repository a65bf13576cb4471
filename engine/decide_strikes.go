package engine

import (
	"encoding/json"
	"fmt"
	"maps"

	"coppice"
)

// mostStrikes is how many environment failures in a row pause a track.
const mostStrikes = 2

// strike asks the project to count an environment failure in the task's track.
func strike(v *View, fail coppice.Failure) coppice.Ask {
	return coppice.Ask{Subject: coppice.ProjectSubject(v.Project.ID), Verb: coppice.VerbStrike, Text: fail.Text, Args: coppice.Raw(inTrack{v.Task.Track})}
}

// worked asks the project to reset the strikes of the task's track, if it has
// any: a session worked there.
func worked(v *View) []coppice.Ask {
	if v.Project.Strikes[v.Task.Track] == 0 {
		return nil
	}
	return []coppice.Ask{{Subject: coppice.ProjectSubject(v.Project.ID), Verb: coppice.VerbWorked, Args: coppice.Raw(inTrack{v.Task.Track})}}
}

// inTrack is the argument of strike and worked.
type inTrack struct {
	Track string `json:"track"`
}

// strikes counts the environment failures in a row of a track, and pauses the
// track.
func strikes(v *ProjectView) *Decision {
	a := v.asked(coppice.VerbStrike, coppice.VerbWorked)
	if a == nil {
		return nil
	}
	var in inTrack
	if err := json.Unmarshal(a.Args, &in); err != nil {
		in.Track = "" // not a track of the project; the request is settled anyway
	}
	p := v.Project
	p.Strikes = clone(p.Strikes)
	d := &Decision{By: "strikes", Kind: coppice.EventProjectChanged, Project: &p, Asks: v.done(a)}
	if a.Verb == coppice.VerbWorked {
		delete(p.Strikes, in.Track)
		d.Reason = "a session worked in track " + in.Track
		return d
	}
	p.Strikes[in.Track]++
	n := p.Strikes[in.Track]
	d.Reason = fmt.Sprintf("environment failure %d in a row in track %s: %s", n, in.Track, a.Text)
	if n >= mostStrikes {
		if _, paused := p.PausedTracks[in.Track]; !paused {
			d.Data = coppice.PauseChange{Paused: true, Track: in.Track}
		}
		p.PausedTracks = clone(p.PausedTracks)
		p.PausedTracks[in.Track] = fmt.Sprintf("%d environment failures in a row, the last: %s", n, a.Text)
	}
	return d
}

// clone copies a map. A nil map becomes an empty one.
func clone[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}
