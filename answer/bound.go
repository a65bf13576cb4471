package answer

import (
	"encoding/json"
	"fmt"
	"strings"
)

// mostParts limits the number of schemas in a schema with all references
// expanded. It also limits the cost of validating each value of an answer.
const mostParts = 2000

// bound refuses a schema whose validation could take very long, or never end:
// one that refers to itself, or is very large with its references expanded. The
// validator follows references without a limit.
func bound(raw json.RawMessage) error {
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return err
	}
	b := bounds{root: root, parts: map[string]int{}, open: map[string]bool{}}
	n, err := b.count(root, true)
	if err == nil && n > mostParts {
		err = errLarge
	}
	return err
}

var errLarge = fmt.Errorf("it has more than %d parts", mostParts)

type bounds struct {
	root  any
	parts map[string]int  // by reference
	open  map[string]bool // the references on the path to here
}

// count returns the number of objects in a part of the schema, with references
// expanded.
func (b bounds) count(part any, top bool) (int, error) {
	sum := 0
	add := func(v any) error {
		n, err := b.count(v, false)
		if sum += n; err == nil && sum > mostParts {
			err = errLarge
		}
		return err
	}
	switch p := part.(type) {
	case []any:
		for _, v := range p {
			if err := add(v); err != nil {
				return 0, err
			}
		}
	case map[string]any:
		sum++
		for key, v := range p {
			switch {
			case key == "$dynamicRef", key == "$recursiveRef", key == "$id" && !top:
				return 0, fmt.Errorf("%s is not supported", key)
			case key == "enum", key == "const", key == "default", key == "examples", key == "$defs", key == "definitions":
				continue // values, and parts that count where they are referred to
			}
			if err := add(v); err != nil {
				return 0, err
			}
		}
		if ref, ok := p["$ref"].(string); ok {
			n, err := b.follow(ref)
			return min(sum+n, mostParts+1), err
		}
	}
	return sum, nil
}

// follow counts the objects behind a reference.
func (b bounds) follow(ref string) (int, error) {
	if b.open[ref] {
		return 0, fmt.Errorf("the $ref %s leads back to itself", ref)
	}
	if n, known := b.parts[ref]; known {
		return n, nil
	}
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return 0, fmt.Errorf("the $ref %s does not lead to a part of the same schema, such as #/$defs/name", ref)
	}
	at := b.root
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		object, _ := at.(map[string]any)
		if at, ok = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]; !ok {
			return 0, fmt.Errorf("the $ref %s leads nowhere", ref)
		}
	}
	b.open[ref] = true
	n, err := b.count(at, pointer == "")
	delete(b.open, ref)
	b.parts[ref] = n
	return n, err
}
