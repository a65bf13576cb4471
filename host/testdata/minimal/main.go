// Command minimal is a host and nothing else, to measure what a host takes.
package main

import (
	"context"
	"log/slog"
	"os"

	"coppice"
	"coppice/agent"
	"coppice/host"
)

type plain struct{}

func (plain) Name() string { return "plain" }

func (plain) Launch(p coppice.Profile, _ agent.Request) (agent.Launch, error) {
	return agent.Launch{Argv: p.Command}, nil
}

func (plain) Driver(coppice.Profile, agent.Request) agent.Driver { return driver{} }

type driver struct{}

func (driver) Start() agent.Step { return agent.Step{} }

func (driver) Output(_ agent.Stream, b []byte) agent.Step {
	return agent.Step{Events: []coppice.AgentEvent{{Kind: coppice.KindText, Text: string(b)}}}
}

func (driver) Send(text, _ string) (agent.Step, error) {
	return agent.Step{Write: []byte(text + "\n")}, nil
}

func (driver) Interrupt() (agent.Step, error) { return agent.Step{}, agent.ErrCannot }

func (driver) Stop() agent.Step { return agent.Step{CloseStdin: true} }

func (driver) Exit(agent.Exit) (agent.Step, agent.Outcome) { return agent.Step{}, agent.Outcome{} }

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	os.Exit(host.Main(context.Background(), os.Args[1], map[string]agent.Protocol{"plain": plain{}}, log))
}
