import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { amount, callable, read, record, signal, withMethods } from '@cobbler/agent/input';
import { backoff, defined } from '@cobbler/agent/values';
import type { TelegramApi } from './api.ts';
import { readApi } from './api.ts';
import { wantedUpdates } from './setup.ts';

/** Stores the number up to which updates have been accepted. */
export interface OffsetStore {
  /** Returns the id after the last accepted update; undefined before the first one. */
  load(): Promise<number | undefined>;
  save(offset: number): Promise<void>;
}

/** Options of {@link poll}: the API and the function that receives updates. */
export interface PollOptions {
  readonly api: TelegramApi;
  readonly runtime?: Runtime;
  /** Stops polling immediately. Updates that were not accepted are delivered again next time. */
  readonly signal: AbortSignal;
  /**
   * Resolves when the update is stored durably; only then does Telegram forget it. If it rejects, the update is
   * delivered again after a delay. Updates arrive one at a time. After a crash, the same update may arrive twice.
   */
  readonly onUpdate: (update: unknown) => Promise<void>;
  /** Default: none, because Telegram itself stores what was confirmed. */
  readonly offsets?: OffsetStore;
  /** Receives every failure that is retried. */
  readonly onTrouble?: (error: AgentError) => void;
  /** Time that Telegram waits for an update before it responds, in seconds. Default 50. */
  readonly waitSeconds?: number;
}

const readOptions = record<PollOptions>(
  {
    api: readApi,
    runtime: withMethods('timer', 'random'),
    signal,
    onUpdate: callable,
    offsets: withMethods('load', 'save'),
    onTrouble: callable,
    waitSeconds: amount,
  },
  ['api', 'signal', 'onUpdate'],
);

const minPauseMs = 1000;
const maxPauseMs = 30_000;

/** Number of consecutive conflicts with another poller that are tolerated, because one that is being replaced ends soon. */
const conflicts = 5;

/**
 * Fetches updates until `signal` is aborted, then resolves.
 *
 * @throws AgentError `auth` for an invalid token, `invalid` with code `webhook_set` or `other_poller` if the updates
 * are delivered elsewhere. Other failures are retried without limit.
 */
export async function poll(given: PollOptions): Promise<void> {
  const options = read(given, readOptions);
  const { signal, offsets, runtime = systemRuntime } = options;
  let offset: number | undefined;
  let known = false;
  let failures = 0;
  while (!signal.aborted) {
    try {
      if (!known) {
        offset = await offsets?.load();
        known = true;
      }
      for (const update of await fetchUpdates(options, offset)) {
        await accept(options, update);
        offset = update.update_id + 1;
        await offsets?.save(offset);
        failures = 0;
        if (signal.aborted) return await confirm(options, offset);
      }
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      const trouble = AgentError.from(error);
      failures += 1;
      if (isFinal(trouble, failures)) throw trouble;
      options.onTrouble?.(trouble);
      const backoffMs = backoff({ baseMs: minPauseMs, maxMs: maxPauseMs }, failures - 1);
      await pause(runtime, trouble.retryAfterMs ?? backoffMs, signal);
    }
  }
}

interface Update {
  readonly update_id: number;
}

async function fetchUpdates(
  { api, signal, waitSeconds = 50 }: PollOptions,
  offset: number | undefined,
): Promise<Update[]> {
  const updates: unknown = await api.raw.getUpdates(
    { timeout: waitSeconds, allowed_updates: wantedUpdates, ...defined({ offset }) },
    signal,
  );
  return (Array.isArray(updates) ? updates : []).filter(isUpdate);
}

/** Confirms the last updates. Usually the next fetch does so, but there is none after the last one. */
async function confirm({ api, offsets }: PollOptions, offset: number): Promise<void> {
  // With an offset store, nothing is lost without confirmation; without one, the update would be delivered again.
  if (offsets !== undefined) return;
  await api.raw.getUpdates({ offset, limit: 1, timeout: 0, allowed_updates: wantedUpdates }).catch(() => {});
}

async function accept({ onUpdate }: PollOptions, update: Update): Promise<void> {
  try {
    await onUpdate(update);
  } catch (error) {
    const { message, cause } = AgentError.from(error);
    throw new AgentError({
      kind: 'tool',
      code: 'not_accepted',
      message: `Update ${update.update_id} could not be stored and will be delivered again: ${message}`,
      ...defined({ cause }),
    });
  }
}

function isFinal({ kind, code }: AgentError, failures: number): boolean {
  return kind === 'auth' || code === 'webhook_set' || (code === 'other_poller' && failures > conflicts);
}

function pause(runtime: Runtime, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = runtime.timer(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}

function isUpdate(value: unknown): value is Update {
  return (
    typeof value === 'object' &&
    value !== null &&
    'update_id' in value &&
    Number.isSafeInteger(value.update_id)
  );
}
