"""How many runs of the same sources a standing is the median of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TABLES = ("standings", "standing_events")


def upgrade() -> None:
    """Count one run for what stands already; the next run of the same sources counts anew."""
    for table in _TABLES:
        op.add_column(table, sa.Column("runs", sa.BigInteger, nullable=False, server_default="1"))
        op.alter_column(table, "runs", server_default=None)


def downgrade() -> None:
    """Forget the counts."""
    for table in _TABLES:
        op.drop_column(table, "runs")
