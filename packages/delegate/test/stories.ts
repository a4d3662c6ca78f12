import type { ErrorData } from '@cobbler/agent';
import type { SeededRandom } from '@cobbler/agent/testing';
import { expect } from 'vitest';
import type { BackendRequest } from '../src/backend/backend.ts';
import { claudeAdapter } from '../src/claude/claude-adapter.ts';
import type { CliAdapter } from '../src/cli/cli-adapter.ts';
import { appServerAdapter } from '../src/codex/app-server.ts';
import { codexExecAdapter } from '../src/codex/codex-adapter.ts';
import type { BackendEvent } from '../src/events/backend-event.ts';

/** A response of the model in a program, with the outputs of its calls. */
export interface Said {
  readonly thought?: string;
  readonly text: string;
  readonly outputs?: readonly string[];
}

/** Messages of a program. */
export type Lines = readonly Readonly<Record<string, unknown>>[];

const pieces = (text: string) => text.match(/.{1,5}/gs) ?? [];

/** Returns the output of Claude Code, with its partial messages. */
export function claudeLines(story: readonly Said[]): Lines {
  const lines: Record<string, unknown>[] = [{ type: 'system', subtype: 'init', session_id: 's', model: 'm' }];
  story.forEach(({ thought, text, outputs = [] }, turn) => {
    const id = `msg_${turn}`;
    const event = (one: object) => lines.push({ type: 'stream_event', event: one });
    let index = -1;
    const block = (start: object, deltas: readonly object[], whole: object) => {
      index += 1;
      event({ type: 'content_block_start', index, content_block: start });
      for (const delta of deltas) event({ type: 'content_block_delta', index, delta });
      lines.push({ type: 'assistant', message: { id, model: 'm', content: [whole] } });
      event({ type: 'content_block_stop', index });
    };
    event({ type: 'message_start', message: { id } });
    if (thought !== undefined)
      block(
        { type: 'thinking', thinking: '' },
        pieces(thought).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'thinking', thinking: thought, signature: 'x' },
      );
    const deltas = pieces(text).map((piece) => ({ type: 'text_delta', text: piece }));
    block({ type: 'text', text: '' }, deltas, { type: 'text', text });
    const calls = outputs.map((_, at) => `toolu_${turn}_${at}`);
    for (const call of calls) {
      const use = { type: 'tool_use', id: call, name: 'look' };
      const json = { type: 'input_json_delta', partial_json: '{"at":1}' };
      block({ ...use, input: {} }, [json], { ...use, input: { at: 1 } });
    }
    const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
    event({ type: 'message_delta', delta: { stop_reason }, usage: { input_tokens: 12, output_tokens: 3 } });
    event({ type: 'message_stop' });
    calls.forEach((tool_use_id, at) => {
      lines.push({
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id, content: outputs[at] }] },
      });
    });
  });
  const usage = { input_tokens: 12 * story.length, output_tokens: 3 * story.length };
  const fields = {
    subtype: 'success',
    is_error: false,
    num_turns: story.length,
    usage,
    stop_reason: 'end_turn',
  };
  lines.push({ type: 'result', ...fields, result: story.at(-1)?.text });
  return lines.map((line, at) => ({
    ...line,
    uuid: `uuid-${at}`,
    session_id: 's',
    parent_tool_use_id: null,
  }));
}

/** Returns the output of `codex exec --json`. */
function execLines(story: readonly Said[]): Lines {
  const lines: Record<string, unknown>[] = [
    { type: 'thread.started', thread_id: 't' },
    { type: 'turn.started' },
  ];
  let ids = 0;
  const item = (of: string, fields: object) => lines.push({ type: `item.${of}`, item: fields });
  for (const { thought, text, outputs = [] } of story) {
    if (thought !== undefined) item('completed', { id: `item_${ids++}`, type: 'reasoning', text: thought });
    item('completed', { id: `item_${ids++}`, type: 'agent_message', text });
    for (const output of outputs) {
      const call = { id: `item_${ids++}`, type: 'command_execution', command: 'look' };
      item('started', { ...call, status: 'in_progress' });
      item('completed', { ...call, status: 'completed', aggregated_output: output, exit_code: 0 });
    }
  }
  const usage = { input_tokens: 12, output_tokens: 3 };
  return [...lines, { type: 'turn.completed', usage }];
}

