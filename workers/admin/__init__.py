"""The operator's command: `sigtest-admin`."""
