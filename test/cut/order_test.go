//go:build linux

package cut

import (
	"slices"
	"strings"
	"testing"
)

const (
	commitID = "1111111111111111111111111111111111111111"
	blobID   = "2222222222222222222222222222222222222222"
)

// objectOps writes an object as git does, synced or not.
func objectOps(id string, synced bool) []Op {
	tmp := ".git/objects/" + id[:2] + "/tmp_obj_1"
	ops := []Op{{Kind: Create, Path: tmp}, {Kind: Write, Path: tmp, Data: []byte("x")}}
	if synced {
		ops = append(ops, Op{Kind: Sync, Path: tmp})
	}
	return append(ops, Op{Kind: Rename, Path: tmp, To: ".git/objects/" + id[:2] + "/" + id[2:]})
}

func refOps() []Op {
	lock := ".git/refs/heads/main.lock"
	return []Op{{Kind: Create, Path: lock}, {Kind: Write, Path: lock, Data: []byte(commitID)}, {Kind: Write, Path: lock, At: 40, Data: []byte("\n")},
		{Kind: Rename, Path: lock, To: ".git/refs/heads/main"}}
}

func TestUnsynced(t *testing.T) {
	t.Parallel()
	need := map[string]bool{commitID: true, blobID: true}
	for _, tt := range []struct {
		name string
		ops  []Op
		want []string
	}{
		{"all synced", slices.Concat(objectOps(blobID, true), objectOps(commitID, true), refOps()), nil},
		{"a blob is not", slices.Concat(objectOps(blobID, false), objectOps(commitID, true), refOps()), []string{blobID}},
		{"not needed", slices.Concat(objectOps(strings.Repeat("3", 40), false), refOps()), nil},
		{"all at once", slices.Concat(objectOps(blobID, false), objectOps(commitID, false), []Op{{Kind: Sync, Path: ".git/objects/bulk_fsync_1"}}, refOps()), nil},
		{"in another directory first", slices.Concat([]Op{{Kind: Create, Path: ".git/objects/incoming-1/22/x"}, {Kind: Write, Path: ".git/objects/incoming-1/22/x", Data: []byte("x")},
			{Kind: Rename, Path: ".git/objects/incoming-1/22/x", To: ".git/objects/22/" + blobID[2:]}}, refOps()), []string{blobID}},
		{"a pack", slices.Concat([]Op{{Kind: Create, Path: ".git/objects/pack/t"}, {Kind: Write, Path: ".git/objects/pack/t", Data: []byte("x")},
			{Kind: Link, Path: ".git/objects/pack/t", To: ".git/objects/pack/pack-1.pack"}}, refOps()), []string{".git/objects/pack/pack-1.pack"}},
	} {
		r := &Recording{Ops: tt.ops}
		refs := r.Refs()
		if len(refs) != 1 || refs[0] != (Ref{N: len(tt.ops), Path: ".git/refs/heads/main", ID: commitID}) {
			t.Fatalf("%s: %+v", tt.name, refs)
		}
		if got := r.Unsynced(refs[0].N, "", need); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestDurable(t *testing.T) {
	t.Parallel()
	record := func(synced bool) []Op {
		ops := []Op{{Kind: Create, Path: "state/r/.new"}, {Kind: Write, Path: "state/r/.new", Data: []byte("{}")}}
		if synced {
			ops = append(ops, Op{Kind: Sync, Path: "state/r/.new"})
		}
		return append(ops, Op{Kind: Rename, Path: "state/r/.new", To: "state/r/move.json"})
	}
	for _, tt := range []struct {
		name           string
		ops            []Op
		durable, first int
	}{
		{"before", slices.Concat(record(true), refOps()), 4, 5},
		{"after", slices.Concat(refOps(), record(true)), 8, 1},
		{"never synced", slices.Concat(record(false), refOps()), 0, 4},
		{"none", refOps(), 0, 1},
		{"what is only read", slices.Concat([]Op{{Kind: Copy, Path: ".git/index", To: "state/index"}, {Kind: Sync, Path: ".git/index"}}, refOps()), 0, 3},
	} {
		r := &Recording{Ops: tt.ops}
		if d, f := r.Durable("state/*/move.json"), r.FirstBelow(".git"); d != tt.durable || f != tt.first {
			t.Errorf("%s: durable at %d, first write at %d, want %d and %d", tt.name, d, f, tt.durable, tt.first)
		}
	}
}