/** Returns the output of the Codex app server. */
function serverLines(story: readonly Said[]): Lines {
  const tell = (method: string, params: object) => ({ method, params });
  const turn = { id: 'turn' };
  const lines: Record<string, unknown>[] = [
    { id: 1, result: {} },
    { id: 2, result: { thread: { id: 't' }, model: 'm' } },
    { id: 3, result: { turn } },
    tell('turn/started', { turn }),
  ];
  let ids = 0;
  const whole = (item: object, more: object, deltas: Lines = []) =>
    lines.push(
      tell('item/started', { item }),
      ...deltas,
      tell('item/completed', { item: { ...item, ...more } }),
    );
  const chunks = (method: string, itemId: string, text: string) =>
    pieces(text).map((delta) => tell(method, { itemId, delta }));
  for (const { thought, text, outputs = [] } of story) {
    if (thought !== undefined) {
      const id = `r_${ids++}`;
      whole(
        { id, type: 'reasoning' },
        { summary: [thought] },
        chunks('item/reasoning/summaryTextDelta', id, thought),
      );
    }
    const id = `m_${ids++}`;
    whole({ id, type: 'agentMessage' }, { text }, chunks('item/agentMessage/delta', id, text));
    for (const aggregatedOutput of outputs)
      whole(
        { id: `c_${ids++}`, type: 'commandExecution', command: 'look' },
        { aggregatedOutput, exitCode: 0, status: 'completed' },
      );
    const count = { inputTokens: 12, outputTokens: 3 };
    lines.push(tell('thread/tokenUsage/updated', { tokenUsage: { total: count, last: count } }));
  }
  return [...lines, tell('turn/completed', { turn: { ...turn, status: 'completed' } })];
}

/** A task. */
export const request: BackendRequest = { prompt: 'Go.', workingDir: '/' };

/** Returns the content that a program reported; undefined if it failed. */
export function outcomeOf(adapter: CliAdapter, lines: Lines): object | undefined {
  return outcomeOfText(
    adapter,
    lines.map((line) => JSON.stringify(line)),
    { kind: 'network', code: 'garbled', retryable: true },
  );
}

/** Returns the same for lines of text, and any error or only one like this. */
export function outcomeOfText(
  adapter: CliAdapter,
  lines: readonly string[],
  error: Partial<ErrorData> = { message: expect.any(String) },
): object | undefined {
  const connection = adapter.connect(request, () => {});
  const events: BackendEvent[] = [];
  for (const line of lines) {
    const isOver = events.some(({ type }) => type === 'end');
    // After the end event, only a reported gap counts.
    events.push(...connection.handle(line).filter(({ type }) => !isOver || type === 'end'));
  }
  const ends = events.filter((event) => event.type === 'end');
  const end = ends.find(({ ok }) => !ok) ?? ends[0];
  if (end?.type !== 'end' || !end.ok) {
    if (end?.type === 'end') expect(end.error).toMatchObject(error);
    return undefined;
  }
  const parts = events.flatMap((event) => (event.type === 'part' ? [event.part] : []));
  // A call may be reported at its start and at its end.
  const calls = new Map(
    parts.flatMap((part) => (part.type === 'tool_call' ? [[part.id, part.arguments]] : [])),
  );
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const results = events.flatMap((event) =>
    event.type === 'result' ? [`${event.callId}: ${event.text}`] : [],
  );
  return {
    texts,
    final: end.text ?? texts.at(-1),
    thoughts: parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])),
    // The program runs its calls itself, so their order has no meaning here.
    calls: [...calls].toSorted(),
    results: [...new Set(results)].toSorted(),
    session: events.find((event) => event.type === 'session')?.id,
  };
}

/** Returns a random story of up to four responses. */
export function randomStory(random: SeededRandom): Said[] {
  const words = () =>
    Array.from({ length: random.between(1, 6) }, () => random.pick(['one', 'two', 'ж', '🧵', '\n'])).join(
      ' ',
    );
  const some = (outputs: readonly string[]): Said => ({
    text: `So ${words()}.`,
    outputs,
    ...(random.chance(0.5) && { thought: `Hm ${words()}.` }),
  });
  const turns = Array.from({ length: random.between(0, 3) }, () =>
    some(Array.from({ length: random.between(1, 2) }, words)),
  );
  return [...turns, some([])];
}

/** The programs, with their adapters and what they write. */
export const dialects: readonly (readonly [string, CliAdapter, (story: readonly Said[]) => Lines])[] = [
  ['claude-code', claudeAdapter('read-only', {}), claudeLines],
  ['codex', codexExecAdapter('read-only', {}), execLines],
  ['codex app-server', appServerAdapter('read-only', {}), serverLines],
];
