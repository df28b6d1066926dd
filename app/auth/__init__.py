"""Who is behind a request: bearer tokens, session cookies, and protection of cookie-borne posts."""
