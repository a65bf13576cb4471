package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"coppice"
	"coppice/config"
	"coppice/price"
	"coppice/secret"
)

func (p *program) pricesCommand() *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "prices", Short: "List what models cost, for agents that report tokens and no cost",
		Long: `List what models cost, in dollars for a million tokens. The prices are used for
agents that report tokens and no cost.

A ~ marks an estimate: a price that third parties report and that was not found on a
page of the vendor, and every cost that follows from it. A model that is not in the list
is estimated at the price of its vendor's most expensive model. Compare with the vendor's
page before you rely on these prices, and put what you pay under "prices".

The prices under "prices" in coppice.yaml come before those in your own config.yaml,
and both come before those that are part of Coppice.`,
		Example: "  coppice prices\n  coppice config set prices.my-model '{input: 2 USD, output: 10 USD}'",
		Args:    cobra.NoArgs,
	}, func(c *cobra.Command, _ []string, asJSON bool) error {
		table, err := p.prices(c.Context())
		if err != nil {
			return err
		}
		return p.printPrices(table.Entries(), asJSON)
	})
}

// prices returns the current table: with the prices of this repository, if the
// working directory is in one.
func (p *program) prices(ctx context.Context) (price.Table, error) {
	dir, err := secret.UserDir(os.Environ())
	if err != nil {
		return price.Table{}, err
	}
	user, _, err := config.LoadUser(dir)
	if err != nil {
		return price.Table{}, err
	}
	var policy coppice.Policy
	if root, err := p.repository(ctx); err == nil {
		if policy, _, err = config.Load(root); err != nil {
			return price.Table{}, err
		}
	}
	return price.New(user.Prices, policy.Prices), nil
}

// listedPrice is a line of the list as JSON: dollars for a million tokens.
type listedPrice struct {
	Model      string  `json:"model"`
	Vendor     string  `json:"vendor,omitempty"`
	Input      float64 `json:"input_usd"`
	Output     float64 `json:"output_usd"`
	CacheRead  float64 `json:"cache_read_usd,omitempty"`
	CacheWrite float64 `json:"cache_write_usd,omitempty"`
	Source     string  `json:"source"`
	Date       string  `json:"date,omitempty"`
	Estimated  bool    `json:"estimated,omitempty"`
}

func (p *program) printPrices(list []price.Entry, asJSON bool) error {
	if asJSON {
		rows := make([]listedPrice, 0, len(list))
		for _, e := range list {
			rows = append(rows, listedPrice{
				e.Model, e.Vendor, float64(e.Price.Input), float64(e.Price.Output), float64(e.Price.CacheRead), float64(e.Price.CacheWrite), e.Source, e.Date, !e.Confirmed,
			})
		}
		enc := json.NewEncoder(p.env.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	usd := func(u coppice.USD) string {
		if u == 0 {
			return "-"
		}
		return "$" + strconv.FormatFloat(float64(u), 'f', -1, 64)
	}
	w := tabwriter.NewWriter(p.out(false), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MODEL\tINPUT\tOUTPUT\tCACHE READ\tCACHE WRITE\tLOOKED UP\tSOURCE")
	for _, e := range list {
		if !e.Confirmed {
			e.Model, e.Source = "~"+e.Model, "third parties that cite "+e.Source
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Model, usd(e.Price.Input), usd(e.Price.Output), usd(e.Price.CacheRead), usd(e.Price.CacheWrite), e.Date, e.Source)
	}
	return w.Flush()
}
