import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { pause } from '@cobbler/agent/runner';
import { backoff } from '@cobbler/agent/values';

const tries = 6;
const firstMs = 200;
const never = new AbortController().signal;

/**
 * Repeats work that fails because the database is briefly busy, after 0.2 s, 0.4 s and so on, for six seconds. Only
 * for work that is safe to repeat.
 */
export async function insistently<Value>(runtime: Runtime, work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (thrown) {
      if (attempt >= tries || !AgentError.from(thrown).retryable) throw thrown;
      await pause(runtime, backoff({ baseMs: firstMs }, attempt - 1), never);
    }
  }
}
