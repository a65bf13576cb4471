package coppice

import (
	"slices"
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	t.Parallel()
	got, err := Labels([]string{"ui", " api", "ui"})
	if err != nil || !slices.Equal(got, []string{"api", "ui"}) {
		t.Errorf("labels %v, %v", got, err)
	}
	var many []string
	for c := 'a'; c <= 'k'; c++ {
		many = append(many, string(c))
	}
	for _, bad := range [][]string{{""}, {"UI"}, {"a b"}, {"-a"}, {strings.Repeat("a", MaxLabel+1)}, {"a/b"}, many} {
		if got, err := Labels(bad); ErrorCode(err) != EInvalid {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
	for name, ok := range map[string]bool{"batch-1": true, "a": true, "12": false, "": false, "a b": false, "1.2": false} {
		if err := ValidGroup(name); (err == nil) != ok {
			t.Errorf("group %q: %v", name, err)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	flag, title := true, "t"
	for _, c := range []struct {
		change TaskChange
		want   bool
	}{{TaskChange{}, false}, {TaskChange{Flagged: &flag}, true}, {TaskChange{Labels: &[]string{}, Group: &title}, true}, {TaskChange{Flagged: &flag, Title: &title}, false}} {
		if got := c.change.Marks(); got != c.want {
			t.Errorf("%+v: %t", c.change, got)
		}
	}
}
