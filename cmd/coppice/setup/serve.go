package setup

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"coppice/features"
	"coppice/internal/safeyaml"
)

// ready is the address that answers when a served app is ready.
const ready = "http://127.0.0.1:${COPPICE_PORT}/"

// serving lists how the apps of a framework are served on a given port. RUN
// stands for the package manager's command to run an installed program.
var serving = []struct {
	name string
	when func(m manifest) bool // nil for always
	run  string
}{
	{"Next", nil, "RUN next dev --port $COPPICE_PORT"},
	{"Nuxt", nil, "RUN nuxt dev --port $COPPICE_PORT"},
	{"SvelteKit", nil, "RUN vite dev --port $COPPICE_PORT --strictPort"},
	{"Vue", depends("vite"), "RUN vite --port $COPPICE_PORT --strictPort"},
	{"Vue", depends("@vue/cli-service"), "RUN vue-cli-service serve --port $COPPICE_PORT"},
	{"React", depends("vite"), "RUN vite --port $COPPICE_PORT --strictPort"},
	{"React", depends("react-scripts"), "PORT=$COPPICE_PORT BROWSER=none RUN react-scripts start"},
	{"Express", script("dev"), "PORT=$COPPICE_PORT npm run dev"},
	{"Express", script("start"), "PORT=$COPPICE_PORT npm start"},
}

func depends(name string) func(manifest) bool {
	return func(m manifest) bool { return m.depends(name) }
}

func script(name string) func(manifest) bool {
	return func(m manifest) bool {
		text, ok := m.Scripts[name].(string)
		return ok && text != ""
	}
}

// served returns the command that serves a Node framework's app, "" if unknown.
func served(framework string, m manifest, run string) string {
	for _, s := range serving {
		if s.name == framework && (s.when == nil || s.when(m)) {
			return strings.Replace(s.run, "RUN", run, 1)
		}
	}
	return ""
}

// composeFiles are the names under which docker finds a compose file.
var composeFiles = []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}

// Docker is the compose service that mounts the repository.
type Docker struct {
	Service string `json:"service"`
	Dir     string `json:"dir"` // where the repository's root is mounted
}

// docker finds the service that mounts the repository's root: the project's
// commands can run only there.
func docker(r repo) []Finding {
	file := r.first(composeFiles...)
	if file == "" {
		return nil
	}
	var c struct {
		Services map[string]struct {
			Volumes []any `yaml:"volumes"`
		} `yaml:"services"`
	}
	text := r.read(file)
	if len(text) > 64<<10 || safeyaml.Unmarshal(text, &c) != nil {
		return nil // not a compose file
	}
	var names []string
	at := map[string]string{}
	for name, s := range c.Services {
		if dir := mounted(s.Volumes); dir != "" && serviceRE().MatchString(name) {
			names, at[name] = append(names, name), dir
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	best := names[0]
	for _, usual := range []string{"laravel.test", "app", "web", "php", "api", "backend"} {
		if slices.Contains(names, usual) {
			best = usual
			break
		}
	}
	return []Finding{{Name: "Compose", File: file, Docker: &Docker{Service: best, Dir: at[best]}}}
}

// mounted returns where a service mounts the repository's root, "" if it does
// not.
func mounted(volumes []any) string {
	for _, v := range volumes {
		switch v := v.(type) {
		case string:
			from, rest, _ := strings.Cut(v, ":")
			to, _, _ := strings.Cut(rest, ":")
			if path.Clean(from) == "." && path.IsAbs(to) && plainDir(to) {
				return path.Clean(to)
			}
		case map[string]any:
			from, _ := v["source"].(string)
			to, _ := v["target"].(string)
			if from != "" && path.Clean(from) == "." && path.IsAbs(to) && plainDir(to) {
				return path.Clean(to)
			}
		}
	}
	return ""
}

var (
	serviceRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })
	dirRE     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[A-Za-z0-9._/-]*$`) })
)

func plainDir(s string) bool { return len(s) < 200 && dirRE().MatchString(s) }

// featureList finds a features file.
func featureList(r repo) []Finding {
	const name = "features.json"
	text := r.read(name)
	if text == nil || len(text) >= maxRead {
		return nil
	}
	if _, err := features.Parse(name, text); err != nil {
		return nil // another file of that name, or a broken one
	}
	return []Finding{{Name: "a features list", File: name, Features: name}}
}
