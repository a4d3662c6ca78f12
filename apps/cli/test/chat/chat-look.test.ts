import { defineTool } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { chatStage } from './chat-stage.ts';

const [focus, blur] = ['\x1b[I', '\x1b[O'];

describe('a user who looks elsewhere', () => {
  const write = defineTool({
    name: 'write',
    description: '\x1b]9;evil\x07',
    parameters: { type: 'object' },
    execute: () => 'ok',
  });
  const script = [{ text: '\x07\x1b]777;evil', calls: [{ name: 'write', arguments: {} }] }, 'Done.'];

  test.each([
    ['bell', {}, '\x07', '\x07'],
    ['desktop', {}, '\x1b]9;Cobbler is waiting for you\x07', '\x1b]9;Cobbler is done\x07'],
    [
      'desktop',
      { TERM: 'foot' },
      '\x1b]777;notify;Cobbler;Cobbler is waiting for you\x07',
      '\x1b]777;notify;Cobbler;Cobbler is done\x07',
    ],
    ['off', {}, '', ''],
  ] as const)(
    'is called by %s %j, and text of the model is not part of it',
    async (notify, env, ask, end) => {
      const stage = await chatStage({ agent: scriptedAgent(script), tools: [write], notify, env });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a bell and a notification.
      const signals = () => stage.bytes().match(/\x1b\][^\x07]*\x07|\x07/g) ?? [];
      stage.type('go', '\r', blur);
      await stage.until('y allow');
      expect(signals()).toEqual(ask === '' ? [] : [ask]);
      stage.ponder();
      stage.type(focus, 'y', blur);
      await stage.until(/Done\.\n\n✓/);
      expect(signals()).toEqual(ask === '' ? [] : [ask, end]);
    },
  );

  test('is not called while the terminal has the focus, except after 10 s without a key', async () => {
    const agent = scriptedAgent(['One.', { text: 'Two.', delayMs: 1 }]);
    const stage = await chatStage({ agent });
    stage.type('go', '\r');
    await stage.until(/One\.\n\n✓/);
    expect(stage.bytes()).not.toContain('\x07');
    stage.type('go', '\r');
    stage.io.clock.advance(10_000);
    await stage.until(/Two\.\n\n✓/);
    expect(stage.bytes().split('\x07')).toHaveLength(2);
  });
});

describe('a long paste', () => {
  const lines = Array.from({ length: 120 }, (_, index) => `line ${index} [pasted 11 lines]`).join('\n');
  const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;

  test('is shown as a label, deleted as one character and sent in full', async () => {
    const agent = scriptedAgent(['Read.']);
    const stage = await chatStage({ agent, columns: 40 });
    stage.type(
      paste('short'),
      paste('x'.repeat(1001)),
      '\x7f',
      ' see ',
      paste(lines),
      paste('y\n'.repeat(11)),
      '.',
    );
    expect(stage.foot(3)).toContain('› short see [pasted 120 lines][pasted 1');
    stage.type('\r');
    await stage.until('Read.');
    const [message] = agent.requests[0]?.messages ?? [];
    expect(message?.content).toEqual([{ type: 'text', text: `short see ${lines}${'y\n'.repeat(11)}.` }]);
    expect(stage.text()).toMatch(/› short see line 0 [\s\S]*line 11 .*\n {2}\+ 115 lines\n {2}y\n/);
    stage.type('\x1b[A');
    expect(stage.foot(9)).toMatch(/y\n {2}\.\n/);
  });

  test('is shown in full when it is pasted again', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]) });
    stage.type('a ', paste(lines), paste(lines));
    expect(stage.foot(3)).toContain('line 119');
    expect(stage.text()).not.toContain('[pasted 120');
  });
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors.
const color = /\x1b\[[\d;]*m/;

describe('/theme', () => {
  test('changes the colors of everything that follows', async () => {
    const stage = await chatStage({ agent: scriptedAgent(['Hi.']), env: { FORCE_COLOR: '1' } });
    stage.type('/theme colorblind', '\r');
    await stage.until('cobbler config set theme colorblind');
    expect(stage.bytes()).toContain('\x1b[38;5;75m+ added\x1b[39m \x1b[38;5;208m- removed');
    const before = stage.bytes().length;
    stage.type('/theme none', '\r');
    await stage.until('cobbler config set theme none');
    stage.type('hi', '\r');
    await stage.until(/Hi\.\n\n✓/);
    const after = stage.bytes().slice(before).split('› hi').slice(1).join();
    expect(after).not.toMatch(color);
    stage.type('/theme pink', '\r');
    await stage.until('/theme cannot be "pink".');
  });

  test('says that NO_COLOR turns colors off', async () => {
    const stage = await chatStage({ agent: scriptedAgent([]), env: { NO_COLOR: '1' } });
    stage.type('/theme', '\r');
    await stage.until(/dark\n +light\n +none\n +colorblind/);
    stage.type('\r');
    await stage.until('+ added - removed asks; this terminal or NO_COLOR turns colors off');
    expect(stage.bytes()).not.toMatch(color);
  });
});

test('a menu says what its keys do, and that nothing matches', async () => {
  const stage = await chatStage({ agent: scriptedAgent([]) });
  stage.type('/theme', '\r');
  await stage.until('› type to filter, Enter chooses, Esc closes');
  stage.type('zz', '\r');
  expect(stage.foot(4)).toMatch(/ {2}theme\n {4}no match\n› zz\n/);
  stage.type('\x1b');
  stage.ponder();
  expect(stage.foot(2)).toContain('› describe a task');
});

test('the menus of /theme and /effort begin at the current entry', async () => {
  const stage = await chatStage({ agent: scriptedAgent([]) });
  stage.type('/theme light', '\r');
  await stage.until('cobbler config set theme light');
  stage.type('/theme', '\r');
  await stage.until(/ dark\n +› light\n/);
  stage.type('\x1b');
  stage.io.clock.advance(100);
  stage.type('/effort', '\r');
  await stage.until(/ max\n +› default\n/);
});
