package api

import "coppice"

// UsageRow is the usage of one day's sessions of one project, agent and model.
type UsageRow struct {
	Day       string        `json:"day" doc:"The day on which the sessions started, as in 2026-03-04"`
	Project   string        `json:"project" doc:"The prefix of its project"`
	Agent     string        `json:"agent"`
	Model     string        `json:"model,omitempty" doc:"As requested; empty for the agent's own default"`
	Task      string        `json:"task,omitempty" doc:"The task's key, with group=task"`
	Sessions  int           `json:"sessions" doc:"How many"`
	Usage     coppice.Usage `json:"usage"`
	BudgetUSD float64       `json:"budget_usd,omitempty" doc:"The most that the task can cost, in all its sessions; with group=task, absent if there is no limit"`
	Over      bool          `json:"over,omitempty" doc:"The task and the tasks below it have spent that"`
}

// Budget is how much a project can spend.
type Budget struct {
	Project string  `json:"project"`
	TaskUSD float64 `json:"task_usd,omitempty" doc:"For one task; absent if there is no limit"`
	DayUSD  float64 `json:"day_usd,omitempty" doc:"For the project per day, from midnight UTC; absent if there is no limit"`
	Today   float64 `json:"today_usd,omitempty" doc:"What the project has spent since midnight UTC"`
}

// AccountBudget is how much an account can spend, in all projects together.
type AccountBudget struct {
	Account string  `json:"account" doc:"An agent, or agent:model"`
	DayUSD  float64 `json:"day_usd" doc:"Per day, from midnight UTC"`
	Today   float64 `json:"today_usd,omitempty" doc:"What it has spent since midnight UTC"`
	Warning string  `json:"warning,omitempty" doc:"Set if 80% is spent"`
}

// UsageReport is the usage in a span of days.
type UsageReport struct {
	From    string        `json:"from" doc:"The first day"`
	To      string        `json:"to" doc:"The last day"`
	Rows    []UsageRow    `json:"rows" doc:"Newest day first"`
	Total   coppice.Usage `json:"total" doc:"The sum of all rows, including those left out"`
	Count   int           `json:"sessions" doc:"The number of sessions"`
	More    bool          `json:"more" doc:"There are more rows than requested; the oldest were left out"`
	Budgets []Budget      `json:"budgets" doc:"The budgets of the projects, by prefix"`

	Accounts []AccountBudget `json:"accounts,omitempty" doc:"The budgets of accounts in the user's configuration, by name"`
}
