package client

import (
	"context"
	"net/http"
	"net/url"

	"coppice"
	"coppice/api"
)

func schedulePath(project, name string) string {
	return "/projects/" + url.PathEscape(project) + "/schedules/" + url.PathEscape(name)
}

// Schedules lists the schedules of a project, or of all.
func (c *Client) Schedules(ctx context.Context, project string) (api.ScheduleList, error) {
	return get[api.ScheduleList](ctx, c, "/schedules", query("project", project))
}

// Schedule returns a schedule with its task and its newest runs.
func (c *Client) Schedule(ctx context.Context, project, name string) (api.ScheduleDetail, error) {
	return get[api.ScheduleDetail](ctx, c, schedulePath(project, name), nil)
}

// AddSchedule adds a schedule.
func (c *Client) AddSchedule(ctx context.Context, project string, n coppice.NewSchedule) (api.Schedule, error) {
	return call[api.Schedule](ctx, c, http.MethodPost, "/projects/"+url.PathEscape(project)+"/schedules", nil, n)
}

// ChangeSchedule runs, pauses or resumes a schedule: the verb is run, pause or resume.
func (c *Client) ChangeSchedule(ctx context.Context, project, name, verb string) (api.Schedule, error) {
	return call[api.Schedule](ctx, c, http.MethodPost, schedulePath(project, name)+"/"+verb, nil, nil)
}

// RemoveSchedule removes a schedule.
func (c *Client) RemoveSchedule(ctx context.Context, project, name string) (api.Schedule, error) {
	return call[api.Schedule](ctx, c, http.MethodDelete, schedulePath(project, name), nil, nil)
}
