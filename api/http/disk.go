package http

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"coppice"
	"coppice/api"
)

type healthIn struct {
	Agents bool `query:"agents" default:"true" doc:"Whether the agents that projects use are checked, which can take some seconds the first time"`
}

type diskIn struct {
	Within int `query:"within" minimum:"1" maximum:"50" default:"10" doc:"Seconds to count for; then the result so far is returned"`
}

func (s *Server) diskRoutes(a huma.API) {
	add(s, a, op{method: http.MethodGet, path: "/health", id: "health", tag: "server",
		about: "Say whether the server is healthy, and if not, why and what to do"}, s.health)
	add(s, a, op{method: http.MethodGet, path: "/disk", id: "show-disk", tag: "server",
		about: "Measure disk usage: each project's workspaces, repository, trash and output, and the server's own files"}, s.showDisk)
}

func (s *Server) health(ctx context.Context, in *healthIn) (api.Health, error) {
	if s.cfg.Health == nil {
		return api.Health{}, coppice.Errorf(coppice.EUnavailable, "this server cannot check its health")
	}
	return s.cfg.Health(ctx, in.Agents)
}

func (s *Server) showDisk(ctx context.Context, in *diskIn) (api.Disk, error) {
	if s.cfg.Disk == nil {
		return api.Disk{}, coppice.Errorf(coppice.EUnavailable, "this server cannot measure disk usage")
	}
	return s.cfg.Disk(ctx, time.Duration(in.Within)*time.Second)
}
