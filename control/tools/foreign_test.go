package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"coppice"
	"coppice/store"
)

// The answer about a key of another project is the one about a key that does not
// exist: it says nothing about what other projects have.
func TestKeysOfOtherProjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	err := b.store.Update(t.Context(), func(tx store.Tx) error {
		p := coppice.Project{Prefix: "web", Path: "/web", CreatedAt: b.cfg.Now(), Policy: coppice.DefaultPolicy(), LastTask: 1}
		if err := tx.Projects.Put(&p); err != nil {
			return err
		}
		k := coppice.Task{ProjectID: p.ID, Num: 1, Key: "web-1", Title: "secret plan", Stage: coppice.StageSession, CreatedAt: b.cfg.Now()}
		if err := tx.Tasks.Put(&k); err != nil {
			return err
		}
		s := coppice.Session{ProjectID: p.ID, TaskID: k.ID, N: 1, Key: "web-1.1", Role: coppice.RoleImplement, Agent: "claude", State: coppice.SessionWorking, CreatedAt: b.cfg.Now()}
		return tx.Sessions.Put(&s)
	})
	if err != nil {
		t.Fatal(err)
	}
	type args = map[string]any
	calls := map[string]func(key string) args{
		"read_task":      func(key string) args { return args{"task": key} },
		"send_message":   func(key string) args { return args{"to": key, "text": "hello"} },
		"wait_for_tasks": func(key string) args { return args{"tasks": []string{key}} },
		"create_task":    func(key string) args { return args{"description": "x", "after": []string{key}} },
		"read_note":      func(key string) args { return args{"key": "plan", "scope": key} },
		"list_notes":     func(key string) args { return args{"scope": key} },
		"watch_notes":    func(key string) args { return args{"keys": []string{"plan"}, "scope": key} },
		"write_note":     func(key string) args { return args{"key": "plan", "value": "x", "scope": key} },
		"delete_note":    func(key string) args { return args{"key": "plan", "scope": key} },
	}
	for tool, in := range calls {
		for foreign, unknown := range map[string]string{"web-1": "web-7", "WEB-1": "WEB-7", "web-1.1": "web-1.7", " web-1": " web-7"} {
			for _, other := range []string{unknown, strings.Replace(unknown, "web", "zzz", 1)} {
				got, failed := b.use(tool, in(foreign))
				want, _ := b.use(tool, in(other))
				got, want = strings.ReplaceAll(got, strings.TrimSpace(foreign), "KEY"), strings.ReplaceAll(want, strings.TrimSpace(other), "KEY")
				if !failed || got != want {
					t.Errorf("%s: %s: %s\n%s: %s", tool, foreign, got, other, want)
				}
			}
		}
	}
	for _, name := range keyTools(b) {
		if calls[name] == nil {
			t.Errorf("%s takes keys and is not tested", name)
		}
	}
}

// keyTools returns the tools whose arguments are described as keys of tasks.
func keyTools(b *bundle) (names []string) {
	var list struct {
		Result struct{ Tools []*mcp.Tool }
	}
	if err := json.Unmarshal([]byte(b.post("tools/list", map[string]any{})), &list); err != nil {
		b.t.Fatal(err)
	}
	for _, tool := range list.Result.Tools {
		text := string(coppice.Raw(tool.InputSchema))
		if strings.Contains(text, "app-12") || strings.Contains(text, "keys of tasks") || strings.Contains(text, "key of a task") {
			names = append(names, tool.Name)
		}
	}
	return names
}
