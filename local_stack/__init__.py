"""One-command stack: PostgreSQL, Valkey, API, worker and sweeper as child processes."""
