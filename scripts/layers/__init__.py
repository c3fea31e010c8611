"""The table of folders with their permitted includes (rules), and the check of a source tree against this table (check)."""
