"""Ids of messages to sessions are unique in their session, no longer among all owners."""

from collections.abc import Sequence

from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Make the session a part of the key; SQLite copies the table for it."""
    names = {"pk": "%(table_name)s_pkey"}  # as PostgreSQL names it; in SQLite it has no name
    with op.batch_alter_table("inbox", naming_convention=names) as inbox:
        inbox.drop_constraint("inbox_pkey", type_="primary")
        inbox.create_primary_key("inbox_pkey", ["session_id", "id"])
