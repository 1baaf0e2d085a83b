-- Transactions. What the statements are is the connection's business: BEGIN IMMEDIATE for a file,
-- the overlay's own in the simulator.

-- The role is PostgreSQL's SET LOCAL ROLE (MS "Rights"), enum store_role here.
-- name: Begin :exec
-- params: role int
-- part: tx

-- name: Commit :exec
-- part: tx

-- name: Rollback :exec
-- part: tx
