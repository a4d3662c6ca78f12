import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { EmbedOptions } from './embedder.ts';
import type { MemoryIndex, Recall, Recalled } from './memory-index.ts';

/** Options of {@link recallFor}. */
export interface RecallOptions extends Recall, EmbedOptions {
  /** Maximum time that a reply waits for memories, in milliseconds. Default 3,000. */
  readonly timeoutMs?: number;
  /** Receives the reason why nothing was recalled. */
  readonly report?: (error: AgentError) => void;
  /** Default: the real runtime. */
  readonly runtime?: Runtime;
}

/** Maximum length of a query in characters. The important text is usually at the start or the end. */
const maxQueryLength = 2000;

/**
 * Returns the memories of a chat that match a text, best first. Never rejects, and never delays a reply beyond the limit: if the memory fails or is late, it returns none, and `report` receives the reason.
 */
export async function recallFor(
  memory: MemoryIndex,
  chatId: string,
  words: string,
  options: RecallOptions = {},
): Promise<readonly Recalled[]> {
  const { signal, timeoutMs = 3000, report = () => {}, runtime = systemRuntime, ...recall } = options;
  const query = excerpt(words.trim());
  if (query === '' || signal?.aborted === true) return [];
  const late = new AbortController();
  const stop = () => late.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const clear = runtime.timer(timeoutMs, () => late.abort(tooLate(timeoutMs)));
  try {
    const search = Promise.resolve(memory.search(chatId, query, { ...recall, signal: late.signal }));
    return await Promise.race([search, aborted(late.signal)]);
  } catch (error) {
    tell(report, AgentError.from(error));
    return [];
  } finally {
    clear();
    signal?.removeEventListener('abort', stop);
  }
}

function excerpt(text: string): string {
  return text.length <= maxQueryLength
    ? text
    : `${text.slice(0, maxQueryLength / 2)}\n${text.slice(-maxQueryLength / 2)}`;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function tooLate(timeoutMs: number): AgentError {
  const message = `The memory search did not finish within ${timeoutMs} ms; the reply will continue without its result.`;
  return new AgentError({ kind: 'timeout', code: 'recall', message });
}

function tell(report: (error: AgentError) => void, error: AgentError): void {
  try {
    report(error);
  } catch {
    // A failing listener does not affect the reply.
  }
}
