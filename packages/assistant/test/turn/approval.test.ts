import { AgentError, defineTool } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import type { Channel } from '../../src/channel/channel.ts';
import { approvalQuestion } from '../../src/turn/approval.ts';
import { eventually, stage } from '../support/stage.ts';
import { channels, request, testQuestions } from './questions.ts';

/** approval.slow.test.ts tests longer contents. */
const sizes = [100, 1_400, 1_600, 3_400, 5_000, 10_000, 10_600];

describe.each(channels)('an approval question on %s [P21]', (_name, channel) => {
  testQuestions(channel, sizes);

  test.each([
    ['a text that ends with a line break', 'milk\n', {}],
    ['a text that ends with whitespace', 'milk  \n\n  \t', {}],
    ['only whitespace', '\n  \n', {}],
    ['fences', '```\ncode\n```\n~~~', {}],
    ['a diff', 'milk\n', { diff: '--- /dev/null\n+++ a.txt\n@@ -0,0 +1,1 @@\n+milk\n' }],
    [
      'a diff without a final newline',
      'milk',
      { diff: '@@ -0,0 +1 @@\n+milk\n\\ No newline at end of file\n' },
    ],
  ])('offers Allow for %s', (_what, content, rest) => {
    const asked = request('', { ...rest, arguments: { content } });
    expect(approvalQuestion(channel, asked).buttons).toHaveLength(2);
  });

  test('offers Allow for content that fits, and only Deny otherwise', () => {
    const offered = (size: number) => approvalQuestion(channel, request('x'.repeat(size))).buttons?.length;
    expect([offered(100), offered(1_500), offered(20_000)]).toEqual([2, 2, undefined]);
  });
});

describe('a user who is asked to approve a call [P21]', () => {
  const shell = defineTool({
    name: 'shell',
    description: 'Runs.',
    parameters: { type: 'object' },
    execute: () => 'ran',
  });
  const calling = (command: string) =>
    stage([{ calls: [{ name: 'shell', arguments: { command } }] }, 'That is all.'], { tools: [shell] });
  const long = `${'echo hello\n'.repeat(500)}rm -rf precious`;

  test('gets all messages of a long call, with buttons only below the last', async () => {
    const { say, channel, tap, runner } = calling(long);
    const run = await say('Go.');
    await eventually(() => channel.messages.find(({ buttons }) => buttons.length > 0));
    expect(channel.messages.map(({ buttons }) => buttons.map(({ label }) => label))).toEqual([
      ...[[], [], ['Allow', 'Deny']],
    ]);
    expect(channel.messages.at(-1)?.text).toContain('rm -rf precious');
    await tap(channel.messages.at(-1)?.buttons[0]?.data ?? '');
    expect(await runner.result(run)).toMatchObject({ answered: true });
  });

  test('gets a file and no Allow button for a call that is too long', async () => {
    const { say, channel } = calling(`${long}\n`.repeat(10));
    await say('Go.');
    const last = await eventually(() => channel.messages.find(({ buttons }) => buttons.length > 0));
    expect(last.buttons.map(({ label }) => label)).toEqual(['Deny']);
    expect(last.text).toMatch(/^This call has [\d,]+ characters, too many to show/);
    expect(channel.messages.at(-2)?.file?.text.match(/rm -rf precious/g)).toHaveLength(10);
  });

  test('gets a possibly lost message again, with a note, before Allow is offered', async () => {
    const { say, channel } = calling(long);
    const error = new AgentError({ kind: 'network', code: 'maybe_sent', message: 'The line was cut.' });
    channel.failNext({ error, sent: true });
    await say('Go.');
    const last = await eventually(() => channel.messages.find(({ buttons }) => buttons.length > 0));
    expect(last.buttons.map(({ label }) => label)).toEqual(['Allow', 'Deny']);
    expect(channel.messages[1]?.text).toBe(`This may be a duplicate.\n\n${channel.messages[0]?.text}`);
  });

  test('responds before the channel confirms the question, which then counts as sent [P13]', async () => {
    const { say, channel, tap, options } = calling('date');
    const { send } = channel;
    const unconfirmed: Channel['send'] = async (chatId, part, rest) => {
      const id = await send(chatId, part, rest);
      return rest?.buttons === undefined ? id : await new Promise<never>(() => {});
    };
    Object.assign(channel, { send: unconfirmed });
    await say('Go.');
    const question = await eventually(() => channel.messages.find(({ buttons }) => buttons.length > 0));
    const entry = async () => (await options.outbox.list()).find(({ key }) => key.includes('/ask/'));
    expect(await entry()).toMatchObject({ state: 'sending' });
    await tap(question.buttons[0]?.data ?? '');
    expect(await entry()).toMatchObject({ state: 'sent', messageId: question.id });
  });
});
