package setup

import (
	"bytes"
	"strings"
)

// manifest is the part of a package.json or composer.json that detection reads.
// Scripts are of any type: only their presence counts.
type manifest struct {
	Scripts         map[string]any `json:"scripts"`
	Dependencies    map[string]any `json:"dependencies"`
	DevDependencies map[string]any `json:"devDependencies"`
	PackageManager  any            `json:"packageManager"`
	Require         map[string]any `json:"require"`
	RequireDev      map[string]any `json:"require-dev"`
}

func (m manifest) depends(name string) bool {
	for _, set := range []map[string]any{m.Dependencies, m.DevDependencies, m.Require, m.RequireDev} {
		if _, ok := set[name]; ok {
			return true
		}
	}
	return false
}

// nodeManagers maps lock files to package managers.
var nodeManagers = []struct{ lock, name, run, exec string }{
	{"pnpm-lock.yaml", "pnpm", "pnpm run ", "pnpm exec"},
	{"yarn.lock", "yarn", "yarn run ", "yarn run"},
	{"bun.lock", "bun", "bun run ", "bunx"},
	{"bun.lockb", "bun", "bun run ", "bunx"},
	{"package-lock.json", "npm", "npm run ", "npx"},
	{"npm-shrinkwrap.json", "npm", "npm run ", "npx"},
}

// nodeFrameworks lists a framework before those that it is built on. Only the
// first one found is reported.
var nodeFrameworks = []struct{ dependency, name string }{
	{"next", "Next"}, {"nuxt", "Nuxt"}, {"@sveltejs/kit", "SvelteKit"}, {"vue", "Vue"}, {"react", "React"}, {"express", "Express"},
}

func node(r repo) []Finding {
	var m manifest
	if !r.isFile("package.json") {
		return nil
	}
	known := decode(r.read("package.json"), &m)
	f := Finding{Name: "Node (npm)", File: "package.json", Link: []string{"node_modules"}}
	run, exec := "npm run ", "npx"
	if name, _ := m.PackageManager.(string); name != "" {
		name, _, _ = strings.Cut(name, "@")
		for _, p := range nodeManagers {
			if p.name == name {
				f.Name, run, exec = "Node ("+p.name+")", p.run, p.exec
				break
			}
		}
	}
	for _, p := range nodeManagers {
		if r.isFile(p.lock) {
			f.Name, f.File, run, exec = "Node ("+p.name+")", p.lock, p.run, p.exec
			break
		}
	}
	if !known {
		return []Finding{f} // it cannot be read, so there is nothing to propose
	}
	for _, script := range []string{"lint", "test", "build"} {
		text, ok := m.Scripts[script].(string)
		// npm init writes a test that only prints that there is none.
		if ok && text != "" && !strings.Contains(text, "no test specified") {
			f.Checks = append(f.Checks, run+script)
		}
	}
	found := []Finding{f}
	for _, fw := range nodeFrameworks {
		if m.depends(fw.dependency) {
			return append([]Finding{{Name: fw.name, File: "package.json", Serve: served(fw.name, m, exec)}}, found...)
		}
	}
	return found
}

// php recognizes Laravel. Any other PHP project gets a test command only if its
// composer.json has one.
func php(r repo) []Finding {
	var m manifest
	if !decode(r.read("composer.json"), &m) {
		return nil
	}
	f := Finding{Name: "PHP", File: "composer.json", Link: []string{"vendor"}}
	if !m.depends("laravel/framework") && !r.isFile("artisan") {
		if _, ok := m.Scripts["test"]; ok {
			f.Checks = []string{"composer test"}
		}
		return []Finding{f}
	}
	f.Name = "Laravel"
	f.Checks = []string{"php artisan test"}
	f.Serve = "php artisan serve --host=127.0.0.1 --port=$COPPICE_PORT"
	found := []Finding{}
	if m.depends("inertiajs/inertia-laravel") {
		found = append(found, Finding{Name: "Inertia", File: "composer.json"})
	}
	if m.depends("laravel/sail") && r.first(composeFiles...) != "" {
		// PHP and the database run only in its containers.
		found = append(found, Finding{Name: "Sail", File: "composer.json", Inside: true, Docker: &Docker{Service: "laravel.test", Dir: "/var/www/html"}})
		f.Serve = ""
	}
	return append(found, f)
}

