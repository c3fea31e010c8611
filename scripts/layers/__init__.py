"""Which folder may include which, as a table (rules), and the check of a tree against it (check)."""
