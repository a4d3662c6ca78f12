import { join } from 'node:path';
import type { Agent, AgentEvent, ModelRequest, ModelResponse } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { startServer, TokenStore } from '../../../apps/server/src/index.ts';
import type { Subject } from './subject.ts';
import { frameText } from './subject.ts';

/**
 * Starts the server with a file store and a model that responds immediately: `say N` returns N characters, `hold`
 * ends when it is cancelled. Published frames are sent as text of the run that holds.
 */
export async function startCobbler(folder: string): Promise<Subject> {
  const tokens = new TokenStore();
  let emit: (event: AgentEvent) => void = () => undefined;
  const agent: Agent = {
    provider: 'measured',
    model: 'measured',
    capabilities: {
      ...{ files: [], reasoning: false, parallelCalls: true, output: 'none' },
      ...{ sampling: false, cacheUsage: false },
    },
    run(request, context = {}) {
      const [word, size = '0'] = lastWords(request).split(' ');
      if (word !== 'hold') return Promise.resolve(answer('x'.repeat(Number(size))));
      emit = context.emit ?? emit;
      return new Promise((_resolve, reject) => {
        const aborted = new AgentError({ kind: 'aborted', message: 'It was cancelled.' });
        context.signal?.addEventListener('abort', () => reject(aborted), { once: true });
      });
    },
  };
  const { url } = await startServer({
    store: sqliteStore(join(folder, 'sessions.db')),
    tokens,
    // Heartbeats would be bytes that the other server does not send.
    limits: { heartbeatMs: 3_600_000 },
    // Stored sessions are only read, not continued.
    resumes: false,
    // A held run must not reach a limit.
    settings: () => ({ agent, limits: { ms: 3_600_000 } }),
  });
  return {
    url,
    token: tokens.own(),
    path: '/v1/sessions/watched/events',
    tell: () => emit({ type: 'text_delta', index: 0, text: frameText }),
  };
}

function lastWords({ messages }: ModelRequest): string {
  const said = messages.findLast(({ role }) => role === 'user');
  const [part] = said?.role === 'user' ? said.content : [];
  return part?.type === 'text' ? part.text : '';
}

function answer(text: string): ModelResponse {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const noUsage = { inputTokens: 0, outputTokens: 0 };
  return {
    ...{ content: text, toolCalls: [], usage, stopReason: 'complete', model: 'measured', attempts: 1 },
    wasted: noUsage,
    message: { role: 'assistant', content: [{ type: 'text', text }] },
  };
}
