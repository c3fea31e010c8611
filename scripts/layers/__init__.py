"""The table of folders and what each may include (rules), and the check of a source tree against it (check)."""
