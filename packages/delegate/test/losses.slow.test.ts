import type { SeededRandom } from '@cobbler/agent/testing';
import { seededRandom } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { claudeAdapter } from '../src/claude/claude-adapter.ts';
import type { CliAdapter } from '../src/cli/cli-adapter.ts';
import { appServerAdapter } from '../src/codex/app-server.ts';
import { codexExecAdapter } from '../src/codex/codex-adapter.ts';
import type { Lines } from './stories.ts';
import { claudeLines, dialects, outcomeOf, randomStory, request } from './stories.ts';

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

describe('an item of Codex that ended [P27]', () => {
  const item = { id: 'item_0', type: 'agent_message', text: 'Hi.' };
  test.each([
    ['codex', codexExecAdapter('read-only', {}), { type: 'item.completed', item }],
    ['app server', appServerAdapter('read-only', {}), { method: 'item/completed', params: { item } }],
  ])('does not end again: %s', (_name, adapter, line) => {
    const connection = adapter.connect(request, () => {});
    const ends = () => connection.handle(JSON.stringify(line)).filter(({ type }) => type === 'end');
    expect(ends()).toEqual([]);
    expect(ends()).toMatchObject([{ ok: false, error: { code: 'garbled' } }]);
  });
});

describe('invalid output [P27]', () => {
  const claude = claudeAdapter('read-only', {});
  const server = appServerAdapter('read-only', {});
  const inner = { type: 'assistant', parent_tool_use_id: 'toolu_lost', message: { content: [] } };
  const cut = '{"type":"item.completed","item":{"id":"item_0","ty';

  test.each<[string, CliAdapter, string, string]>([
    ['a message of a subagent that no call started', claude, JSON.stringify(inner), 'call toolu_lost'],
    ['a message without a method', server, '{"params":{"delta":"Hi."}}', 'no method'],
    ['a message that was cut', claude, cut, 'not valid JSON'],
    ['a message that was cut', codexExecAdapter('read-only', {}), cut, 'not valid JSON'],
    ['a message that was cut', server, cut, 'not valid JSON'],
  ])('is %s', (_what, adapter, line, why) => {
    const message = expect.stringContaining(why);
    expect(adapter.connect(request, () => {}).handle(line)).toMatchObject([
      { type: 'end', ok: false, error: { kind: 'network', code: 'garbled', message } },
    ]);
  });
});
