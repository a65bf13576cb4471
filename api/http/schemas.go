package http

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// schemaPrefix is the start of every reference to a schema.
const schemaPrefix = "#/components/schemas/"

// schemas makes the schema of a type when it is needed: to check a request, or
// for the OpenAPI description. Most types are those of responses, so most servers
// never need them. The schemas of all types together take more memory than
// everything else that a server at rest has.
type schemas struct {
	mu   sync.Mutex
	made huma.Registry
	due  map[string]reflect.Type // by name: what is referred to and not made yet
}

func newSchemas() *schemas {
	return &schemas{made: huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer), due: map[string]reflect.Type{}}
}

// Schema returns a reference to the schema of a named struct, where a reference
// is allowed, and the schema itself otherwise.
func (s *schemas) Schema(t reflect.Type, allowRef bool, hint string) *huma.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !allowRef || !byName(t) {
		return s.made.Schema(t, allowRef, hint)
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if other := s.typeOf(name); other != nil && other != bare(t) {
		panic(fmt.Sprintf("the types %s and %s have the same name in the API", other, t))
	}
	if s.made.TypeFromRef(schemaPrefix+name) == nil {
		s.due[name] = bare(t)
	}
	return &huma.Schema{Ref: schemaPrefix + name}
}

func (s *schemas) typeOf(name string) reflect.Type {
	if t := s.due[name]; t != nil {
		return t
	}
	return s.made.TypeFromRef(schemaPrefix + name)
}

// SchemaFromRef returns the schema that a reference is about.
func (s *schemas) SchemaFromRef(ref string) *huma.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.make(strings.TrimPrefix(ref, schemaPrefix))
	return s.made.SchemaFromRef(ref)
}

// make makes the schema of a type and of the types that it has.
func (s *schemas) make(name string) {
	if t, ok := s.due[name]; ok {
		delete(s.due, name)
		s.made.Schema(t, true, "")
	}
}

// TypeFromRef returns the type that a reference is about.
func (s *schemas) TypeFromRef(ref string) reflect.Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.typeOf(strings.TrimPrefix(ref, schemaPrefix))
}

// Map makes the schemas of all types.
func (s *schemas) Map() map[string]*huma.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.due {
		s.make(name)
	}
	return s.made.Map()
}

// MarshalJSON writes the schemas of all types.
func (s *schemas) MarshalJSON() ([]byte, error) { return json.Marshal(s.Map()) }

// RegisterTypeAlias makes alias the type that is described in place of t.
func (s *schemas) RegisterTypeAlias(t, alias reflect.Type) { s.made.RegisterTypeAlias(t, alias) }

var (
	ownSchema = reflect.TypeFor[huma.SchemaProvider]()
	asText    = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// byName reports whether the schema of a type is a component of the description:
// structs are, unless they have no name or are written as text.
func byName(t reflect.Type) bool {
	t = bare(t)
	p := reflect.PointerTo(t)
	return t.Kind() == reflect.Struct && t.Name() != "" && !p.Implements(ownSchema) && !p.Implements(asText)
}

func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
