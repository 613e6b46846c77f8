"""What Alembic runs: the steps, on the connection it was given."""

from alembic import context

from dovetail.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
