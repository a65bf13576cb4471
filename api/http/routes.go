package http

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Limits of request bodies. Text can double in size when it is written as JSON.
const (
	smallBody = 64 << 10 // names and switches
	textBody  = 4 << 20  // one message or answer
	taskBody  = 16 << 20 // one task
)

// recordingMux records its routes, so that a test can compare them with the
// served description.
type recordingMux struct {
	*http.ServeMux
	patterns []string
}

func (m *recordingMux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.patterns = append(m.patterns, pattern)
	m.ServeMux.HandleFunc(pattern, h)
}

// routes registers everything. The OpenAPI description is rendered on its first
// request.
func (s *Server) routes() {
	conf := huma.DefaultConfig("Coppice", s.cfg.Version)
	conf.CreateHooks = nil // the hooks add links to single schemas, which this server does not serve
	conf.OpenAPIPath, conf.DocsPath, conf.SchemasPath = "", "", ""
	conf.Components.Schemas = newSchemas()
	conf.RejectUnknownQueryParameters = true
	conf.Info.Description = "Runs many AI coding agents on a repository in parallel, checks the results, and lands only what passes."
	strict := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: strictJSON}
	conf.Formats = map[string]huma.Format{"application/json": strict, "json": strict}
	conf.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":   {Type: "http", Scheme: "bearer"},
		"browser": {Type: "apiKey", In: "cookie", Name: "coppice_<port>"},
	}
	conf.Security = []map[string][]string{{"token": {}}, {"browser": {}}}

	a := humago.New(s.mux, conf)
	s.projectRoutes(a)
	s.taskRoutes(a)
	s.boardRoutes(a)
	s.actionRoutes(a)
	s.undoRoutes(a)
	s.liveRoutes(a)
	s.previewRoutes(a)
	s.verbRoutes(a)
	s.talkRoutes(a)
	s.inboxRoutes(a)
	s.groupRoutes(a)
	s.flowRoutes(a)
	s.noteRoutes(a)
	s.hookRoutes(a)
	s.notifyRoutes(a)
	s.reactionRoutes(a)
	s.pullRoutes(a)
	s.issueRoutes(a)
	s.lockRoutes(a)
	s.scheduleRoutes(a)
	s.templateRoutes(a)
	s.reviewRoutes(a)
	s.sessionRoutes(a)
	s.terminalRoutes(a)
	s.eventRoutes(a)
	s.searchRoutes(a)
	s.usageRoutes(a)
	s.configRoutes(a)
	s.featureRoutes(a)
	s.diskRoutes(a)
	s.serverRoutes(a)

	// Rendering takes longer than the rest of the start, and few clients need
	// it.
	s.spec = sync.OnceValues(func() ([]byte, error) { return json.MarshalIndent(a.OpenAPI(), "", "  ") })
	s.mux.HandleFunc("GET /api/openapi.json", s.serveSpec)
	s.mux.HandleFunc("GET /healthz", s.serveHealth)
	s.mux.HandleFunc("GET /readyz", s.serveReady)
	s.mux.HandleFunc("GET /metrics", s.serveMetrics)
	s.mux.HandleFunc("GET /login", s.signIn)
	if s.cfg.Tools != nil {
		s.mux.HandleFunc("/mcp", s.serveTools(s.cfg.Tools(http.HandlerFunc(s.dispatch))))
	}
	s.webRoutes()
}

func (s *Server) serveSpec(w http.ResponseWriter, r *http.Request) {
	spec, err := s.spec()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(spec)
}

// op describes a route: its address, its name and what it does in one sentence.
type op struct {
	method, path, id, about, tag string
	body                         int64 // the most bytes; smallBody when 0
	status                       int   // of success; 200 when 0
}

func (o op) operation(errors ...int) huma.Operation {
	if o.body == 0 {
		o.body = smallBody
	}
	if o.status == 0 {
		o.status = http.StatusOK
	}
	return huma.Operation{
		Method: o.method, Path: "/api/v1" + o.path, OperationID: o.id, Summary: o.about, Tags: []string{o.tag},
		MaxBodyBytes: o.body, DefaultStatus: o.status,
		Errors: append([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusInternalServerError}, errors...),
	}
}

// reply is a JSON response. It has the same type for all routes: huma.Register
// is compiled again for each pair of types, which takes 15 KiB.
type reply struct{ Body any }

// add registers a handler. Its errors become Problems.
func add[I, O any](s *Server, a huma.API, o op, h func(context.Context, *I) (O, error)) {
	codes := []int{http.StatusNotFound, http.StatusServiceUnavailable}
	if o.method != http.MethodGet {
		codes = append(codes, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	slices.Sort(codes)
	described := o.operation(codes...)
	described.BodyReadTimeout = s.cfg.BodyTimeout
	schema := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[O](), true, o.id+"Response")
	described.Responses = map[string]*huma.Response{
		strconv.Itoa(described.DefaultStatus): {Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}},
	}
	huma.Register(a, described, func(ctx context.Context, in *I) (*reply, error) {
		out, err := h(ctx, in)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return &reply{Body: out}, nil
	})
}

// none is the input of a route without parameters.
type none struct{}
