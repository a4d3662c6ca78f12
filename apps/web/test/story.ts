import type { AssistantPart, Event, Message, UserPart } from '@cobbler/agent';
import type { ConversationItem, ConversationItems, EventBody, NoteItem } from '@cobbler/agent/events';
import type { SeededRandom } from '@cobbler/agent/testing';

/** Returns a log of these event bodies. */
export function log(...bodies: readonly EventBody[]): Event[] {
  return bodies.map((body, index) => placed(body, index + 1));
}

export function placed(body: EventBody, seq: number, runId = 'run-1'): Event {
  return {
    v: 1,
    seq,
    id: `s-${seq}`,
    time: new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString(),
    runId,
    ...body,
  };
}

export const said = (text: string, steer = false): EventBody => ({
  type: 'user',
  content: [{ type: 'text', text }],
  ...(steer && { steer: true }),
});

export const call = (
  id: string,
  given: Record<string, unknown> = {},
  toolName = 'run_command',
): AssistantPart => ({
  type: 'tool_call',
  id,
  toolName,
  arguments: given,
});

export function answered(...content: readonly AssistantPart[]): EventBody {
  return {
    type: 'assistant',
    content,
    usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 60 },
    stopReason: content.some(({ type }) => type === 'tool_call') ? 'tool_use' : 'complete',
    provider: 'p',
    model: 'm',
    attempts: 1,
    wasted: { inputTokens: 0, outputTokens: 0 },
    durationMs: 500,
    usd: 0.01,
  };
}

export const text = (words: string): AssistantPart => ({ type: 'text', text: words });

const subject = { callId: 'c', toolName: 'run_command' };

export const started = (turn: number, index = 0): EventBody => ({
  type: 'tool_started',
  ...subject,
  turn,
  index,
  arguments: {},
});

export const gave = (
  turn: number,
  index = 0,
  rest: Partial<Extract<EventBody, { type: 'tool_result' }>> = {},
): EventBody => ({
  type: 'tool_result',
  ...subject,
  turn,
  index,
  content: [{ type: 'text', text: `result ${turn}.${index}` }],
  isError: false,
  durationMs: 12,
  ...rest,
});

export const asked = (turn: number, index = 0, approvalId = `a${turn}.${index}`): EventBody => ({
  type: 'approval_requested',
  ...subject,
  turn,
  index,
  approvalId,
  arguments: {},
  hash: 'h',
});

export const decided = (
  approvalId: string,
  decision: Extract<EventBody, { type: 'approval_decided' }>['decision'],
): EventBody => ({ type: 'approval_decided', approvalId, decision, waitedMs: 5 });

export const metrics: Extract<EventBody, { type: 'finished' }>['metrics'] = {
  totalInputTokens: 0,
  totalOutputTokens: 0,
  invocations: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  attempts: 0,
  toolCalls: 0,
  wasted: { inputTokens: 0, outputTokens: 0 },
  durationMs: 0,
  modelMs: 0,
  toolMs: 0,
  waitedMs: 0,
};

export const ended = (status: Extract<EventBody, { type: 'finished' }>['status']): EventBody => ({
  type: 'finished',
  status,
  metrics,
});

/** Returns a log of random events, valid or not: the page must show any log. */
export function randomStory(random: SeededRandom, length: number): Event[] {
  const pick = <Thing>(...things: readonly Thing[]): Thing => {
    const thing = things[Math.floor(random.next() * things.length)];
    if (thing === undefined) throw new Error('The list of items is empty.');
    return thing;
  };
  const words = () => pick('', 'a', 'two words', 'half \ud83d', '🧵');
  const turn = () => Math.floor(random.next() * 6);
  const index = () => Math.floor(random.next() * 3);
  const userPart = (): UserPart =>
    pick<UserPart>({ type: 'text', text: words() }, { type: 'file', mediaType: 'image/png', data: 'AA==' });
  const part = (): AssistantPart =>
    pick<() => AssistantPart>(
      () => text(words()),
      () => ({ type: 'reasoning', text: words() }),
      () => ({ type: 'opaque', seal: { provider: 'p', data: 'x' } }),
      () => call(pick('a', 'b', ''), {}),
      () => call(pick('a', 'b', ''), {}),
    )();
  const parts = () => Array.from({ length: Math.floor(random.next() * 4) }, part);
  const message = (): Message =>
    pick<() => Message>(
      () => ({ role: 'user', content: [userPart()] }),
      () => ({ role: 'assistant', content: parts() }),
      () => ({ role: 'tool_result', toolCallId: pick('a', 'b'), content: [userPart()] }),
    )();
  const body = (): EventBody =>
    pick<() => EventBody>(
      () => ({ type: 'user', content: [userPart()] }),
      () => ({ type: 'user', content: [userPart()], steer: true }),
      () => answered(...parts()),
      () => answered(...parts()),
      () =>
        ({
          ...answered(...parts()),
          stopReason: pick('max_tokens', 'pause', 'refusal', 'context_full'),
        }) as EventBody,
      () => started(turn(), index()),
      () => gave(turn(), index(), { isError: pick(true, false), stopsBatch: pick(true, false) }),
      () => gave(turn(), index()),
      () => asked(turn(), index()),
      () => decided(`a${turn()}.${index()}`, pick('allow', 'deny', 'expired', 'superseded')),
      () => ({ type: 'ask_failed', error: { kind: 'network', message: 'cut' }, durationMs: 1 }),
      () => ({ type: 'notice', code: 'no_progress', text: 'Again the same.' }),
      () => ({
        type: 'ask_failed',
        error: { kind: 'aborted', message: 'stopped' },
        durationMs: 1,
        partial: [text('half an answer')],
      }),
      () => ({ type: 'compacted', upTo: Math.floor(random.next() * 6), summary: 'what came before' }),
      () => ({ type: 'stop_requested', reason: pick('cancelled', 'timeout', 'limit') }),
      () => ({ type: 'resumed' }),
      () => ended(pick('complete', 'waiting', 'failed', 'cancelled')),
    )();
  const first: EventBody[] =
    random.next() < 0.3 ? [{ type: 'history', messages: Array.from({ length: 6 }, message) }] : [];
  const bodies = [...first, ...Array.from({ length }, body)];
  let run = 1;
  return bodies.map((one, at) => {
    if (one.type === 'user' && one.steer !== true) run += 1;
    return placed(one, at + 1, `run-${run}`);
  });
}

/** Returns the messages that the items represent, in order, since the last compaction. */
export function messagesOf(view: ConversationItems): Message[] {
  const at = view.items.findLastIndex((item) => item.kind === 'note' && summarized(item.what).length > 0);
  const summary = view.items[at];
  const after = view.items.slice(at + 1).flatMap(messagesIn);
  if (summary?.kind !== 'note') return after;
  const kept = new Set(view.state.messages);
  const before = view.items.slice(0, at).flatMap(messagesIn);
  const [first, ...rest] = summarized(summary.what);
  return [
    ...(first === undefined ? [] : [first]),
    ...before.filter((one) => kept.has(one)),
    ...rest,
    ...after,
  ];
}

function summarized(what: NoteItem['what']): readonly Message[] {
  return what.type === 'compacted' ? what.messages : [];
}

function messagesIn(item: ConversationItem): Message[] {
  if (item.kind === 'user') return [item.message];
  if (item.kind === 'note')
    return item.what.type === 'notice' ? [item.what.message] : [...summarized(item.what)];
  if (item.message === undefined) return [];
  return [
    item.message,
    ...item.calls.flatMap(({ result }) => result ?? []),
    ...(item.cutNote ? [item.cutNote] : []),
  ];
}
