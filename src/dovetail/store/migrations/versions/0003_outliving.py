"""Sessions below others, messages to runs in progress, queues of runs, and schedules."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Add the new columns of sessions and runs, and the tables of messages and schedules."""
    json = sa.JSON(none_as_null=True)
    op.add_column("sessions", sa.Column("agent", sa.Text(), nullable=True))
    op.add_column("sessions", sa.Column("parent_id", sa.Text(), nullable=True))
    op.add_column("sessions", sa.Column("origin", json, nullable=True))
    op.create_index("sessions_by_parent", "sessions", ["parent_id"])
    op.add_column("runs", sa.Column("phase", sa.Text(), nullable=False, server_default="working"))
    op.add_column("runs", sa.Column("queue", sa.Text(), nullable=False, server_default="default"))
    op.add_column("runs", sa.Column("priority", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("runs", sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("runs", sa.Column("waits_for", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "inbox",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("parts", json, nullable=False),
        sa.Column("content", json, nullable=False),
        sa.Column("request", json, nullable=False),
        sa.Column("taken_by", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], ondelete="CASCADE"),
    )
    op.create_index("inbox_by_session", "inbox", ["session_id", "created_at"])
    op.add_column("runs", sa.Column("mail", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "schedules",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("cron", sa.Text(), nullable=False),
        sa.Column("timezone", sa.Text(), nullable=False),
        sa.Column("request", json, nullable=False),
        sa.Column("missed", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("next_at", sa.Double, nullable=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("schedules_by_owner", "schedules", ["owner"])
    op.create_index("schedules_by_next", "schedules", ["next_at"])
    op.create_table(
        "ticks",
        sa.Column("schedule_id", sa.Text(), nullable=False),
        sa.Column("tick_at", sa.Double, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("schedule_id", "tick_at"),
        sa.ForeignKeyConstraint(["schedule_id"], ["schedules.id"], ondelete="CASCADE"),
    )
