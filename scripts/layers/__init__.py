"""The table of folders and their permitted includes (rules), and the check that a source tree follows this table (check)."""
