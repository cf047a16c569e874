"""The paper's experiments: its printed tables, and the same tables from our own runs."""
