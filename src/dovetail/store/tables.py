"""The tables. Times are seconds since 1970, ids are texts, data without a fixed form is JSON.

A change here needs a migration in `migrations/versions`; a test compares the two.
"""

from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData()
_JSON = sa.JSON(none_as_null=True)
_RUNNING = sa.text("state = 'running'")
_ENDED_CALL = sa.text("type = 'tool-end'")
LONG_TEXT = 1000
"""The length in characters from which a text of an answer is stored only in the journal and the message."""

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False, default=""),
    sa.Column("head_id", sa.Text),
    sa.Column("version", sa.Integer, nullable=False, default=1),
    sa.Column("usage", _JSON),
    sa.Column("agent", sa.Text),
    sa.Column("parent_id", sa.Text),
    sa.Column("origin", _JSON),
    sa.Column("options", _JSON),
    sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("folder", sa.Text),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("updated_at", sa.Double, nullable=False),
    sa.Index("sessions_by_owner", "owner", "updated_at"),
    sa.Index("sessions_by_parent", "parent_id"),
)

messages = sa.Table(
    "messages",
    metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("parent_id", sa.Text),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("parts", _JSON, nullable=False),
    sa.Column("content", _JSON, nullable=False),
    sa.Column("metadata", _JSON, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Index("messages_by_position", "session_id", "position", unique=True),
)

shares = sa.Table(
    "shares",
    metadata,
    sa.Column("token", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("head_id", sa.Text),
    sa.Column("with_work", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Index("shares_by_session", "session_id"),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE")),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("message_id", sa.Text),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("generation", sa.Integer, nullable=False, default=0),
    sa.Column("input", _JSON, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("result", _JSON),
    sa.Column("usage", _JSON),
    sa.Column("cost", sa.Double),
    sa.Column("input_tokens", sa.Integer, nullable=False, server_default="0"),
    sa.Column("output_tokens", sa.Integer, nullable=False, server_default="0"),
    sa.Column("error", _JSON),
    sa.Column("limit", sa.Text),
    sa.Column("notice", sa.Text),
    sa.Column("cancel_mode", sa.Text),
    sa.Column("mail", sa.Integer, nullable=False, server_default="0"),
    sa.Column("process_id", sa.Text),
    sa.Column("phase", sa.Text, nullable=False, server_default="working"),
    sa.Column("queue", sa.Text, nullable=False, server_default="default"),
    sa.Column("priority", sa.Integer, nullable=False, server_default="0"),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("waits_for", sa.Integer, nullable=False, server_default="0"),
    sa.Column("last_number", sa.Integer, nullable=False, default=0),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("ended_at", sa.Double),
    sa.Index("runs_by_session", "session_id", "created_at"),
    sa.Index("runs_by_time", "created_at"),
    sa.Index("runs_by_owner", "owner", "created_at"),
    sa.Index(
        "one_running_run_per_session",
        "session_id",
        unique=True,
        sqlite_where=_RUNNING,
        postgresql_where=_RUNNING,
    ),
    sa.Index("running_runs", "state", sqlite_where=_RUNNING, postgresql_where=_RUNNING),
)

run_shares = sa.Table(
    "run_shares",
    metadata,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("agent", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("cost", sa.Double),
    sa.Column("input_tokens", sa.Integer, nullable=False),
    sa.Column("output_tokens", sa.Integer, nullable=False),
)
"""The shares of the agents and models in the usage of a run, if it had more than one of them."""

past_usage = sa.Table(
    "past_usage",
    metadata,
    sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("agent", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("cost", sa.Double, nullable=False),
    sa.Column("input_tokens", sa.BigInteger, nullable=False),
    sa.Column("output_tokens", sa.BigInteger, nullable=False),
    sa.Column("unpriced_tokens", sa.BigInteger, nullable=False),
    sa.Column("runs", sa.Integer, nullable=False),
)
"""The usage of runs that were deleted with their sessions; days are counted from 1970."""

entries = sa.Table(
    "entries",
    metadata,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("last", sa.Integer, primary_key=True),
    sa.Column("first", sa.Integer, nullable=False),
    sa.Column("path", _JSON, nullable=False),
    sa.Column("time", sa.Double, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("call_id", sa.Text),
    sa.Column("body", _JSON, nullable=False),
    sa.Index(
        "one_result_per_call",
        "run_id",
        "call_id",
        unique=True,
        sqlite_where=_ENDED_CALL,
        postgresql_where=_ENDED_CALL,
    ),
)

asks = sa.Table(
    "asks",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("path", _JSON, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("call_id", sa.Text, nullable=False),
    sa.Column("payload", _JSON, nullable=False),
    sa.Column("timeout", sa.Double),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("value", _JSON),
    sa.Column("claimed_by", sa.Text),
    sa.Column("claimed_until", sa.Double),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Index("asks_by_run", "run_id", "state"),
    sa.Index("asks_by_owner", "owner", "state"),
    sa.Index("asks_by_call", "call_id"),
)

early_answers = sa.Table(
    "early_answers",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("call_id", sa.Text, primary_key=True),
    sa.Column("value", _JSON),
    sa.Column("expires_at", sa.Double, nullable=False),
)

inbox = sa.Table(
    "inbox",
    metadata,
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("parts", _JSON, nullable=False),
    sa.Column("content", _JSON, nullable=False),
    sa.Column("request", _JSON, nullable=False),
    sa.Column("taken_by", sa.Text),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Index("inbox_by_session", "session_id", "created_at"),
)

schedules = sa.Table(
    "schedules",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("cron", sa.Text, nullable=False),
    sa.Column("timezone", sa.Text, nullable=False),
    sa.Column("request", _JSON, nullable=False),
    sa.Column("missed", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("next_at", sa.Double),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Index("schedules_by_owner", "owner"),
    sa.Index("schedules_by_next", "next_at"),
)

ticks = sa.Table(
    "ticks",
    metadata,
    sa.Column("schedule_id", sa.Text, sa.ForeignKey("schedules.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tick_at", sa.Double, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text),
    sa.Column("session_id", sa.Text),
    sa.Column("detail", sa.Text),
    sa.Column("created_at", sa.Double, nullable=False),
)

artifacts = sa.Table(
    "artifacts",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("session_id", sa.Text, sa.ForeignKey("sessions.id", ondelete="CASCADE")),
    sa.Column("run_id", sa.Text),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("media_type", sa.Text, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Index("artifacts_by_session", "session_id"),
)

processes = sa.Table(
    "processes",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("engine", sa.Text, nullable=False),
    sa.Column("queues", _JSON, nullable=False),
    sa.Column("started_at", sa.Double, nullable=False),
    sa.Column("seen_at", sa.Double, nullable=False),
)

spending = sa.Table(
    "spending",
    metadata,
    sa.Column("day", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("cost", sa.Double, nullable=False),
    sa.Column("calls", sa.Integer, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False, server_default="0"),
)

reservations = sa.Table(
    "reservations",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("day", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("cost", sa.Double, nullable=False),
    sa.Column("calls", sa.Integer, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Index("reservations_by_account", "day", "scope", "name"),
    sa.Index("reservations_by_run", "run_id"),
)
"""What requests in progress hold in `spending`, and what runs keep for their last answer (`calls`)."""


def to_values(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, without the deep copy of `asdict`."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}
