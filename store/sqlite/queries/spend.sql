-- Counters of what was spent, by scope and day.

-- name: AddSpend :exec
INSERT INTO spend (day, scope, cost, input, output, cache_read, cache_write, turns, sessions, estimated)
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),
  json_extract(value, '$[4]'), json_extract(value, '$[5]'), json_extract(value, '$[6]'), json_extract(value, '$[7]'),
  json_extract(value, '$[8]'), json_extract(value, '$[9]')
FROM json_each(CAST(@counts AS TEXT)) WHERE TRUE
ON CONFLICT (day, scope) DO UPDATE SET
  cost = cost + excluded.cost, input = input + excluded.input, output = output + excluded.output,
  cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write,
  turns = turns + excluded.turns, sessions = sessions + excluded.sessions, estimated = estimated + excluded.estimated;

-- name: SpendOf :one
SELECT * FROM spend WHERE day = @day AND scope = @scope;

-- name: SpendByScope :many
SELECT a.scope, a.cost FROM spend a WHERE a.day = @day AND a.scope >= 'account/' AND a.scope < 'account0'
UNION ALL
SELECT p.scope, p.cost FROM spend p WHERE p.day = @day AND p.scope >= 'project/' AND p.scope < 'project0';

-- name: Budgets :many
SELECT * FROM budgets;

-- name: PutBudget :exec
INSERT INTO budgets (account, usd) VALUES (@account, @usd);

-- name: DropBudgets :exec
DELETE FROM budgets;

-- name: UsageBefore :one
SELECT output_at, agent, model, usage, memory FROM sessions WHERE id = @id;

-- name: ForgetSpendOfTask :exec
DELETE FROM spend WHERE day = '' AND scope = @scope;

-- name: ForgetSpend :execrows
DELETE FROM spend WHERE (spend.day, spend.scope) IN (
  SELECT s.day, s.scope FROM spend s WHERE s.scope = 'project/' || CAST(@project AS TEXT) OR s.scope GLOB 'usage/' || CAST(@project AS TEXT) || '/*'
  LIMIT @most
);
