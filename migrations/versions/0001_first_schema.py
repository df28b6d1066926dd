"""Everything of the first release: tables, the schema of hidden rows, and who may touch what."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_INT, _TEXT, _BOOL, _FLOAT = sa.BigInteger(), sa.Text(), sa.Boolean(), sa.Float()
_TIME, _JSON, _TEXTS = sa.DateTime(timezone=True), postgresql.JSONB(), postgresql.ARRAY(sa.Text())

_APP_READS = (
    "users tokens entries suites operators public_cases anchors anchor_rows boards artifacts submissions runs "
    "submission_events outbox workers operator_results case_results flags standings standing_events"
)
_GRANTS = (
    ("hapboard_app", "SELECT", _APP_READS),
    ("hapboard_app", "INSERT, UPDATE", "users tokens entries submissions runs outbox"),
    ("hapboard_app", "INSERT", "artifacts submission_events"),
    ("hapboard_worker", "SELECT", _APP_READS.replace("users tokens ", "")),
    ("hapboard_worker", "INSERT, UPDATE", "suites operators public_cases anchors anchor_rows boards workers outbox"),
    ("hapboard_worker", "INSERT, UPDATE", "operator_results case_results flags standings"),
    ("hapboard_worker", "INSERT", "standing_events submission_events"),
    ("hapboard_worker", "UPDATE", "submissions runs"),
    ("hapboard_worker", "DELETE", "public_cases anchor_rows"),
    ("hapboard_worker", "SELECT, INSERT, UPDATE, DELETE", "hidden.case_results hidden.anchor_rows"),
)
_TABLES = (
    "hidden.anchor_rows hidden.case_results standing_events standings flags case_results operator_results workers "
    "outbox submission_events runs submissions artifacts boards anchor_rows anchors public_cases operators suites "
    "entries tokens users"
)


def _column(
    name: str, kind: sa.types.TypeEngine[Any], *rest: Any, nullable: bool = False, **more: Any
) -> sa.Column[Any]:
    return sa.Column(name, kind, *rest, nullable=nullable, **more)


def _columns(kind: sa.types.TypeEngine[Any], names: str) -> list[sa.Column[Any]]:
    return [_column(name, kind) for name in names.split()]


def _words(name: str, *words: str) -> sa.Enum:
    return sa.Enum(*words, name=name, native_enum=False, create_constraint=True, length=32)


def _case_figures() -> list[sa.Column[Any]]:
    optional = (
        "hap published_hap candidate_us candidate_mad_us candidate_low_us candidate_high_us baseline_us limit_us "
        "mean_re max_re threshold"
    )
    return [
        *(_column(name, _TEXT) for name in ("operator", "verdict", "rule", "message")),
        _column("case_id", _INT),
        *(_column(name, _FLOAT, nullable=True) for name in optional.split()),
        _column("bottleneck", _TEXT, nullable=True),
        _column("relaxed", _BOOL),
        _column("detail", _JSON),
    ]


def _anchor_figures() -> list[sa.Column[Any]]:
    return [
        *(_column(name, _TEXT) for name in ("operator", "bottleneck", "provenance")),
        _column("case_id", _INT),
        *(_column(name, _FLOAT) for name in ("baseline_us", "limit_us")),
        _column("units", _JSON),
    ]


def _people() -> None:
    op.create_table(
        "users",
        _column("id", _INT, primary_key=True),
        _column("name", _TEXT),
        _column("kind", _words("user_kind", "person", "team", "service")),
        _column("created_at", _TIME, server_default=sa.func.now()),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "tokens",
        _column("id", _INT, primary_key=True),
        _column("user_id", _INT, sa.ForeignKey("users.id")),
        *_columns(_TEXT, "hash prefix"),
        _column("scopes", _TEXTS),
        _column("expires_at", _TIME, nullable=True),
        _column("revoked_at", _TIME, nullable=True),
        _column("created_at", _TIME, server_default=sa.func.now()),
        sa.UniqueConstraint("hash"),
    )
    op.create_index("ix_tokens_user_id", "tokens", ["user_id"])
    op.create_table(
        "entries",
        _column("id", _INT, primary_key=True),
        _column("user_id", _INT, sa.ForeignKey("users.id")),
        *_columns(_TEXT, "name agent model harness dsl link note"),
        _column("created_at", _TIME, server_default=sa.func.now()),
        sa.UniqueConstraint("user_id", "agent", "model", "harness", "dsl"),
    )


def _catalogue() -> None:
    op.create_table(
        "suites",
        _column("id", _INT, primary_key=True),
        *_columns(_TEXT, "name version digest"),
        _column("registered_at", _TIME, server_default=sa.func.now()),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "operators",
        _column("id", _INT, primary_key=True),
        _column("suite_id", _INT, sa.ForeignKey("suites.id")),
        *_columns(_TEXT, "name title function level category schema desc_en desc_zh"),
        _column("spec", _JSON),
        sa.UniqueConstraint("suite_id", "name"),
    )
    op.create_table(
        "public_cases",
        _column("id", _INT, primary_key=True),
        _column("operator_id", _INT, sa.ForeignKey("operators.id")),
        _column("case_id", _INT),
        _column("spec", _JSON),
        sa.UniqueConstraint("operator_id", "case_id"),
    )
    op.create_table(
        "anchors",
        _column("id", _INT, primary_key=True),
        *_columns(_TEXT, "version hardware suite_digest"),
        _column("recorded_at", _TIME),
        _column("environment", _JSON),
        sa.UniqueConstraint("hardware", "suite_digest", "version"),
    )
    op.create_table(
        "anchor_rows",
        _column("id", _INT, primary_key=True),
        _column("anchors_id", _INT, sa.ForeignKey("anchors.id")),
        *_anchor_figures(),
        sa.UniqueConstraint("anchors_id", "operator", "case_id"),
    )
    op.create_table(
        "boards",
        _column("id", _INT, primary_key=True),
        _column("slug", _TEXT),
        _column("suite_id", _INT, sa.ForeignKey("suites.id")),
        *_columns(_TEXT, "hardware title rules_version limit_preset"),
        _column("anchors_id", _INT, sa.ForeignKey("anchors.id"), nullable=True),
        _column("season", _TEXT, nullable=True),
        _column("hidden_digest", _TEXT, nullable=True),
        _column("fingerprint", _JSON),
        _column("version", _INT),
        _column("created_at", _TIME, server_default=sa.func.now()),
        sa.UniqueConstraint("slug"),
    )


def _submissions() -> None:
    op.create_table(
        "artifacts",
        _column("sha256", _TEXT, primary_key=True),
        _column("size_bytes", _INT),
        _column("filename", _TEXT),
        _column("stored_at", _TIME),
    )
    op.create_table(
        "submissions",
        _column("id", _INT, primary_key=True),
        _column("public_id", _TEXT),
        _column("user_id", _INT, sa.ForeignKey("users.id")),
        _column("entry_id", _INT, sa.ForeignKey("entries.id")),
        _column("board_id", _INT, sa.ForeignKey("boards.id")),
        _column("artifact_sha256", _TEXT, sa.ForeignKey("artifacts.sha256")),
        _column("filename", _TEXT),
        _column(
            "status",
            _words(
                "submission_status",
                "received",
                "queued",
                "running",
                "published",
                "held",
                "failed",
                "cancelled",
                "withdrawn",
            ),
        ),
        _column("mode", _words("mode", "ranked", "practice")),
        _column("visibility", _words("visibility", "public", "private")),
        _column("note", _TEXT),
        _column("idempotency_key", _TEXT, nullable=True),
        _column("request_digest", _TEXT),
        _column("received_at", _TIME),
        _column("finished_at", _TIME, nullable=True),
        _column("message", _TEXT),
        sa.UniqueConstraint("public_id"),
    )
    op.create_index("ix_submissions_board_id_received_at", "submissions", ["board_id", "received_at"])
    op.create_index("ix_submissions_entry_id", "submissions", ["entry_id"])
    op.create_index(
        "uq_submissions_user_id_idempotency_key", "submissions", ["user_id", "idempotency_key"], unique=True
    )


def _runs() -> None:
    op.create_table(
        "runs",
        _column("id", _INT, primary_key=True),
        _column("submission_id", _INT, sa.ForeignKey("submissions.id")),
        _column("number", _INT),
        _column("status", _words("run_status", "queued", "running", "finished", "errored", "cancelled")),
        *_columns(_INT, "priority attempt max_attempts"),
        _column("hardware", _TEXT),
        _column("lease_holder", _TEXT, nullable=True),
        _column("lease_deadline", _TIME, nullable=True),
        _column("fence", _INT),
        *_columns(_TIME, "queued_at woken_at"),
        _column("started_at", _TIME, nullable=True),
        _column("finished_at", _TIME, nullable=True),
        _column("error", _TEXT),
        _column("report", _JSON),
        sa.UniqueConstraint("submission_id", "number"),
    )
    op.create_index(
        "ix_runs_claimable",
        "runs",
        ["hardware", sa.text("priority DESC"), "queued_at", "id"],
        postgresql_where=sa.text("lease_holder IS NULL AND status IN ('queued', 'running')"),
    )
    op.create_index(
        "ix_runs_finished", "runs", ["hardware", "finished_at"], postgresql_where=sa.text("status = 'finished'")
    )
    op.create_index("ix_runs_leased", "runs", ["lease_deadline"], postgresql_where=sa.text("lease_holder IS NOT NULL"))


def _happenings() -> None:
    op.create_table(
        "submission_events",
        _column("id", _INT, primary_key=True),
        _column("submission_id", _INT, sa.ForeignKey("submissions.id")),
        _column("run_id", _INT, sa.ForeignKey("runs.id"), nullable=True),
        _column("at", _TIME),
        _column("kind", _TEXT),
        _column("data", _JSON),
    )
    op.create_index("ix_submission_events_submission_id_id", "submission_events", ["submission_id", "id"])
    op.create_table(
        "outbox",
        _column("id", _INT, primary_key=True),
        _column("topic", _TEXT),
        _column("payload", _JSON),
        _column("created_at", _TIME),
        _column("sent_at", _TIME, nullable=True),
        _column("attempts", _INT),
    )
    op.create_index("ix_outbox_unsent", "outbox", ["id"], postgresql_where=sa.text("sent_at IS NULL"))


def _workers() -> None:
    op.create_table(
        "workers",
        _column("name", _TEXT, primary_key=True),
        _column("hardware", _TEXT),
        _column("state", _words("worker_state", "up", "draining", "down")),
        _column("message", _TEXT),
        *_columns(_JSON, "fingerprint versions"),
        *_columns(_TIME, "started_at heartbeat_at"),
    )


def _results() -> None:
    op.create_table(
        "operator_results",
        _column("id", _INT, primary_key=True),
        _column("run_id", _INT, sa.ForeignKey("runs.id")),
        *_columns(_TEXT, "operator level source verdict"),
        _column("score", _FLOAT, nullable=True),
        _column("noise", _FLOAT),
        _column("compile_points", _FLOAT, nullable=True),
        _column("correct_points", _FLOAT, nullable=True),
        _column("performance_points", _FLOAT, nullable=True),
        _column("solved", _BOOL),
        _column("speedup", _FLOAT, nullable=True),
        *_columns(_INT, "public_passed public_total"),
        _column("hidden_passed_coarse", _INT, nullable=True),
        _column("hidden_total", _INT),
        _column("publication", _words("publication", "pending", "standing", "held", "unranked", "unscored")),
        *_columns(_TEXT, "message log_excerpt"),
        _column("detail", _JSON),
        sa.UniqueConstraint("run_id", "operator"),
    )
    op.create_table(
        "case_results",
        _column("id", _INT, primary_key=True),
        _column("run_id", _INT, sa.ForeignKey("runs.id")),
        *_case_figures(),
        sa.UniqueConstraint("run_id", "operator", "case_id"),
    )
    op.create_table(
        "flags",
        _column("id", _INT, primary_key=True),
        _column("run_id", _INT, sa.ForeignKey("runs.id")),
        _column("operator", _TEXT),
        _column("case_id", _INT, nullable=True),
        *_columns(_TEXT, "flag severity message"),
        _column("evidence", _JSON),
    )
    op.create_index("ix_flags_run_id_operator", "flags", ["run_id", "operator"])


def _standings() -> None:
    op.create_table(
        "standings",
        _column("board_id", _INT, sa.ForeignKey("boards.id"), primary_key=True),
        _column("entry_id", _INT, sa.ForeignKey("entries.id"), primary_key=True),
        _column("operator", _TEXT, primary_key=True),
        *_columns(_FLOAT, "score noise"),
        _column("run_id", _INT, sa.ForeignKey("runs.id")),
        _column("published_at", _TIME),
    )
    op.create_index("ix_standings_run_id", "standings", ["run_id"])
    op.create_table(
        "standing_events",
        _column("id", _INT, primary_key=True),
        _column("board_id", _INT, sa.ForeignKey("boards.id")),
        _column("entry_id", _INT, sa.ForeignKey("entries.id")),
        _column("operator", _TEXT),
        _column("score", _FLOAT, nullable=True),
        _column("noise", _FLOAT),
        _column("run_id", _INT, sa.ForeignKey("runs.id")),
        _column("at", _TIME),
        _column("reason", _TEXT),
    )
    op.create_index(
        "ix_standing_events_board_id_entry_id_operator_at",
        "standing_events",
        ["board_id", "entry_id", "operator", "at"],
    )


def _hidden() -> None:
    op.execute("CREATE SCHEMA hidden")
    op.create_table(
        "case_results",
        _column("id", _INT, primary_key=True),
        _column("run_id", _INT, sa.ForeignKey("runs.id")),
        *_case_figures(),
        sa.UniqueConstraint("run_id", "operator", "case_id"),
        schema="hidden",
    )
    op.create_table(
        "anchor_rows",
        _column("id", _INT, primary_key=True),
        _column("anchors_id", _INT, sa.ForeignKey("anchors.id")),
        *_anchor_figures(),
        sa.UniqueConstraint("anchors_id", "operator", "case_id"),
        schema="hidden",
    )


def _create_roles() -> None:
    """Roles belong to the whole server: another database of it may have made them, even at this moment."""
    for role in ("hapboard_app", "hapboard_worker"):
        op.execute(
            f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN; "
            "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        )


def _grant() -> None:
    op.execute("REVOKE ALL ON SCHEMA hidden FROM PUBLIC")
    op.execute("GRANT USAGE ON SCHEMA public TO hapboard_app, hapboard_worker")
    op.execute("GRANT USAGE ON SCHEMA hidden TO hapboard_worker")
    for role, rights, tables in _GRANTS:
        op.execute(f"GRANT {rights} ON {', '.join(tables.split())} TO {role}")
    op.execute("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO hapboard_app, hapboard_worker")
    op.execute("GRANT USAGE ON ALL SEQUENCES IN SCHEMA hidden TO hapboard_worker")


_STEPS = (
    _people,
    _catalogue,
    _submissions,
    _runs,
    _happenings,
    _workers,
    _results,
    _standings,
    _hidden,
    _create_roles,
    _grant,
)


def upgrade() -> None:
    """Create everything."""
    op.execute(sa.schema.CreateSequence(sa.Sequence("submission_number")))
    for step in _STEPS:
        step()


def downgrade() -> None:
    """Drop everything. The two roles stay: other databases of the server may use them."""
    for table in _TABLES.split():
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP SCHEMA hidden")
    op.execute("DROP SEQUENCE submission_number")
    op.execute("REVOKE USAGE ON SCHEMA public FROM hapboard_app, hapboard_worker")