// pythonFrameworks are searched in the files that name dependencies.
var pythonFrameworks = []struct{ word, name string }{{"django", "Django"}, {"fastapi", "FastAPI"}, {"flask", "Flask"}}

func python(r repo) []Finding {
	file := r.first("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "tox.ini", "manage.py")
	if file == "" {
		return nil
	}
	var text []byte
	for _, name := range []string{"pyproject.toml", "requirements.txt", "requirements-dev.txt", "setup.py", "setup.cfg", "Pipfile"} {
		text = append(append(text, r.read(name)...), '\n')
	}
	f := Finding{Name: "Python", File: file, Link: []string{".venv", "venv"}}
	run := ""
	switch {
	case r.isFile("uv.lock"):
		f.Name, f.File, run = "Python (uv)", "uv.lock", "uv run "
	case r.isFile("poetry.lock") || bytes.Contains(text, []byte("[tool.poetry]")):
		f.Name, f.File, run = "Python (poetry)", pick(r.isFile("poetry.lock"), "poetry.lock", "pyproject.toml"), "poetry run "
	}
	var found []Finding
	for _, fw := range pythonFrameworks {
		if mentions(text, fw.word) || (fw.word == "django" && r.isFile("manage.py")) {
			found = append(found, Finding{Name: fw.name, File: file, Serve: pythonServe(r, fw.name, run)})
			break
		}
	}
	switch {
	case r.isFile("tox.ini"):
		f.Checks = []string{run + "tox"}
	case mentions(text, "pytest") || r.first("pytest.ini", "conftest.py", "tests/conftest.py") != "":
		f.Checks = []string{run + "pytest"}
	case len(found) > 0 && found[0].Name == "Django" && r.isFile("manage.py"):
		f.Checks = []string{run + "python manage.py test"}
	}
	return append(found, f)
}

// pythonServe returns the command that serves a Python framework's app, "" if
// unknown.
func pythonServe(r repo, framework, run string) string {
	switch {
	case framework == "Django" && r.isFile("manage.py"):
		return run + "python manage.py runserver 127.0.0.1:$COPPICE_PORT"
	case framework == "Flask":
		return run + "flask run --port $COPPICE_PORT"
	case framework == "FastAPI":
		for _, c := range []struct{ file, module string }{{"main.py", "main"}, {"app/main.py", "app.main"}, {"src/main.py", "src.main"}} {
			if r.isFile(c.file) {
				return run + "uvicorn " + c.module + ":app --port $COPPICE_PORT"
			}
		}
	}
	return ""
}

func ruby(r repo) []Finding {
	if !r.isFile("Gemfile") {
		return nil
	}
	text := r.read("Gemfile")
	f := Finding{Name: "Ruby", File: "Gemfile"}
	if r.has("vendor/bundle") {
		f.Link = []string{"vendor/bundle"}
	}
	rails := mentions(text, "rails") || r.isFile("bin/rails")
	switch {
	case mentions(text, "rspec") || mentions(text, "rspec-rails") || r.isFile(".rspec"):
		f.Checks = []string{"bundle exec rspec"}
	case rails:
		f.Checks = []string{"bin/rails test"}
	case r.isFile("Rakefile"):
		f.Checks = []string{"bundle exec rake"}
	}
	if rails {
		return []Finding{{Name: "Rails", File: "Gemfile", Serve: "bin/rails server --binding 127.0.0.1 --port $COPPICE_PORT"}, f}
	}
	return []Finding{f}
}
