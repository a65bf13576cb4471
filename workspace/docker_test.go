package workspace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coppice"
)

// What is wrong with the service is the environment's fault, never the work's.
func (b *bundle) wantBlamed(d coppice.DockerPolicy, has, fix string) {
	b.t.Helper()
	spec := b.checkSpec(run(b.t, b.root, "git", "rev-parse", "HEAD"), "true")
	spec.Policy.Docker = d
	_, err := b.Check(b.ctx, spec)
	var f *coppice.Failure
	if !errors.As(err, &f) || f.Class != coppice.ClassEnvironment || !strings.Contains(f.Text, has) || !strings.Contains(f.Fix, fix) {
		b.t.Errorf("%v: %v, want a failure of the environment with %q and the fix %q", d, err, has, fix)
	}
}

func TestDockerMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.wantBlamed(coppice.DockerPolicy{Service: "app"}, "there is no compose file", "workspace.docker.file")
	write(t, b.root, "compose.yaml", "services: {}\n")
	b.wantBlamed(coppice.DockerPolicy{Service: "app", File: "dev.yaml"}, "dev.yaml", "workspace.docker.file")
	bin := realDir(t) // has a shell, and no docker
	if err := os.Symlink("/bin/sh", filepath.Join(bin, "sh")); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"HOME=" + bin, "PATH=" + bin}
	b.wantBlamed(coppice.DockerPolicy{Service: "app"}, "not found", "install docker compose")
}

func TestComposed(t *testing.T) {
	t.Parallel()
	root := realDir(t)
	write(t, root, "docker-compose.yml", "services: {}\n")
	write(t, root, "compose.yml", "services: {}\n")
	write(t, root, "vendor/bin/sail", "#!/bin/sh\n")
	for name, c := range map[string]struct {
		tree   string
		docker coppice.DockerPolicy
		want   string
	}{
		"inside":  {"w/app-1", coppice.DockerPolicy{Service: "app"}, "compose.yml exec -T -w /app/w/app-1 app"},
		"outside": {"../state/w/app-1", coppice.DockerPolicy{Service: "app", Dir: "/srv"}, "compose.yml exec -T -w " + filepath.Join(root, "../state/w/app-1") + " app"},
		"itself":  {".", coppice.DockerPolicy{Service: "web", Dir: "/srv/", File: "docker-compose.yml"}, "docker-compose.yml exec -T -w /srv web"},
		"sail":    {"w", coppice.DockerPolicy{Service: "laravel.test", Dir: "/var/www/html"}, "compose.yml exec -T -w /var/www/html/w -u sail laravel.test"},
	} {
		got, err := composed(root, filepath.Join(root, c.tree), c.docker)
		if line := strings.Join(got.args(), " "); err != nil || line != "-f "+root+"/"+c.want {
			t.Errorf("%s: %s %v", name, line, err)
		}
	}
}

// Any command reaches the service's shell as it was written.
func TestCommandIsOneWord(t *testing.T) {
	t.Parallel()
	policy := coppice.WorkspacePolicy{Docker: coppice.DockerPolicy{Service: "app"}}
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.StringMatching(`[ -~\n\t]{1,30}`).Draw(t, "command")
		line := strings.Replace(Command(policy, "printf %s "+shellQuote(command)), "./"+runFile, "printf %s", 1)
		inside, err := exec.Command("sh", "-c", line).Output()
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("sh", "-c", string(inside)).Output() // without a stdin that ends it
		if err != nil || string(out) != command {
			t.Fatalf("%q became %q: %v", command, out, err)
		}
	})
	if got := Command(coppice.WorkspacePolicy{}, "make test"); got != "make test" {
		t.Error(got)
	}
}
