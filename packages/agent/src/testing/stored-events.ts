import type { Event, EventBody, RunStatus } from '../events/event.ts';
import { noMetrics } from '../interfaces/metrics.ts';
import type { SessionStore } from '../store/store.ts';
import { noUsage } from '../values/usage.ts';

/** Creates events as a log stores them, starting after sequence number `after`. */
export function eventsOf(
  sessionId: string,
  bodies: readonly EventBody[],
  after = 0,
  runId = 'run-1',
): Event[] {
  return bodies.map((body, offset) => {
    const seq = after + offset + 1;
    return { v: 1, seq, id: `${sessionId}-${seq}`, time: '2026-01-02T03:04:05.678Z', runId, ...body };
  });
}

/** Creates a `user` event with this text. */
export function said(text: string): EventBody {
  return { type: 'user', content: [{ type: 'text', text }] };
}

/** Creates a response with only text. `usd` is undefined for an unknown price. */
export function answered(
  text: string,
  rest: { readonly model?: string; readonly usd?: number } = {},
): EventBody {
  return {
    type: 'assistant',
    content: [{ type: 'text', text }],
    usage: { inputTokens: 100, outputTokens: 20 },
    stopReason: 'complete',
    provider: 'puppet',
    model: 'puppet-model',
    attempts: 1,
    wasted: noUsage,
    durationMs: 5,
    ...rest,
  };
}

/** Creates a response with a tool call, the start of the tool and its result, for the turn with this number. */
export function worked(turn: number): EventBody[] {
  const call = { turn, index: 0, callId: `call-${turn}`, toolName: 'look' };
  const args = { path: `file-${turn}.txt` };
  return [
    {
      ...answered(`Turn ${turn}.`),
      stopReason: 'tool_use',
      content: [
        { type: 'text', text: `Turn ${turn}.` },
        { type: 'tool_call', id: call.callId, toolName: call.toolName, arguments: args },
      ],
    } as EventBody,
    { type: 'tool_started', ...call, arguments: args },
    {
      type: 'tool_result',
      ...call,
      content: [{ type: 'text', text: `Found ${turn}.` }],
      isError: false,
      durationMs: 1,
    },
  ];
}

/** Creates a `finished` event with this status. */
export function ended(status: RunStatus = 'complete'): EventBody {
  return { type: 'finished', status, metrics: noMetrics };
}

/**
 * Creates the events of one complete run: a prompt, turns with a tool, a response, the end. `answers` is the number of
 * earlier responses in the session.
 */
export function wholeRun(prompt = 'Go.', turns = 1, answers = 0): EventBody[] {
  const work = Array.from({ length: turns }, (_, index) => worked(answers + index + 1)).flat();
  return [said(prompt), ...work, answered('Done.'), ended()];
}

/** Claims a session and appends to it. Returns the epoch. */
export async function write(
  store: SessionStore,
  sessionId: string,
  bodies: readonly EventBody[],
): Promise<number> {
  const epoch = await store.claim(sessionId);
  const there = await store.read(sessionId);
  await store.append(sessionId, eventsOf(sessionId, bodies, there.length, `run-${epoch}`), { epoch });
  return epoch;
}
