package safeyaml

import (
	"testing"

	"github.com/goccy/go-yaml"
)

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	var v struct{ Cases []string }
	if err := Unmarshal([]byte("cases:  ! "), &v); err == nil {
		t.Error("a tag without a value is read")
	}
	if err := Unmarshal([]byte("cases: [a]\n"), &v, yaml.Strict()); err != nil || len(v.Cases) != 1 {
		t.Errorf("%v, %v", v, err)
	}
	if err := Unmarshal([]byte("other: 1\n"), &v, yaml.Strict()); err == nil {
		t.Error("an unknown key is taken")
	}
	if err := Unmarshal(nil, &v); err != nil {
		t.Errorf("nothing: %v", err)
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte("a: [1, {b: !x }]"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		var v struct {
			A []map[string]int
			B map[string][]string
		}
		_ = Unmarshal(b, &v) // whatever it is, it must not panic
	})
}
