package forge_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"coppice"
	"coppice/forge"
)

var hookTime = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func hexMAC(secret, body string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(body))
	return hex.EncodeToString(m.Sum(nil))
}

// standard signs as GitLab does with a signing token.
func standard(key, id string, at time.Time, body string) http.Header {
	m := hmac.New(sha256.New, []byte(key))
	stamp := strconv.FormatInt(at.Unix(), 10)
	m.Write([]byte(id + "." + stamp + "." + body))
	return headers("webhook-id", id, "webhook-timestamp", stamp, "webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(m.Sum(nil)))
}

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestSigned(t *testing.T) {
	t.Parallel()
	const body, secret = `{"a":1}`, "a secret of forges"
	token := "whsec_" + base64.StdEncoding.EncodeToString([]byte(secret))
	good := hexMAC(secret, body)
	twoKeys := standard(secret, "id", hookTime, body)
	twoKeys.Set("webhook-signature", "v1,AAAA "+twoKeys.Get("webhook-signature"))
	otherVersion := standard(secret, "id", hookTime, body)
	otherVersion.Set("webhook-signature", strings.Replace(otherVersion.Get("webhook-signature"), "v1", "v2", 1))
	otherID := standard(secret, "id", hookTime, body)
	otherID.Set("webhook-id", "other")
	for name, c := range map[string]struct {
		kind, secret string
		h            http.Header
		want         bool
	}{
		"github":                       {"github", secret, headers("X-Hub-Signature-256", "sha256="+good), true},
		"github without a signature":   {"github", secret, headers(), false},
		"github with an old signature": {"github", secret, headers("X-Hub-Signature", "sha1="+good), false},
		"github, another secret":       {"github", "another secret", headers("X-Hub-Signature-256", "sha256="+good), false},
		"github without a secret":      {"github", "", headers("X-Hub-Signature-256", "sha256="+hexMAC("", body)), false},
		"github, cut off":              {"github", secret, headers("X-Hub-Signature-256", "sha256="+good[:60]), false},
		"github, not hexadecimal":      {"github", secret, headers("X-Hub-Signature-256", "sha256=zz"), false},
		"github with gitea's header":   {"github", secret, headers("X-Gitea-Signature", good), false},
		"gitea":                        {"gitea", secret, headers("X-Gitea-Signature", good), true},
		"forgejo":                      {"gitea", secret, headers("X-Forgejo-Signature", good), true},
		"gitea with github's header":   {"gitea", secret, headers("X-Hub-Signature-256", "sha256="+good), true},
		"gitea, the first one counts":  {"gitea", secret, headers("X-Forgejo-Signature", hexMAC("x", body), "X-Gitea-Signature", good), false},
		"gitlab's token":               {"gitlab", secret, headers("X-Gitlab-Token", secret), true},
		"another token":                {"gitlab", secret, headers("X-Gitlab-Token", secret+"x"), false},
		"no token":                     {"gitlab", secret, headers(), false},
		"gitlab signs":                 {"gitlab", token, standard(secret, "id", hookTime, body), true},
		"gitlab signs with two keys":   {"gitlab", token, twoKeys, true},
		"gitlab, four minutes ago":     {"gitlab", token, standard(secret, "id", hookTime.Add(-4*time.Minute), body), true},
		"gitlab, six minutes ago":      {"gitlab", token, standard(secret, "id", hookTime.Add(-6*time.Minute), body), false},
		"gitlab, in six minutes":       {"gitlab", token, standard(secret, "id", hookTime.Add(6*time.Minute), body), false},
		"gitlab, another version":      {"gitlab", token, otherVersion, false},
		"gitlab, another id":           {"gitlab", token, otherID, false},
		"gitlab, the token alone":      {"gitlab", token, headers("X-Gitlab-Token", token), false},
		"gitlab, a broken key":         {"gitlab", "whsec_%", standard("", "id", hookTime, body), false},
		"gitlab, an empty key":         {"gitlab", "whsec_", standard("", "id", hookTime, body), false},
		"an unknown kind":              {"other", secret, headers("X-Hub-Signature-256", "sha256="+good), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, ok := forge.Signed(c.kind, c.secret, c.h, []byte(body), hookTime)
			if ok != c.want {
				t.Errorf("signed: %v", ok)
			}
			if ok && id == [sha256.Size]byte{} {
				t.Error("it has no id")
			}
			if _, changed := forge.Signed(c.kind, c.secret, c.h, []byte(body+" "), hookTime); changed && c.kind != "gitlab" {
				t.Error("another body has the same signature")
			}
		})
	}
	// The example of GitHub's documentation.
	example := headers("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
	if _, ok := forge.Signed("github", "It's a Secret to Everybody", example, []byte("Hello, World!"), hookTime); !ok {
		t.Error("the example of GitHub is refused")
	}
	// The id is that of the content, however the signature is written.
	one, _ := forge.Signed("gitea", secret, headers("X-Gitea-Signature", good), []byte(body), hookTime)
	two, _ := forge.Signed("gitea", secret, headers("X-Hub-Signature-256", "sha256="+strings.ToUpper(good)), []byte(body), hookTime)
	if one != two {
		t.Error("one delivery has two ids")
	}
}

const (
	hookSHA    = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
	hubRepo    = `"repository":{"id":1,"name":"app","full_name":"team/app","updated_at":"2026-05-01T00:00:00Z"},"sender":{"login":"ann"}`
	labProject = `"project":{"id":1,"name":"App","path_with_namespace":"team/sub/app"},"user":{"username":"ann"}`
)

func TestParseWebhook(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 11, 59, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		kind, body string
		want       forge.Webhook
	}{
		"github ping": {"github", `{"zen":"Keep it logically awesome.","hook_id":1,"hook":{"type":"Repository"},` + hubRepo + `}`,
			forge.Webhook{Hint: coppice.ForgeHint{None: true}}},
		"github pull_request": {"github", `{"action":"synchronize","number":7,"pull_request":{"number":7,"head":{"ref":"f","sha":"` + hookSHA + `"},"updated_at":"2026-05-04T11:59:00Z"},` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Number: 7}}},
		"github pull_request_review": {"github", `{"action":"submitted","review":{"id":9,"state":"approved","submitted_at":"2026-05-04T11:58:00Z"},"pull_request":{"number":7,"updated_at":"2026-05-04T11:59:00Z"},` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Number: 7}}},
		"github pull_request_review_thread": {"github", `{"action":"resolved","thread":{"node_id":"x"},"pull_request":{"number":7,"updated_at":"2026-01-01T00:00:00Z"},` + hubRepo + `}`,
			forge.Webhook{Hint: coppice.ForgeHint{Number: 7}}},
		"github issue_comment of a request": {"github", `{"action":"created","issue":{"number":7,"pull_request":{"url":"u"},"updated_at":"2026-05-04T11:58:00Z"},"comment":{"id":1,"updated_at":"2026-05-04T11:59:00Z"},` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Number: 7}}},
		"github issue_comment of an issue": {"github", `{"action":"created","issue":{"number":7,"updated_at":"2026-05-04T11:59:00Z"},"comment":{"id":1},` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Number: 7, None: true}}},
		"github check_run": {"github", `{"action":"completed","check_run":{"head_sha":"` + hookSHA + `","started_at":"2026-05-04T11:50:00Z","completed_at":"2026-05-04T11:59:00Z","pull_requests":[{"number":7}]},` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"github check_suite": {"github", `{"action":"completed","check_suite":{"head_sha":"` + hookSHA + `","updated_at":"2026-05-04T11:59:00Z"},` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"github workflow_run": {"github", `{"action":"completed","workflow_run":{"head_sha":"` + hookSHA + `","updated_at":"2026-05-04T11:59:00Z"},"workflow":{"id":1},` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"github status": {"github", `{"id":1,"sha":"` + hookSHA + `","state":"failure","branches":[{"name":"f"}],"updated_at":"2026-05-04T11:59:00+00:00",` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"github push": {"github", `{"ref":"refs/heads/main","before":"` + hookSHA + `","after":"` + hookSHA + `","head_commit":{"timestamp":"2020-01-01T00:00:00Z"},"repository":{"full_name":"team/app","pushed_at":1777895940}}`,
			forge.Webhook{Hint: coppice.ForgeHint{Branch: "main"}}},
		"github push of a tag": {"github", `{"ref":"refs/tags/v1",` + hubRepo + `}`, forge.Webhook{Hint: coppice.ForgeHint{None: true}}},
		"github create":        {"github", `{"ref":"f","ref_type":"branch",` + hubRepo + `}`, forge.Webhook{Hint: coppice.ForgeHint{None: true}}},
		"github star":          {"github", `{"action":"created","starred_at":"2026-05-04T11:59:00Z",` + hubRepo + `}`, forge.Webhook{}},
		"an odd number":        {"github", `{"number":"seven","pull_request":{"number":-7},` + hubRepo + `}`, forge.Webhook{}},
		"an odd commit":        {"github", `{"sha":"../../etc",` + hubRepo + `}`, forge.Webhook{}},
		"an odd time":          {"github", `{"sha":"` + hookSHA + `","updated_at":"yesterday",` + hubRepo + `}`, forge.Webhook{Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"gitea pull_request": {"gitea", `{"action":"synchronized","number":7,"pull_request":{"id":3,"number":7,"updated_at":"2026-05-04T13:59:00+02:00"},"commit_id":"","review":null,` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Number: 7}}},
		"gitea review": {"gitea", `{"action":"reviewed","number":7,"pull_request":{"number":7,"updated_at":"2026-05-04T11:59:00Z"},"review":{"type":"pull_request_review_rejected","content":"no"},` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Number: 7}}},
		"gitea comment": {"gitea", `{"action":"created","issue":{"number":7,"pull_request":{"merged":false},"updated_at":"2026-05-04T11:59:00Z"},"pull_request":null,"comment":{"id":1},"is_pull":true,` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Number: 7}}},
		"gitea status": {"gitea", `{"commit":{"id":"` + hookSHA + `"},"context":"build","sha":"` + hookSHA + `","state":"failure","updated_at":"2026-05-04T11:59:00Z",` + hubRepo + `}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"gitea without a time": {"gitea", `{"sha":"` + hookSHA + `","updated_at":"1970-01-01T00:00:00Z",` + hubRepo + `}`,
			forge.Webhook{Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"gitea push": {"gitea", `{"ref":"refs/heads/a/b","after":"` + hookSHA + `","commits":[],` + hubRepo + `}`, forge.Webhook{Hint: coppice.ForgeHint{Branch: "a/b"}}},
		"forgejo action_run": {"gitea", `{"action":"failure","run":{"id":1,"commit_sha":"` + hookSHA + `"},"prior_run":null,` + hubRepo + `}`,
			forge.Webhook{Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"gitlab merge_request": {"gitlab", `{"object_kind":"merge_request","event_type":"merge_request",` + labProject + `,"object_attributes":{"id":99,"iid":7,"updated_at":"2026-05-04 11:59:00 UTC","action":"update"}}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Number: 7}}},
		"gitlab note": {"gitlab", `{"object_kind":"note",` + labProject + `,"object_attributes":{"id":1,"noteable_type":"MergeRequest","created_at":"2026-05-04T11:59:00Z"},"merge_request":{"id":99,"iid":7}}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Number: 7}}},
		"gitlab note of an issue": {"gitlab", `{"object_kind":"note",` + labProject + `,"object_attributes":{"id":1,"noteable_type":"Issue"},"issue":{"iid":7}}`,
			forge.Webhook{Hint: coppice.ForgeHint{None: true}}},
		"gitlab pipeline": {"gitlab", `{"object_kind":"pipeline",` + labProject + `,"object_attributes":{"id":1,"iid":3,"ref":"f","sha":"` + hookSHA + `","status":"failed","created_at":"2026-05-04 11:50:00 UTC","finished_at":"2026-05-04 11:59:00 UTC"},"merge_request":null}`,
			forge.Webhook{At: at, Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"gitlab pipeline of a request": {"gitlab", `{"object_kind":"pipeline",` + labProject + `,"object_attributes":{"iid":3,"sha":"` + hookSHA + `"},"merge_request":{"iid":7}}`,
			forge.Webhook{Hint: coppice.ForgeHint{Number: 7}}},
		"gitlab job": {"gitlab", `{"object_kind":"build","ref":"f","sha":"` + hookSHA + `","build_status":"failed",` + labProject + `}`,
			forge.Webhook{Hint: coppice.ForgeHint{Commit: hookSHA}}},
		"gitlab job of a request": {"gitlab", `{"object_kind":"build","ref":"refs/merge-requests/7/head","sha":"` + hookSHA + `",` + labProject + `}`,
			forge.Webhook{Hint: coppice.ForgeHint{Number: 7}}},
		"gitlab push":  {"gitlab", `{"object_kind":"push","ref":"refs/heads/main","checkout_sha":"` + hookSHA + `",` + labProject + `}`, forge.Webhook{Hint: coppice.ForgeHint{Branch: "main"}}},
		"gitlab issue": {"gitlab", `{"object_kind":"issue",` + labProject + `,"object_attributes":{"iid":7}}`, forge.Webhook{Hint: coppice.ForgeHint{None: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.want.Repo = "team/app"
			if c.kind == "gitlab" {
				c.want.Repo = "team/sub/app"
			}
			got, err := forge.ParseWebhook(c.kind, []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if !got.At.Equal(c.want.At) {
				t.Errorf("at %v, want %v", got.At, c.want.At)
			}
			if got.At = c.want.At; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	for name, body := range map[string]string{"empty": "", "a form": "payload=%7B%7D", "cut off": `{"repository":`, "no repository": `{"number":7}`, "a list": "[]", "null": "null"} {
		for _, kind := range []string{"github", "gitlab", "gitea"} {
			if w, err := forge.ParseWebhook(kind, []byte(body)); coppice.ErrorCode(err) != coppice.EInvalid {
				t.Errorf("%s of %s: %+v, %v", name, kind, w, err)
			}
		}
	}
}

// Whatever a body contains, what follows from it is limited.
func FuzzParseWebhook(f *testing.F) {
	f.Add("github", []byte(`{"number":7,"pull_request":{"number":7,"updated_at":"2026-05-04T11:59:00Z"},`+hubRepo+`}`))
	f.Add("gitea", []byte(`{"sha":"`+hookSHA+`","updated_at":"2026-05-04T11:59:00Z",`+hubRepo+`}`))
	f.Add("gitlab", []byte(`{"object_kind":"build","ref":"refs/merge-requests/7/head",`+labProject+`}`))
	f.Add("gitlab", []byte(`{"object_kind":"pipeline","object_attributes":{"iid":{},"finished_at":7},`+labProject+`}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		w, err := forge.ParseWebhook(kind, body)
		if err != nil {
			if w != (forge.Webhook{}) {
				t.Errorf("an error with %+v", w)
			}
			return
		}
		if w.Repo == "" || w.Hint.Number < 0 || len(w.Hint.Commit) > 64 || len(w.Hint.Branch) > 1<<10 {
			t.Errorf("%+v", w)
		}
	})
}
