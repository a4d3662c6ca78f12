import type { Event } from '@cobbler/agent';
import { toolOutput } from '../answer.ts';

const runId = '0b7c9d0a-1234-4567-8901-234567890123';

/** Returns one event of a turn with a call, as runs write them: a response, the start of a tool, its result. */
export function turnEvent(
  sessionId: string,
  seq: number,
  ofTurn: 'answer' | 'start' | 'result',
  turn: number,
): Event {
  const head = { v: 1, seq, id: `${sessionId}-${seq}`, time: '2026-01-02T03:04:05.678Z', runId } as const;
  const call = { turn, index: 0, callId: `toolu_${turn}`, toolName: 'write_note' };
  const args = { path: `notes/${turn}.md`, text: 'A line of the note, written by the model.' };
  if (ofTurn === 'start') return { ...head, type: 'tool_started', ...call, arguments: args };
  if (ofTurn === 'result') {
    const content = [{ type: 'text', text: toolOutput }] as const;
    return { ...head, type: 'tool_result', ...call, content, isError: false, durationMs: 1.5 };
  }
  return {
    ...head,
    type: 'assistant',
    content: [
      {
        type: 'text',
        text: `Turn ${turn}: the next note is about to be taken, and then there will be another one.`,
      },
      { type: 'tool_call', id: call.callId, toolName: call.toolName, arguments: args },
    ],
    usage: { inputTokens: 1000 + turn, outputTokens: 50, cacheReadTokens: 900 },
    stopReason: 'tool_use',
    provider: 'claude',
    model: 'claude-sonnet-5-5',
    attempts: 1,
    wasted: { inputTokens: 0, outputTokens: 0 },
    durationMs: 1234.5,
  };
}

/** Returns the event at a position of a session that consists only of turns. */
export function eventAt(sessionId: string, seq: number): Event {
  const kinds = ['answer', 'start', 'result'] as const;
  return turnEvent(sessionId, seq, kinds[(seq - 1) % 3] ?? 'answer', Math.ceil(seq / 3));
}
