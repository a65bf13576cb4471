package post

import "fmt"

// Service is where a vendor's model is asked, and by whom.
type Service struct {
	Address string
	Key     string
	Model   string
}

// FromEnv makes a Service of what the environment says under a vendor's name:
// NAME_API_KEY, and NAME_BASE_URL and NAME_SMALL_MODEL where they are set. Without
// a key there is none.
func FromEnv(getenv func(string) string, name, base, path, model string) (*Service, error) {
	s := &Service{Key: getenv(name + "_API_KEY"), Model: model}
	if s.Key == "" {
		return nil, nil
	}
	if m := getenv(name + "_SMALL_MODEL"); m != "" {
		s.Model = m
	}
	if b := getenv(name + "_BASE_URL"); b != "" {
		base = b
	}
	var err error
	if s.Address, err = Address(base, path); err != nil {
		return nil, fmt.Errorf("%s_BASE_URL is no address of a service", name)
	}
	return s, nil
}
