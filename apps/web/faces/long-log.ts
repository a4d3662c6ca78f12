import type { Event, SessionStore } from '@cobbler/agent';
import type { EventBody } from '@cobbler/agent/events';
import { prose } from './rig.ts';

const metrics = {
  totalInputTokens: 12_000,
  totalOutputTokens: 900,
  invocations: 5,
  cacheReadTokens: 8_000,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  attempts: 5,
  toolCalls: 5,
  wasted: { inputTokens: 0, outputTokens: 0 },
  usd: 0.05,
  durationMs: 9_000,
  modelMs: 8_000,
  toolMs: 900,
  waitedMs: 0,
};

/** Returns the events of a long session: prompts, Markdown responses, calls with output, and ends. */
export function longLog(sessionId: string, length: number): Event[] {
  const events: Event[] = [];
  let [run, turn] = [0, 0];
  const tell = (body: EventBody) => {
    const seq = events.length + 1;
    const time = new Date(Date.UTC(2026, 0, 1) + seq * 1_000).toISOString();
    events.push({ v: 1, seq, id: `${sessionId}-${seq}`, time, runId: `run-${run}`, ...body });
  };
  while (events.length < length - 20) {
    run += 1;
    tell({
      type: 'user',
      content: [{ type: 'text', text: `Task ${run}: look at part ${run} and mend what is wrong with it.` }],
    });
    for (let step = 0; step < 5; step += 1) {
      turn += 1;
      const call = { callId: `call_${turn}`, toolName: 'run_command', turn, index: 0 };
      const given = { command: `node --test part-${run}.${step}.js` };
      tell({
        type: 'assistant',
        content: [
          {
            type: 'text',
            text: step === 2 ? prose : `Step ${step + 1} of task ${run}: I look at \`part-${run}.js\`.`,
          },
          { type: 'tool_call', id: call.callId, toolName: call.toolName, arguments: given },
        ],
        usage: { inputTokens: 2_400, outputTokens: 180, cacheReadTokens: 1_600 },
        stopReason: 'tool_use',
        provider: 'scene',
        model: 'scene-model',
        attempts: 1,
        wasted: { inputTokens: 0, outputTokens: 0 },
        durationMs: 1_600,
        usd: 0.01,
      });
      tell({ type: 'tool_started', ...call, arguments: given });
      const text = Array.from(
        { length: 40 },
        (_, line) => `ok ${line + 1} - case ${line + 1} of part ${run}`,
      ).join('\n');
      const failed = step === 1;
      tell({
        type: 'tool_result',
        ...call,
        content: [{ type: 'text', text: `[exit ${failed ? 1 : 0}]\n${text}` }],
        isError: false,
        durationMs: 180,
        summary: `exit ${failed ? 1 : 0}`,
      });
    }
    tell({ type: 'finished', status: 'complete', metrics });
  }
  return events;
}

/** Writes the events of a long session to a store. */
export async function seedLog(store: SessionStore, sessionId: string, length: number): Promise<Event[]> {
  const events = longLog(sessionId, length);
  const epoch = await store.claim(sessionId);
  for (let at = 0; at < events.length; at += 100)
    await store.append(sessionId, events.slice(at, at + 100), { epoch });
  return events;
}
