CREATE TABLE audit_lines (
  seq INTEGER PRIMARY KEY, -- starting at 1
  line TEXT NOT NULL -- JSON in ASCII
) STRICT;
