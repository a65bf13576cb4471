-- +goose Up

-- The account whose limits and budget apply to a session; empty for its agent.
ALTER TABLE sessions ADD COLUMN account TEXT NOT NULL DEFAULT '';

-- How much accounts can spend per day, as the user's configuration says.
CREATE TABLE budgets (
  account TEXT PRIMARY KEY,
  usd     REAL NOT NULL
);
