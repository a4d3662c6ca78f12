CREATE TABLE budgets (
    name TEXT PRIMARY KEY,
    parent TEXT,
    definition TEXT NOT NULL              -- JSON
  );

CREATE INDEX budgets_below ON budgets (parent);

CREATE TABLE balances (
    budget TEXT NOT NULL,
    period TEXT NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    tokens DOUBLE PRECISION NOT NULL,
    requests DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (budget, period)
  );

CREATE TABLE holds (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    state TEXT NOT NULL,                  -- waiting, open, charged or granted
    usd DOUBLE PRECISION NOT NULL,
    tokens DOUBLE PRECISION NOT NULL,
    requests DOUBLE PRECISION NOT NULL,
    waits_in TEXT,                        -- name of the budget
    waits_period TEXT,
    since DOUBLE PRECISION NOT NULL       -- milliseconds since 1970, as all times
  );

CREATE INDEX holds_by_state ON holds (state, since);

CREATE INDEX holds_of_session ON holds (session);

CREATE TABLE hold_balances (
    hold TEXT NOT NULL,                   -- id
    level INTEGER NOT NULL,               -- 0: its own budget
    budget TEXT NOT NULL,
    period TEXT NOT NULL,
    PRIMARY KEY (hold, level)
  );

CREATE INDEX holds_in_balance ON hold_balances (budget, period);

CREATE TABLE budget_owners (
    owner TEXT PRIMARY KEY,
    until DOUBLE PRECISION NOT NULL
  );

CREATE TABLE budget_lock (
  id INTEGER PRIMARY KEY, -- 1
  holder TEXT NOT NULL,
  until REAL NOT NULL -- seconds since 1970, by the clock of the database
) STRICT;
