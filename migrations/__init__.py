"""Alembic migrations of the portal's database."""
