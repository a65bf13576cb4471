package importer

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	_ "modernc.org/sqlite" // the driver

	"coppice"
)

// template is a saved text of the web orchestrator, or a list of tasks.
type template struct {
	Name    string   `json:"name"`
	Content string   `json:"content"`
	Model   string   `json:"model"`
	WorkDir string   `json:"work_dir"`
	Items   []string `json:"items"` // of a batch template
}

// Limits of templates.
const (
	mostTemplates = 1000
	mostTemplate  = 64 << 10 // bytes of a text
	templateDir   = ".coppice/templates/"
)

// takeTemplates imports the templates, or batch templates, that the web orchestrator
// serves as JSON.
func (t *taker) takeTemplates(path string) error {
	b, err := readWhole(path)
	if err != nil {
		return err
	}
	var list []template
	if err := json.Unmarshal(bytes.TrimPrefix(b, []byte("\uFEFF")), &list); err != nil || len(list) == 0 || len(list) > mostTemplates {
		return coppice.Errorf(coppice.EInvalid, "%s is not a list of templates, with a name and a content or items each", path).
			WithFix("save the answer of /api/templates or /api/batch-templates of the other orchestrator as a file; nothing was imported")
	}
	t.templates(list)
	return nil
}

// takeDatabase imports the templates of the web orchestrator's database.
func (t *taker) takeDatabase(path string) error {
	if st, err := os.Stat(path + "-wal"); err == nil && st.Size() > 0 {
		return coppice.Errorf(coppice.EConflict, "%s is in use: it has a file %s-wal with changes", path, filepath.Base(path)).
			WithFix("stop the other orchestrator first; or save the answer of its /api/templates as a file, and import that")
	}
	at := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "mode=ro&immutable=1"}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return err
	}
	defer db.Close() // nothing was written
	var list []template
	for _, q := range []string{
		"SELECT name, coalesce(content, ''), coalesce(model, ''), coalesce(work_dir, ''), '' FROM templates ORDER BY name LIMIT ?",
		"SELECT name, '', '', '', coalesce(items, '') FROM batch_templates ORDER BY name LIMIT ?",
	} {
		if some, err := readTemplates(db, q); err == nil {
			list = append(list, some...)
		} else if !strings.Contains(err.Error(), "no such table") {
			return coppice.Errorf(coppice.EInvalid, "the templates of %s cannot be read: %w", path, err).WithFix("save the answer of /api/templates of the other orchestrator as a file, and import that")
		}
	}
	if len(list) == 0 {
		return coppice.Errorf(coppice.ENotFound, "%s has no templates", path).WithFix("name the database of the other orchestrator, such as data/orchestrator.db")
	}
	t.templates(list)
	return nil
}

func readTemplates(db *sql.DB, query string) (list []template, err error) {
	rows, err := db.Query(query, mostTemplates)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // nothing was written
	for rows.Next() {
		var x template
		items := ""
		if err := rows.Scan(&x.Name, &x.Content, &x.Model, &x.WorkDir, &items); err != nil {
			return nil, err
		}
		if items != "" {
			if err := json.Unmarshal([]byte(items), &x.Items); err != nil {
				return nil, err
			}
		}
		list = append(list, x)
	}
	return list, rows.Err()
}

// templates imports each template as a file, with which coppice new creates tasks.
func (t *taker) templates(list []template) {
	for i, x := range list {
		key := fmt.Sprintf("templates[%d]", i)
		name := strings.ToLower(trackName(x.Name))
		size := len(x.Content)
		for _, item := range x.Items {
			size += len(item)
		}
		switch {
		case name == "":
			t.say(key, x.Name, Dropped, "", "it has no name with letters or digits")
			continue
		case size > mostTemplate || !utf8.ValidString(x.Content) || strings.ContainsRune(x.Content, 0):
			t.say(key, x.Name, Dropped, "", fmt.Sprintf("it is not a text of at most %d bytes", mostTemplate))
			continue
		case len(x.Items) > 0:
			to := templateDir + name + ".json"
			t.add(key, x.Name, to, tasksOf(x), Changed, "create its tasks with: coppice new --file "+to)
			continue
		case strings.TrimSpace(x.Content) == "":
			t.say(key, x.Name, Dropped, "", "it is empty")
			continue
		}
		to := templateDir + name + ".md"
		why := fmt.Sprintf("create a task with: coppice new TITLE --body-file %s", to)
		if coppice.ValidModel(x.Model) == nil {
			why += " --model " + x.Model
		}
		if x.WorkDir != "" && filepath.Clean(x.WorkDir) != t.root {
			why += "; its working directory was " + coppice.Quote(x.WorkDir)
		}
		t.add(key, x.Name, to, x.Content, Changed, why)
	}
}

// tasksOf writes the items of a batch template as a file of coppice new: the first line
// is the title.
func tasksOf(x template) string {
	type task struct {
		Title string `json:"title"`
		Body  string `json:"body,omitempty"`
	}
	var all []task
	for _, item := range x.Items {
		item = strings.TrimSpace(item)
		first, _, _ := strings.Cut(item, "\n")
		title := strings.TrimSpace(strings.Map(func(r rune) rune {
			if coppice.LineProblem(string(r)) != "" {
				return ' '
			}
			return r
		}, first))
		if len(title) > coppice.MaxTitle {
			title = strings.TrimSpace(strings.ToValidUTF8(title[:coppice.MaxTitle], ""))
		}
		if title == "" {
			continue
		}
		k := task{Title: title}
		if item != title {
			k.Body = item
		}
		all = append(all, k)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(map[string]any{"tasks": all}) // texts can always be encoded
	return b.String()
}
