package api

import "coppice"

// UsageRow is what one day's sessions of one project, agent and model used.
type UsageRow struct {
	Day      string        `json:"day" doc:"On which the sessions began, as in 2026-03-04"`
	Project  string        `json:"project" doc:"The prefix of its project"`
	Agent    string        `json:"agent"`
	Model    string        `json:"model,omitempty" doc:"As asked for; empty for the agent's own default"`
	Task     string        `json:"task,omitempty" doc:"The task's key, with group=task"`
	Sessions int           `json:"sessions" doc:"How many"`
	Usage    coppice.Usage `json:"usage"`
}

// Budget is what a project lets be spent.
type Budget struct {
	Project string  `json:"project"`
	TaskUSD float64 `json:"task_usd,omitempty" doc:"By one task; absent when there is no bound"`
	DayUSD  float64 `json:"day_usd,omitempty" doc:"By the project in a day, which begins at midnight UTC; absent when there is no bound"`
	Today   float64 `json:"today_usd,omitempty" doc:"What the project has spent since midnight UTC"`
}

// UsageReport is what was used in a span of days.
type UsageReport struct {
	From    string        `json:"from" doc:"The first day"`
	To      string        `json:"to" doc:"The last day"`
	Rows    []UsageRow    `json:"rows" doc:"Newest day first"`
	Total   coppice.Usage `json:"total" doc:"The sum over all of them, those left out included"`
	Count   int           `json:"sessions" doc:"How many sessions that is"`
	More    bool          `json:"more" doc:"There are more rows than were asked for; the oldest were left out"`
	Budgets []Budget      `json:"budgets" doc:"Of the projects, by prefix"`
}
