package http_test

import (
	"encoding/json"
	"reflect"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"coppice/api"
	apihttp "coppice/api/http"
)

// TestSchemas compares schemas that are made when they are needed with huma's own,
// which are made at once, in whatever order they are needed.
func TestSchemas(t *testing.T) {
	t.Parallel()
	types := []reflect.Type{
		reflect.TypeFor[api.Review](), reflect.TypeFor[*api.TaskDetail](), reflect.TypeFor[[]api.Task](), reflect.TypeFor[api.Hunk](), reflect.TypeFor[struct{ A api.Place }](),
	}
	fill := func(r huma.Registry) (out []*huma.Schema) {
		for _, t := range types {
			out = append(out, r.Schema(t, true, "Hint"))
		}
		return out
	}
	want, got := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer), apihttp.NewSchemas()
	if d := cmp.Diff(describe(t, fill(want)), describe(t, fill(got))); d != "" {
		t.Errorf("what the types are described by (-huma +ours):\n%s", d)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if s := got.SchemaFromRef("#/components/schemas/Review"); s == nil || s.Properties["files"] == nil {
				t.Error("a reference leads to no schema")
			}
		})
	}
	all.Wait()
	if got.TypeFromRef("#/components/schemas/TaskDetail") != reflect.TypeFor[api.TaskDetail]() || got.SchemaFromRef("#/components/schemas/None") != nil {
		t.Error("wrong types of references")
	}
	if d := cmp.Diff(describe(t, want.Map()), describe(t, got)); d != "" {
		t.Errorf("all schemas (-huma +ours):\n%s", d)
	}
	type Review struct{ Other int }
	defer func() {
		if recover() == nil {
			t.Error("two types with the same name are one")
		}
	}()
	got.Schema(reflect.TypeFor[Review](), true, "")
}

// describe returns a value as JSON has it.
func describe(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
