"""The database: connections, tables, migrations, backup and retention."""
