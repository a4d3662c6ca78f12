import type { ErrorData, Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { Reader } from '@cobbler/agent/input';
import {
  amount,
  callable,
  data,
  flag,
  oneOf,
  optional,
  read,
  record,
  text,
  withArguments,
  withMethods,
} from '@cobbler/agent/input';
import { backoff, defined } from '@cobbler/agent/values';
import type { MessagePart } from '../channel/channel.ts';
import { readPart } from '../channel/channel.ts';
import { readTime } from './chat-store.ts';
import type { Sql, SqlRow } from './sql.ts';
import { readSql } from './sql.ts';
import { numberIn, numberOrNone, textIn, textOrNone } from './sql-row.ts';

/**
 * `planned`: to be sent, or sent again. `sending`: a call of the channel is running, or was running when its process
 * crashed. `maybe_sent`: all allowed attempts were made, and at least one may have arrived. `given_up`: never sent, and
 * will not be.
 */
export type OutboxState = 'planned' | 'sending' | 'sent' | 'maybe_sent' | 'given_up';

/** A part of a reply that is being delivered. */
export interface OutboxEntry {
  readonly key: string;
  readonly chatId: string;
  readonly piece: MessagePart;
  readonly state: OutboxState;
  /** Number of started attempts. */
  readonly attempts: number;
  /** Number of attempts that may have arrived without a response. */
  readonly doubts: number;
  /** The channel's id of the message that this part replies to. */
  readonly replyTo?: string;
  /** The earliest time of the next attempt, in milliseconds since 1970. */
  readonly nextTryAt?: number;
  /** The channel's id of the sent message. */
  readonly messageId?: string;
  /** Why the last attempt failed, or why the part was abandoned. */
  readonly error?: ErrorData;
}

/** The outcome of a message part. */
export type Delivery =
  | { readonly state: 'sent'; readonly messageId: string }
  | { readonly state: 'maybe_sent' }
  | { readonly state: 'given_up'; readonly error?: ErrorData };

/** Options of {@link Outbox.deliver}. */
export interface DeliverOptions {
  /** The channel's id of the message that this part replies to. */
  readonly replyTo?: string;
  /** The id of the {@link KeptAnswer} that contains this part. */
  readonly answer?: string;
  /** True to attempt delivery even if the delay after the last attempt is not over. Default false. */
  readonly atOnce?: boolean;
}

/** Information for the channel about one attempt. */
export interface SendAttempt {
  /** True if an earlier attempt may have arrived. The message must then say so. */
  readonly isRepeat: boolean;
  readonly replyTo?: string;
}

/** Sends one part and returns the channel's id of the message. */
export type SendPiece = (piece: MessagePart, attempt: SendAttempt) => Promise<string>;

/** A model response, stored before its first part is sent. */
export interface KeptAnswer {
  readonly id: string;
  readonly chatId: string;
  readonly markdown: string;
  /** The channel's id of the message that it replies to. */
  readonly replyTo?: string;
}

/**
 * Sends each part until the channel confirms it. The limits are stored in the database and so apply across restarts:
 * {@link OutboxOptions.attempts}, and {@link OutboxOptions.doubts} of them without a response.
 */
export interface Outbox {
  /**
   * Sends a message part unless it was sent before. The key identifies the part permanently: the first part with a
   * key is the one that is sent. Each attempt is recorded before `send` is called. An attempt that ended with code
   * `maybe_sent`, or whose process crashed, is repeated with `isRepeat`. Concurrent calls with one key in one process
   * are one call.
   * @throws AgentError the error of `send`, with `retryAfterMs`, while attempts remain; code `retry_later`,
   * retryable, when the next attempt is not due yet or another process is sending the part.
   */
  deliver(
    key: string,
    chatId: string,
    piece: MessagePart,
    send: SendPiece,
    options?: DeliverOptions,
  ): Promise<Delivery>;
  /**
   * Records that the part that was being sent has arrived, because someone responded to it, although the channel did not
   * confirm it: the response can arrive before the confirmation, and the process can crash between the two.
   * @param keys the prefix of the keys of all parts of the message
   */
  confirm(keys: string, chatId: string, messageId: string): Promise<void>;
  /** Abandons a planned part, so that it is not sent again. Returns false if it is not planned. */
  giveUp(key: string, error: ErrorData): Promise<boolean>;
  /** Returns message parts, oldest first; at most 100 by default. */
  list(filter?: {
    readonly state?: OutboxState;
    readonly chatId?: string;
    readonly limit?: number;
  }): Promise<readonly OutboxEntry[]>;
  /** Stores an answer. One that is already stored stays unchanged. */
  keepAnswer(answer: KeptAnswer): Promise<void>;
  /** Returns the latest answer of a chat, or the one that replies to or contains the message with this id. */
  answer(chatId: string, messageId?: string): Promise<KeptAnswer | undefined>;
  /** Deletes a chat's parts and answers. Returns the number of parts. */
  forget(chatId: string): Promise<number>;
  /**
   * Deletes parts older than a time in milliseconds since 1970, unless they are still to be sent or a process that
   * crashed was sending them, and answers. Returns the number of parts.
   */
  prune(before: number): Promise<number>;
}

/** Clock and limits of an outbox. */
export interface OutboxOptions {
  /** Default: the real runtime. */
  readonly runtime?: Runtime;
  /** Maximum number of attempts for a part. Default 21: with the delays between them, about 15 minutes. */
  readonly attempts?: number;
  /** Maximum number of attempts that may have arrived. Default 4. */
  readonly doubts?: number;
  /**
   * Time after which a part that another process was sending counts as abandoned, in milliseconds. Longer than any
   * call of the channel. Default 90,000; 0 if only one process at a time uses the database.
   */
  readonly leaseMs?: number;
}

const columns =
  'key, chat_id, piece, state, attempts, doubts, reply_to, next_try_at, message_id, error, updated_at';

const firstPauseMs = 1000;
const maxPauseMs = 60_000;

const plan = `
  INSERT INTO outbox (key, chat_id, piece, state, attempts, created_at, updated_at, reply_to, answer)
  VALUES (?1, ?2, ?3, 'planned', 0, ?4, ?4, ?5, ?6) ON CONFLICT (key) DO NOTHING`;

/** Claims a part for one of several concurrent senders. A part left in the state `sending` has one more doubt. */
const take = `
  UPDATE outbox SET state = 'sending', owner = ?2, attempts = attempts + 1, doubts = doubts + (state = 'sending'),
    next_try_at = NULL, updated_at = ?3
  WHERE key = ?1 AND doubts + (state = 'sending') < ?5 AND (
    (state = 'planned' AND (?6 OR coalesce(next_try_at, 0) <= ?3)) OR (state = 'sending' AND updated_at <= ?4))
  RETURNING ${columns}`;

/** Marks a part that was left in the state `sending` after its last allowed doubt. */
const doubt = `
  UPDATE outbox SET state = 'maybe_sent', doubts = doubts + 1, updated_at = ?3
  WHERE key = ?1 AND owner <> ?2 AND state = 'sending' AND updated_at <= ?4`;

const settle = `
  UPDATE outbox SET state = ?3, message_id = ?4, error = ?5, next_try_at = ?6, updated_at = ?7, doubts = doubts + ?8
  WHERE key = ?1 AND owner = ?2 AND state IN ('sending', 'maybe_sent')`;

const remove = 'DELETE FROM outbox WHERE';

const findAnswer = `
  SELECT id, chat_id, markdown, reply_to FROM answers
  WHERE chat_id = ?1 AND (?2 IS NULL OR reply_to = ?2
    OR id IN (SELECT answer FROM outbox WHERE chat_id = ?1 AND message_id = ?2))
  ORDER BY rowid DESC LIMIT 1`;

const readOptions = record<OutboxOptions>({
  runtime: withMethods('now', 'id'),
  attempts: amount,
  doubts: amount,
  leaseMs: amount,
});

/** Reads an outbox. */
export const readOutbox: Reader<Outbox> = withMethods(
  ...(['deliver', 'confirm', 'giveUp', 'list', 'keepAnswer', 'answer', 'forget', 'prune'] as const),
);

const readDeliverOptions = record<DeliverOptions>({ replyTo: text, answer: text, atOnce: flag });

const readError: Reader<ErrorData> = (value) => new AgentError(data<ErrorData>(value)).toJSON();

const readFilter = record<NonNullable<Parameters<Outbox['list']>[0]>>({
  state: oneOf('planned', 'sending', 'sent', 'maybe_sent', 'given_up'),
  chatId: text,
  limit: amount,
});

const readAnswer = record<KeptAnswer>({ id: text, chatId: text, markdown: text, replyTo: text }, [
  'id',
  'chatId',
  'markdown',
]);

/**
 * Creates an outbox in a database, which several processes can share.
 * @throws AgentError `invalid` for an invalid database or option.
 */
export function sqlOutbox(sql: Sql, options: OutboxOptions = {}): Outbox {
  const { runtime = systemRuntime, attempts = 21, doubts = 4, leaseMs = 90_000 } = read(options, readOptions);
  const settings = { sql: read(sql, readSql, 'sql'), runtime, attempts, doubts, leaseMs };
  return withArguments(outboxIn(settings), {
    deliver: {
      key: text,
      chatId: text,
      piece: readPart,
      send: callable,
      options: optional(readDeliverOptions),
    },
    confirm: { keys: text, chatId: text, messageId: text },
    giveUp: { key: text, error: readError },
    list: { filter: optional(readFilter) },
    keepAnswer: { answer: readAnswer },
    answer: { chatId: text, messageId: optional(text) },
    forget: { chatId: text },
    prune: { before: readTime },
  });
}

function outboxIn(settings: OutboxSettings): Outbox {
  const { sql, runtime } = settings;
  const pendingDeliveries = new Map<string, Promise<Delivery>>();
  return {
    deliver(key, chatId, piece, send, given = {}) {
      const found = pendingDeliveries.get(key);
      if (found !== undefined) return found;
      const delivery = deliverOnce(settings, { key, chatId, piece, ...given }, send).finally(() =>
        pendingDeliveries.delete(key),
      );
      pendingDeliveries.set(key, delivery);
      return delivery;
    },
    async confirm(keys, chatId, messageId) {
      await sql.run(
        `UPDATE outbox SET state = 'sent', message_id = ?3, next_try_at = NULL, updated_at = ?4
         WHERE substr(key, 1, length(?1)) = ?1 AND chat_id = ?2 AND state IN ('sending', 'maybe_sent')`,
        [keys, chatId, messageId, runtime.now()],
      );
    },
    async giveUp(key, error) {
      const { changes } = await sql.run(
        `UPDATE outbox SET state = CASE doubts WHEN 0 THEN 'given_up' ELSE 'maybe_sent' END, error = ?2,
           next_try_at = NULL, updated_at = ?3
         WHERE key = ?1 AND state = 'planned'`,
        [key, JSON.stringify(error), runtime.now()],
      );
      return changes > 0;
    },
    async list({ state, chatId, limit = 100 } = {}) {
      const { rows } = await sql.run(
        `SELECT ${columns} FROM outbox WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR chat_id = ?2)
         ORDER BY rowid LIMIT ?3`,
        [state ?? null, chatId ?? null, limit],
      );
      return rows.map(entryIn);
    },
    async keepAnswer({ id, chatId, markdown, replyTo }) {
      await sql.run(
        `INSERT INTO answers (id, chat_id, markdown, reply_to, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO NOTHING`,
        [id, chatId, markdown, replyTo ?? null, runtime.now()],
      );
    },
    async answer(chatId, messageId) {
      const { rows } = await sql.run(findAnswer, [chatId, messageId ?? null]);
      return rows[0] === undefined ? undefined : answerIn(rows[0]);
    },
    async forget(chatId) {
      const [removed] = await sql.batch([
        { text: `${remove} chat_id = ?1`, params: [chatId] },
        { text: 'DELETE FROM answers WHERE chat_id = ?1', params: [chatId] },
      ]);
      return removed?.changes ?? 0;
    },
    async prune(before) {
      // A part that a crashed process was sending may have arrived: without it, the next attempt would not say so.
      const ended = "state NOT IN ('planned', 'sending')";
      const [removed] = await sql.batch([
        { text: `${remove} updated_at < ?1 AND ${ended}`, params: [before] },
        { text: 'DELETE FROM answers WHERE created_at < ?1', params: [before] },
      ]);
      return removed?.changes ?? 0;
    },
  };
}

interface OutboxSettings extends Required<OutboxOptions> {
  readonly sql: Sql;
}

async function deliverOnce(
  settings: OutboxSettings,
  {
    key,
    chatId,
    piece,
    replyTo,
    answer,
    atOnce = false,
  }: Pick<OutboxEntry, 'key' | 'chatId' | 'piece'> & DeliverOptions,
  send: SendPiece,
): Promise<Delivery> {
  const { sql, runtime, doubts, leaseMs } = settings;
  const now = runtime.now();
  const owner = runtime.id();
  // Without a lease, every other sender counts as dead, even one with a clock ahead of this one.
  const leftBehind = leaseMs === 0 ? Number.MAX_SAFE_INTEGER : now - leaseMs;
  const [, claimed, , found] = await sql.batch([
    { text: plan, params: [key, chatId, JSON.stringify(piece), now, replyTo ?? null, answer ?? null] },
    { text: take, params: [key, owner, now, leftBehind, doubts, Number(atOnce)] },
    { text: doubt, params: [key, owner, now, leftBehind] },
    { text: `SELECT ${columns} FROM outbox WHERE key = ?1`, params: [key] },
  ]);
  const ownRow = claimed?.rows[0];
  return ownRow === undefined
    ? outcomeOf(settings, found?.rows[0] ?? {}, now)
    : sendIt(settings, owner, entryIn(ownRow), send);
}

async function sendIt(
  settings: OutboxSettings,
  owner: string,
  entry: OutboxEntry,
  send: SendPiece,
): Promise<Delivery> {
  const { sql, runtime } = settings;
  const { key, piece, replyTo } = entry;
  let messageId: string;
  try {
    const isRepeat = entry.doubts > 0;
    messageId = await send(piece, { isRepeat, ...defined({ replyTo }) });
  } catch (thrown) {
    return await recordFailure(settings, owner, entry, thrown);
  }
  await sql.run(settle, [key, owner, 'sent', messageId, null, null, runtime.now(), 0]);
  return { state: 'sent', messageId };
}

async function recordFailure(
  { sql, runtime, ...bounds }: OutboxSettings,
  owner: string,
  { key, attempts, doubts: before }: OutboxEntry,
  thrown: unknown,
): Promise<Delivery> {
  const error = AgentError.from(thrown);
  // The channel reports a known outcome as an AgentError; after any other error, the outcome is unknown.
  const isDoubt = !AgentError.is(thrown) || error.code === 'maybe_sent';
  const doubts = before + Number(isDoubt);
  const isOver = attempts >= bounds.attempts || doubts >= bounds.doubts;
  const state = !isOver ? 'planned' : doubts > 0 ? 'maybe_sent' : 'given_up';
  const again = isDoubt || error.retryable || error.retryAfterMs !== undefined;
  const doubled = backoff({ baseMs: firstPauseMs, maxMs: maxPauseMs }, attempts - 1);
  const waitMs = Math.max(doubled, error.retryAfterMs ?? 0);
  const data = error.toJSON();
  const nextTryAt = isOver || !again ? null : runtime.now() + waitMs;
  const rest = [JSON.stringify(data), nextTryAt, runtime.now(), Number(isDoubt)];
  await sql.run(settle, [key, owner, state, null, ...rest]);
  if (state === 'given_up') return { state, error: data };
  if (state === 'maybe_sent') return { state };
  const retryable = isDoubt || error.retryable;
  throw again ? new AgentError({ ...data, retryable, retryAfterMs: waitMs }) : error;
}

function outcomeOf({ leaseMs }: OutboxSettings, row: SqlRow, now: number): Delivery {
  const { key, state, messageId, error, nextTryAt } = entryIn(row);
  if (state === 'sent' && messageId !== undefined) return { state, messageId };
  if (state === 'given_up') return { state, ...defined({ error }) };
  if (state === 'maybe_sent') return { state };
  const due = state === 'sending' ? numberIn(row, 'updated_at') + leaseMs : (nextTryAt ?? now);
  const why = state === 'sending' ? 'another process is sending it' : 'the last attempt failed';
  throw new AgentError({
    kind: 'network',
    code: 'retry_later',
    retryable: true,
    retryAfterMs: Math.max(due - now, 0),
    message: `Message part ${key} was not sent: ${why}. The next attempt is due in ${Math.max(due - now, 0)} ms.`,
  });
}

function entryIn(row: SqlRow): OutboxEntry {
  const nextTryAt = numberOrNone(row, 'next_try_at');
  const messageId = textOrNone(row, 'message_id');
  const replyTo = textOrNone(row, 'reply_to');
  const error = textOrNone(row, 'error');
  return {
    key: textIn(row, 'key'),
    chatId: textIn(row, 'chat_id'),
    piece: JSON.parse(textIn(row, 'piece')) as MessagePart,
    state: textIn(row, 'state') as OutboxState,
    attempts: numberIn(row, 'attempts'),
    doubts: numberIn(row, 'doubts'),
    ...defined({ replyTo, nextTryAt, messageId }),
    ...(error !== undefined && { error: JSON.parse(error) as ErrorData }),
  };
}

function answerIn(row: SqlRow): KeptAnswer {
  const replyTo = textOrNone(row, 'reply_to');
  const [id, chatId, markdown] = [textIn(row, 'id'), textIn(row, 'chat_id'), textIn(row, 'markdown')];
  return { id, chatId, markdown, ...defined({ replyTo }) };
}
