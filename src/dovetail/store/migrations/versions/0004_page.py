"""Options, pins, folders and shared links of sessions; runs by time, their usage in columns; processes."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Add the new columns and tables, and copy the usage of stored runs into its columns."""
    json = sa.JSON(none_as_null=True)
    op.add_column("sessions", sa.Column("options", json, nullable=True))
    op.add_column("sessions", sa.Column("pinned", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("sessions", sa.Column("folder", sa.Text(), nullable=True))
    op.create_table(
        "shares",
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("head_id", sa.Text(), nullable=True),
        sa.Column("with_work", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("token"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
    )
    op.create_index("shares_by_session", "shares", ["session_id"])
    op.create_index("runs_by_time", "runs", ["created_at"])
    op.create_index("runs_by_owner", "runs", ["owner", "created_at"])
    _add_usage()
    op.create_table(
        "processes",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("queues", json, nullable=False),
        sa.Column("started_at", sa.Double, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def _add_usage() -> None:
    """Make the usage of runs countable in SQL: columns of runs, shares of agents, and deleted runs."""
    op.add_column("runs", sa.Column("cost", sa.Double, nullable=True))
    for name in ("input_tokens", "output_tokens"):
        op.add_column("runs", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    runs = sa.table(
        "runs",
        sa.column("usage", sa.JSON(none_as_null=True)),
        sa.column("cost", sa.Double),
        sa.column("input_tokens", sa.Integer()),
        sa.column("output_tokens", sa.Integer()),
    )
    op.execute(
        sa.update(runs)
        .where(runs.c.usage.is_not(None))
        .values(
            cost=runs.c.usage["cost"].as_float(),
            input_tokens=sa.func.coalesce(runs.c.usage["input_tokens"].as_integer(), 0),
            output_tokens=sa.func.coalesce(runs.c.usage["output_tokens"].as_integer(), 0),
        )
    )
    op.create_table(
        "run_shares",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("cost", sa.Double, nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "agent", "model"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], ondelete="CASCADE"),
    )
    op.create_table(
        "past_usage",
        sa.Column("day", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("unpriced_tokens", sa.BigInteger(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", "owner", "agent", "model"),
    )
