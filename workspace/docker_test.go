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

// fakeDocker replaces docker: it logs its arguments and does what
// exec would, on this machine. The service "down" does not run.
const fakeDocker = `#!/bin/sh
printf '%s\n' "$*" >> "$HOME/docker.log"
[ "$1 $2 $4" = "compose -f exec" ] || exit 64
[ -f "$3" ] || { echo "no $3"; exit 14; }
shift 4
while :; do case $1 in
	-T) shift ;;
	-w) dir=$2; shift 2 ;;
	-u) export AS="$2"; shift 2 ;;
	-e) export "$2"; shift 2 ;;
	*) break ;;
esac; done
[ "$1" != down ] || { echo 'service "down" is not running'; exit 1; }
shift
unset SECRET
cd "$dir" && exec "$@"
`

// withDocker adds the fake to the path of a bundle's commands and returns
// where its log is.
func (b *bundle) withDocker() (log string) {
	b.t.Helper()
	home := realDir(b.t)
	write(b.t, home, "bin/docker", fakeDocker)
	if err := os.Chmod(filepath.Join(home, "bin/docker"), 0o755); err != nil {
		b.t.Fatal(err)
	}
	b.env = []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH")}
	return filepath.Join(home, "docker.log")
}

func TestDocker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	log := b.withDocker()
	write(t, b.root, "compose.yaml", "services: {}\n")
	commit(t, b.root, "compose")
	spec := b.spec("app-1")
	spec.Policy = coppice.WorkspacePolicy{Ports: 1, Docker: coppice.DockerPolicy{Service: "app"}, Setup: []string{`echo "set up for $COPPICE_TASK on $COPPICE_PORT in $COPPICE_WORKSPACE" > setup.log`}}
	res := must[coppice.PrepareResult](t)(b.Prepare(b.ctx, spec))
	if got := read(t, res.Path, "setup.log"); !strings.HasPrefix(got, "set up for app-1 on 2") || !strings.HasSuffix(got, " in "+res.Path+"\n") {
		t.Errorf("setup ran as %q", got)
	}
	calls := read(t, filepath.Dir(log), "docker.log")
	if want := "compose -f " + b.root + "/compose.yaml exec -T -w " + res.Path + " -e COPPICE_WORKSPACE=" + res.Path + " -e COPPICE=1 -e COPPICE_TASK=app-1"; !strings.Contains(calls, want) {
		t.Errorf("docker was called as\n%s, without\n%s", calls, want)
	}
	// An agent can use the script, and neither its git nor ours commits it.
	out, err := exec.Command("sh", "-c", "cd "+res.Path+" && HOME="+filepath.Dir(log)+" PATH="+filepath.Join(filepath.Dir(log), "bin")+":$PATH ./.coppice/run 'echo \"in service\"; pwd'").CombinedOutput()
	if err != nil || string(out) != "in service\n"+res.Path+"\n" {
		t.Errorf("%s %v", out, err)
	}
	write(t, res.Path, "work.txt", "w")
	if files := run(t, res.Path, "git", "ls-tree", "-r", "--name-only", commit(t, res.Path, "everything")); strings.Contains(files, ".coppice") || !strings.Contains(files, "work.txt") {
		t.Errorf("committed %s", files)
	}
	if n := strings.Count(read(t, res.Path, ".git/info/exclude"), "/.coppice/run\n"); n != 1 {
		t.Errorf("the rule is there %d times", n)
	}

	check := b.checkSpec(b.saved(res.Path), `cat work.txt; echo "it's $0 $COPPICE_PORT"`, "exit 3")
	check.Policy = spec.Policy
	got := must[coppice.CheckResult](t)(b.Check(b.ctx, check))
	if c := got.Checks; c[0].Exit != 0 || !strings.HasPrefix(c[0].Log, "wit's sh 2") || c[1].Exit != 3 || c[0].Command != check.Commands[0] {
		t.Errorf("%+v", c)
	}
	plain := check
	plain.Policy.Docker = coppice.DockerPolicy{}
	if other := must[coppice.CheckResult](t)(b.Check(b.ctx, plain)); other.Env == got.Env {
		t.Error("inside and outside of the service have the same fingerprint")
	}
}

// What is wrong with the service is the environment's fault, never the work's.
func TestDockerMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.withDocker()
	head := run(t, b.root, "git", "rev-parse", "HEAD")
	for name, c := range map[string]struct {
		docker coppice.DockerPolicy
		file   string
		has    string
	}{
		"no compose file": {coppice.DockerPolicy{Service: "app"}, "", "there is no compose file"},
		"another name":    {coppice.DockerPolicy{Service: "app", File: "dev.yaml"}, "compose.yaml", "dev.yaml"},
		"not running":     {coppice.DockerPolicy{Service: "down"}, "docker-compose.yml", "is not running"},
	} {
		if c.file != "" {
			write(t, b.root, c.file, "services: {}\n")
		}
		spec := b.checkSpec(head, "true")
		spec.Policy.Docker = c.docker
		_, err := b.Check(b.ctx, spec)
		var f *coppice.Failure
		if !errors.As(err, &f) || f.Class != coppice.ClassEnvironment || !strings.Contains(f.Text, c.has) || f.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
		if c.file != "" {
			if err := os.Remove(filepath.Join(b.root, c.file)); err != nil {
				t.Fatal(err)
			}
		}
	}
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
		if line := strings.Join(got.argv(nil), " "); err != nil || line != "docker compose -f "+root+"/"+c.want {
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
		line := Command(policy, command)
		word := strings.TrimPrefix(line, "./"+runFile+" ")
		out, err := exec.Command("sh", "-c", "printf %s "+word).Output()
		if err != nil || string(out) != command {
			t.Fatalf("%q became %q: %v", command, out, err)
		}
	})
	if got := Command(coppice.WorkspacePolicy{}, "make test"); got != "make test" {
		t.Error(got)
	}
}
