import type { RunEndState } from '@cobbler/agent/runner';
import type { Sql, SqlRow } from '../storage/sql.ts';
import { numberIn, numberOrNone, textIn, textOrNone } from '../storage/sql-row.ts';

/** The current state of a run. */
export interface StoredRun {
  readonly state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly epoch: number;
  readonly dueAt: number;
  /** The output or the error as JSON, if any. */
  readonly text: string | undefined;
}

/** A claimed run, valid until another process claims it. */
export interface OwnRun {
  readonly epoch: number;
  /** Input as JSON. */
  readonly input: string;
}

const isOpen = "state IN ('queued', 'running')";

const insertRun = `
  INSERT INTO runs (id, key, state, epoch, created_at, updated_at, due_at)
  SELECT ?1, ?2, 'queued', 0, ?3, ?3, ?5
  WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = ?1)
    AND (SELECT count(*) FROM runs WHERE key = ?2 AND ${isOpen} AND due_at <= ?3) <= ?4`;

/** Inserts the input of a new run. An existing run already has one, so the statement has no effect on it. */
const insertInput = `
  INSERT INTO run_values (run_id, kind, name, text)
  SELECT id, 'input', '', ?2 FROM runs WHERE id = ?1
  ON CONFLICT (run_id, kind, name) DO NOTHING`;

const claim = `
  UPDATE runs SET state = 'running', epoch = epoch + 1, updated_at = ?2
  WHERE id = ?1 AND ${isOpen} AND due_at <= ?2 AND NOT EXISTS (
    SELECT 1 FROM runs AS other
    WHERE other.key = runs.key AND other.id <> runs.id AND (other.state = 'running'
      OR (other.state = 'queued' AND other.seq < runs.seq AND other.due_at <= ?2)))
  RETURNING epoch`;

const insertOutput = `
  INSERT INTO run_values (run_id, kind, name, text)
  SELECT id, 'output', '', ?3 FROM runs WHERE id = ?1 AND epoch = ?2 AND state = 'running'
  ON CONFLICT (run_id, kind, name) DO NOTHING`;

const insertFailure = `
  INSERT INTO run_values (run_id, kind, name, text)
  SELECT id, 'output', '', ?2 FROM runs WHERE id = ?1 AND ${isOpen}
  ON CONFLICT (run_id, kind, name) DO NOTHING`;

const insertSignal = `
  INSERT INTO run_values (run_id, kind, name, text)
  SELECT id, 'signal', ?2, ?3 FROM runs WHERE id = ?1 AND ${isOpen}
  ON CONFLICT (run_id, kind, name) DO NOTHING`;

const sameKey = 'key = (SELECT key FROM runs WHERE id = ?1)';

/** Selects the queued run with the same key whose turn it is: none while one is running. */
const nextOfKey = `
  SELECT id FROM runs WHERE ${sameKey} AND state = 'queued' AND due_at <= ?2
    AND NOT EXISTS (SELECT 1 FROM runs WHERE ${sameKey} AND state = 'running')
  ORDER BY seq LIMIT 1`;

const old = "state NOT IN ('queued', 'running') AND updated_at < ?1";

