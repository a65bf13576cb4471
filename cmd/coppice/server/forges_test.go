package server

import (
	"testing"

	"coppice"
)

// Every kind that the configuration accepts is part of the program.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, k := range coppice.ForgeKinds {
		if forges[k.Name] == nil {
			t.Errorf("the forge %s is missing", k.Name)
		}
	}
	for _, k := range coppice.TrackerKinds {
		if trackers[k.Name] == nil {
			t.Errorf("the tracker %s is missing", k.Name)
		}
	}
}
