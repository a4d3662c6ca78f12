import type { SeededRandom } from '@cobbler/agent/testing';
import { seededRandom } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import type { BackendRequest } from '../src/backend/backend.ts';
import { claudeAdapter } from '../src/claude/claude-adapter.ts';
import type { CliAdapter } from '../src/cli/cli-adapter.ts';
import { appServerAdapter } from '../src/codex/app-server.ts';
import { codexExecAdapter } from '../src/codex/codex-adapter.ts';
import type { BackendEvent } from '../src/events/backend-event.ts';

/** A response of the model in a program, with the outputs of its calls. */
interface Said {
  readonly thought?: string;
  readonly text: string;
  readonly outputs?: readonly string[];
}

type Lines = readonly Readonly<Record<string, unknown>>[];

const pieces = (text: string) => text.match(/.{1,5}/gs) ?? [];

/** Returns the output of Claude Code, with its partial messages. */
function claudeLines(story: readonly Said[]): Lines {
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

const request: BackendRequest = { prompt: 'Go.', workingDir: '/' };

/** Returns the content that a program reported; undefined if it failed. */
function outcomeOf(adapter: CliAdapter, lines: Lines): object | undefined {
  const connection = adapter.connect(request, () => {});
  const events: BackendEvent[] = [];
  for (const line of lines) {
    const isOver = events.some(({ type }) => type === 'end');
    // After the end event, only a reported gap counts.
    events.push(...connection.handle(JSON.stringify(line)).filter(({ type }) => !isOver || type === 'end'));
  }
  const ends = events.filter((event) => event.type === 'end');
  const end = ends.find(({ ok }) => !ok) ?? ends[0];
  if (end?.type !== 'end' || !end.ok) {
    if (end?.type === 'end')
      expect(end.error).toMatchObject({ kind: 'network', code: 'garbled', retryable: true });
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

/** Returns all deletions and repetitions of a line, all swaps of neighbors, and random swaps. */
function damaged(lines: Lines, random: SeededRandom): { readonly what: string; readonly lines: Lines }[] {
  const swap = (left: number, right: number) => ({
    what: `${left} and ${right} swapped`,
    lines: lines.map((line, at) => lines[at === left ? right : at === right ? left : at] ?? line),
  });
  return [...lines.keys()].flatMap((at) => [
    { what: `${at} deleted`, lines: lines.toSpliced(at, 1) },
    { what: `${at} repeated`, lines: lines.toSpliced(at, 0, ...lines.slice(at, at + 1)) },
    ...(at > 0 ? [swap(at - 1, at)] : []),
    swap(at, random.between(0, lines.length - 1)),
  ]);
}

function randomStory(random: SeededRandom): Said[] {
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

const dialects: readonly (readonly [string, CliAdapter, (story: readonly Said[]) => Lines])[] = [
  ['claude-code', claudeAdapter('read-only', {}), claudeLines],
  ['codex', codexExecAdapter('read-only', {}), execLines],
  ['codex app-server', appServerAdapter('read-only', {}), serverLines],
];

describe.each(dialects)('%s', (name, adapter, write) => {
  test('has the same outcome or fails if a line is deleted, repeated or swapped [P27]', () => {
    const counts = { same: 0, failed: 0 };
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = seededRandom(seed);
      const lines = write(randomStory(random));
      const whole = outcomeOf(adapter, lines);
      expect(whole).toBeDefined();
      for (const { what, lines: left } of damaged(lines, random)) {
        const found = outcomeOf(adapter, left);
        // The message is long, so it is built only if it is needed.
        if (found !== undefined && JSON.stringify(found) !== JSON.stringify(whole))
          expect(found, `seed ${seed}, line ${what}: ${JSON.stringify(left, null, 1)}`).toEqual(whole);
        counts[found === undefined ? 'failed' : 'same'] += 1;
      }
    }
    console.log(
      `${name}: ${counts.same + counts.failed} damaged outputs: ${counts.same} the same, ${counts.failed} failed`,
    );
    expect(Math.min(counts.same, counts.failed)).toBeGreaterThan(100);
  });
});

test('responses of Claude Code that share an id, as some gateways send them, are complete', () => {
  const written = JSON.stringify(claudeLines([{ text: 'First.', outputs: ['1'] }, { text: 'Second.' }]));
  const lines: Lines = JSON.parse(written.replaceAll(/"msg_\d"/g, '"msg"'));
  const found = outcomeOf(claudeAdapter('read-only', {}), lines);
  expect(found).toMatchObject({ texts: ['First.', 'Second.'], final: 'Second.', results: ['toolu_0_0: 1'] });
});

describe('unknown output [P27]', () => {
  const hear = (adapter: CliAdapter, line: object) =>
    adapter.connect(request, () => {}).handle(JSON.stringify(line));

  test('is a notice with its type if it is a message or an item', () => {
    const [[, claude], [, codex], [, server]] = dialects as [
      (typeof dialects)[number],
      (typeof dialects)[number],
      (typeof dialects)[number],
    ];
    const item = { id: 'item_0', type: 'hologram' };
    expect(hear(claude, { type: 'hologram', depth: 3 })).toMatchObject([
      { type: 'notice', text: expect.stringContaining('hologram') },
    ]);
    for (const events of [
      hear(codex, { type: 'item.completed', item }),
      hear(server, { method: 'item/completed', params: { item } }),
    ])
      expect(events).toMatchObject([{ type: 'notice', text: expect.stringContaining('hologram') }]);
  });

  test('makes the response invalid if it is a block', () => {
    const content = [{ type: 'hologram', depth: 3 }];
    expect(
      hear(claudeAdapter('read-only', {}), { type: 'assistant', message: { id: 'm', content } }),
    ).toMatchObject([
      { type: 'end', ok: false, error: { code: 'garbled', message: expect.stringContaining('hologram') } },
    ]);
  });
});
