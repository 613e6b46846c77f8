"""The spending of days, and which limit a run reached."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Add the table of spending, and two columns of runs."""
    op.create_table(
        "spending",
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", "scope", "name"),
    )
    op.add_column("runs", sa.Column("limit", sa.Text(), nullable=True))
    op.add_column("runs", sa.Column("notice", sa.Text(), nullable=True))
