//go:build linux

package e2e

import (
	"strings"
	"testing"
)

// What a verifier does with its browser is shown in test/agents, where real
// agents are.

func TestAMissingBrowserIsTheEnvironmentsFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml":           policy + "verify: {browser: true}\n",
		".coppice/scripted.yaml": "cases:\n" + implementsPage + "  - {role: verify, steps: [say: \"STEP 1: PASS\\nSTEP 2: PASS\"]}\n"})
	w.Extra = []string{"CHROME_PATH=/nowhere/chromium"}
	if r := w.try(w.repo, "", "doctor"); r.code != 1 || !strings.Contains(r.out, "CHROME_PATH names /nowhere/chromium: it does not exist") || !strings.Contains(r.out, "install Chromium") {
		t.Errorf("the doctor says %d:\n%s", r.code, r.out)
	}
	w.serve()
	if f := w.wantBlamed(w.verified("A page"), "/nowhere/chromium"); !strings.Contains(f.Fix, "verify.browser") {
		t.Errorf("the fix is %q, want verify.browser in it", f.Fix)
	}
}

func TestVerifierWithABrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, files{
		"coppice.yaml":           policy + "verify: {browser: true}\nmcp: {browser: {url: \"http://127.0.0.1:9/\"}}\n",
		".coppice/scripted.yaml": "cases:\n" + implementsPage + "  - {role: verify, steps: [say: \"STEP 1: PASS\\nSTEP 2: PASS\"]}\n"})
	w.Extra = []string{"CHROME_PATH=/nowhere/chromium"} // which the project's own server does not need
	if r := w.try(w.repo, "", "doctor"); !strings.Contains(r.out, "the project's own tool server") {
		t.Errorf("the doctor says:\n%s", r.out)
	}
	w.serve()
	key := w.verified("A page")
	w.landed(key)
	if got := w.session(key + ".2").Prompt; !strings.Contains(got, "You have a browser") || strings.Contains(got, "kept as evidence") {
		t.Errorf("the verifier has the prompt:\n%s", got)
	}
}
