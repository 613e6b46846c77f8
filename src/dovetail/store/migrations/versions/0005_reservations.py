"""Reservations in the spending of days and runs, and the tokens of runs."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Add the table of reservations, and a column for tokens."""
    op.add_column("spending", sa.Column("tokens", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "reservations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", "scope", "name"),
    )
    op.create_index("reservations_by_account", "reservations", ["day", "scope", "name"])
    op.create_index("reservations_by_run", "reservations", ["run_id"])
