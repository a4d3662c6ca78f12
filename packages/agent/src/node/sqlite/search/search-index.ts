import type { Event } from '../../../events/event.ts';
import type { SearchHit, SearchPage, SearchQuery } from '../../../store/store.ts';
import { pageSize, parseCursor } from '../../../store/store.ts';
import { parsedJson } from '../../../values/json.ts';
import { textIn } from '../../../values/message.ts';
import type { Statements } from '../statements.ts';
import { snippetOf, wordsOf } from './snippet.ts';

/** Number of events that one transaction reads. */
const eventsAtOnce = 2_000;

/**
 * The full-text index of messages. The first search creates it, so that a store that is never searched has none. Every
 * search adds the events since the last one, so that appending an event costs nothing. It contains no text: snippets come
 * from the events. Methods that write must be called in a transaction.
 */
export class SearchIndex {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Adds the next events. Returns true if all are in the index. */
  extend(): boolean {
    if (!this.#exists) for (const statement of creation) this.#sql.run(statement);
    const rows = this.#sql.rows<EventRow>(selectNext, eventsAtOnce);
    for (const { place, json } of rows) {
      const text = messageIn(json)?.text;
      if (text !== undefined)
        this.#sql.run('INSERT INTO message_words (rowid, words) VALUES (?, ?)', place, text);
    }
    const last = rows.at(-1);
    if (last !== undefined)
      this.#sql.run("UPDATE counters SET value = ? WHERE name = 'searched'", last.place);
    return rows.length < eventsAtOnce;
  }

  /** Removes the events of a session that is about to be removed, given its key. */
  remove(key: number): void {
    if (this.#exists) for (const removal of removals) this.#sql.run(removal, key);
  }

  find(query: SearchQuery, isComplete: boolean): SearchPage {
    const words = wordsOf(query.words);
    const before = query.after === undefined ? Number.MAX_SAFE_INTEGER : parseCursor(query.after).key;
    if (words.length === 0) return { hits: [], isComplete };
    const limit = pageSize(query);
    const match = words.map((word) => `"${word}"*`).join(' ');
    const rows = this.#sql.rows<HitRow>(selectHits, match, before, limit + 1);
    const hits = rows.slice(0, limit).flatMap(({ id, seq, json }): SearchHit[] => {
      const { role, text } = messageIn(json) ?? {};
      if (role === undefined || text === undefined) return [];
      return [{ sessionId: id, seq, role, snippet: snippetOf(text, words) }];
    });
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return { hits, isComplete, ...(last !== undefined && { next: `0.${last.place}` }) };
  }

  get #exists(): boolean {
    return this.#sql.row("SELECT 1 FROM sqlite_schema WHERE name = 'message_words'") !== undefined;
  }
}

interface EventRow {
  readonly place: number;
  readonly json: string;
}

interface HitRow extends EventRow {
  readonly id: string;
  readonly seq: number;
}

/** Returns the message of an event; undefined for other events and damaged ones. */
function messageIn(json: string): { readonly role: SearchHit['role']; readonly text: string } | undefined {
  const event = parsedJson(json) as Event | undefined;
  if (event?.type !== 'user' && event?.type !== 'assistant') return undefined;
  return { role: event.type, text: textIn(event.content) };
}

const creation = [
  `CREATE VIRTUAL TABLE message_words
    USING fts5(words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0')`,
  "INSERT OR REPLACE INTO counters VALUES ('searched', 0)",
] as const;

const searched = "(SELECT value FROM counters WHERE name = 'searched')";
const selectNext = `SELECT place, json FROM events WHERE place > ${searched} ORDER BY place LIMIT ?`;

const selectHits = `
  SELECT message_words.rowid AS place, sessions.id AS id, events.seq AS seq, events.json AS json
  FROM message_words
  CROSS JOIN events ON events.place = message_words.rowid
  CROSS JOIN segments ON segments.segment = events.segment
  CROSS JOIN sessions ON sessions.key = segments.session
  WHERE message_words MATCH ? AND message_words.rowid < ?
  ORDER BY message_words.rowid DESC
  LIMIT ?`;

/** Like the statements that remove the events themselves: only the places of some events are indexed. */
const removals = [
  `DELETE FROM message_words WHERE rowid IN (
    SELECT place FROM places WHERE segment IN (SELECT segment FROM segments WHERE session = ?))`,
  `DELETE FROM message_words WHERE rowid IN (
    SELECT place FROM events WHERE place > (SELECT value FROM counters WHERE name = 'noted')
      AND place <= ${searched} AND segment IN (SELECT segment FROM segments WHERE session = ?))`,
] as const;
