package config

import (
	"encoding/json"
	"reflect"
)

// Schema returns the JSON Schema of coppice.yaml, for editors. It is generated
// from the types and the table that Parse uses. Parse is stricter where a
// schema cannot express a rule.
func Schema() []byte {
	return publish(project, File, "What Coppice does in this repository. Every key is optional.")
}

func publish(f form, title, about string) []byte {
	s := schemaOf(reflect.ValueOf(f.fresh()).Elem(), "", true)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"], s["description"] = title, about
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("config: encoding the schema: " + err.Error()) // made of maps and texts: a bug
	}
	return append(b, '\n')
}

type schema = map[string]any

// schemaOf describes the value of a key. v holds its default, which counts only
// if real is true.
func schemaOf(v reflect.Value, path string, real bool) schema {
	if v.Kind() == reflect.Pointer { // a key that can be absent
		v, real = reflect.New(v.Type().Elem()).Elem(), false
	}
	t, k := v.Type(), keys()[path]
	s := schema{}
	if k.doc != "" {
		s["description"] = k.doc
	}
	switch {
	case t == durationType:
		s["type"] = "string"
		s["pattern"] = `^([0-9]+d|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+|0)$`
	case t == percentType:
		s["anyOf"] = []schema{
			{"type": "string", "pattern": `^(100|[1-9][0-9]?)%?$`},
			{"type": "integer", "minimum": 1, "maximum": 100},
		}
	case t == usdType:
		s["anyOf"] = []schema{
			{"type": "string", "pattern": `^\$? *[0-9]+(\.[0-9]+)? *(USD)?$`},
			{"type": "number", "minimum": 0, "maximum": 1e6},
		}
	case t == bytesType:
		s["anyOf"] = []schema{
			{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)? *([kKmMgGtT]([iI]?[bB])?|[bB])?$`},
			{"type": "integer", "minimum": k.min << 20, "maximum": k.max << 20},
		}
	case t.Kind() == reflect.Struct:
		object(s, v, path, real)
		return s
	case t.Kind() == reflect.Map:
		s["type"] = "object"
		elem := schemaOf(reflect.New(t.Elem()).Elem(), path+".*", false)
		if k.names == nil {
			s["additionalProperties"] = elem
			if k.pattern != "" {
				s["propertyNames"] = schema{"pattern": k.pattern}
			}
			return s
		}
		props := schema{}
		for _, name := range k.names {
			props[name] = elem
		}
		s["properties"], s["additionalProperties"] = props, false
		return s
	case t.Kind() == reflect.Slice:
		items := schemaOf(reflect.New(t.Elem()).Elem(), path+"[]", false)
		if k.single {
			s["anyOf"] = []schema{items, {"type": "array", "items": items}}
			return s
		}
		s["type"], s["items"] = "array", items
	case t.Kind() == reflect.Int:
		s["type"], s["minimum"] = "integer", k.min
		if k.max > 0 {
			s["maximum"] = k.max
		}
	case t.Kind() == reflect.Bool:
		s["type"] = "boolean"
	default:
		s["type"] = "string"
		if k.oneOf != nil {
			s["enum"] = k.oneOf
		}
		if k.pattern != "" {
			s["pattern"] = k.pattern
		}
	}
	if real && !v.IsZero() {
		s["default"] = v.Interface()
	}
	return s
}

func object(s schema, v reflect.Value, path string, real bool) {
	props, required := schema{}, []string{}
	for f, fv := range v.Fields() {
		name := f.Tag.Get("yaml")
		if !isKey(f) {
			continue
		}
		props[name] = schemaOf(fv, join(path, name), real)
		if keys()[join(path, name)].required {
			required = append(required, name)
		}
	}
	s["type"], s["properties"], s["additionalProperties"] = "object", props, false
	if len(required) > 0 {
		s["required"] = required
	}
}
