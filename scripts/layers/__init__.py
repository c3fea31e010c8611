"""Holds the table of folders and their permitted includes (rules), and checks that a source tree follows this table (check)."""