/** Stores runs in D1: their order, their inputs, signals and outcomes. */
export class D1RunTable {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Records a run, unless it exists, or more than `maxAhead` with its key are due and open. */
  async start(
    run: {
      readonly runId: string;
      readonly key: string | undefined;
      readonly input: string;
      readonly dueAt: number | undefined;
    },
    maxAhead: number,
    now: number,
  ): Promise<{ readonly isNew: boolean; readonly isOpen: boolean; readonly isThere: boolean }> {
    const { runId, key = null, input, dueAt = 0 } = run;
    const [inserted, , found] = await this.#sql.batch([
      { text: insertRun, params: [runId, key, now, maxAhead, dueAt] },
      { text: insertInput, params: [runId, input] },
      { text: 'SELECT state FROM runs WHERE id = ?1', params: [runId] },
    ]);
    const state = textOrNone(found?.rows[0], 'state');
    return {
      isNew: (inserted?.changes ?? 0) > 0,
      isOpen: state === 'queued' || state === 'running',
      isThere: state !== undefined,
    };
  }

  /** Claims a run from its previous owner. Returns undefined if it is not its turn or it has ended. */
  async claim(runId: string, now: number): Promise<OwnRun | undefined> {
    const [claimed, given] = await this.#sql.batch([
      { text: claim, params: [runId, now] },
      { text: "SELECT text FROM run_values WHERE run_id = ?1 AND kind = 'input'", params: [runId] },
    ]);
    const epoch = numberOrNone(claimed?.rows[0], 'epoch');
    return epoch === undefined ? undefined : { epoch, input: textIn(given?.rows[0], 'text') };
  }

  async storedRun(runId: string): Promise<StoredRun | undefined> {
    const { rows } = await this.#sql.run(
      `SELECT state, epoch, due_at, text FROM runs LEFT JOIN run_values ON run_id = id AND kind = 'output' WHERE id = ?1`,
      [runId],
    );
    return rows[0] === undefined ? undefined : storedRunIn(rows[0]);
  }

  /** Ends a run if its epoch is still current. */
  async finish(runId: string, epoch: number, { state, text }: RunEndState, now: number): Promise<boolean> {
    const [, ended] = await this.#sql.batch([
      { text: insertOutput, params: [runId, epoch, text] },
      {
        text: `UPDATE runs SET state = ?3, updated_at = ?4 WHERE id = ?1 AND epoch = ?2 AND state = 'running'`,
        params: [runId, epoch, state, now],
      },
    ]);
    return (ended?.changes ?? 0) > 0;
  }

  /** Ends a run without an owner. */
  async fail(runId: string, error: string, now: number): Promise<boolean> {
    const [, ended] = await this.#sql.batch([
      { text: insertFailure, params: [runId, error] },
      {
        text: `UPDATE runs SET state = 'failed', epoch = epoch + 1, updated_at = ?2 WHERE id = ?1 AND ${isOpen}`,
        params: [runId, now],
      },
    ]);
    return (ended?.changes ?? 0) > 0;
  }

  async cancel(runId: string, now: number): Promise<boolean> {
    const { changes } = await this.#sql.run(
      `UPDATE runs SET state = 'cancelled', epoch = epoch + 1, updated_at = ?2 WHERE id = ?1 AND ${isOpen}`,
      [runId, now],
    );
    return changes > 0;
  }

  /**
   * Returns the run whose turn it is after this one has ended. None while another one has the key: each wake costs it
   * one of the steps that the engine allows.
   */
  async next(runId: string, now: number): Promise<string | undefined> {
    return textOrNone((await this.#sql.run(nextOfKey, [runId, now])).rows[0], 'id');
  }

  /** Stores the first signal with a name. Null means that the run no longer waits for it. */
  async signal(runId: string, name: string, text: string | null): Promise<boolean> {
    return (await this.#sql.run(insertSignal, [runId, name, text])).changes > 0;
  }

  /** Returns a signal as JSON; null if the run has stopped waiting for it; undefined if it can still arrive. */
  async signalled(runId: string, name: string): Promise<string | null | undefined> {
    const { rows } = await this.#sql.run(
      "SELECT text FROM run_values WHERE run_id = ?1 AND kind = 'signal' AND name = ?2",
      [runId, name],
    );
    return rows[0] === undefined ? undefined : (textOrNone(rows[0], 'text') ?? null);
  }

  /** Returns unfinished runs that were started or claimed before a time, oldest first. */
  async openSince(before: number, limit: number): Promise<readonly string[]> {
    const { rows } = await this.#sql.run(
      `SELECT id FROM runs WHERE ${isOpen} AND updated_at <= ?1 ORDER BY seq LIMIT ?2`,
      [before, limit],
    );
    return rows.map((row) => textIn(row, 'id'));
  }

  /** Deletes runs that ended before a time. Returns their number. */
  async prune(before: number): Promise<number> {
    const [, runs] = await this.#sql.batch([
      {
        text: `DELETE FROM run_values WHERE run_id IN (SELECT id FROM runs WHERE ${old})`,
        params: [before],
      },
      { text: `DELETE FROM runs WHERE ${old}`, params: [before] },
    ]);
    return runs?.changes ?? 0;
  }
}

const states: ReadonlySet<string> = new Set(['queued', 'running', 'done', 'failed', 'cancelled']);

function storedRunIn(row: SqlRow): StoredRun {
  const state = textIn(row, 'state');
  return {
    // The schema allows no other state. If it was changed, the run counts as ended.
    state: states.has(state) ? (state as StoredRun['state']) : 'failed',
    epoch: numberIn(row, 'epoch'),
    dueAt: numberIn(row, 'due_at'),
    text: textOrNone(row, 'text'),
  };
}
