import { defineTool } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import type { ChatKey } from '../../src/chat/input/key.ts';
import { readKeys } from '../../src/chat/input/key-decoder.ts';
import { chatStage } from './chat-stage.ts';

/** Returns the keys decoded from the chunks, none of which ends in ESC. */
function keysOf(...chunks: readonly string[]): ChatKey[] {
  const keys: ChatKey[] = [];
  const keyboard = {
    listen: (listener: (chunk: string) => void) => chunks.forEach(listener),
    suspend: () => undefined,
    close: () => undefined,
  };
  readKeys(keyboard, { now: () => 0, after: () => () => undefined }, (some) => keys.push(...some));
  return keys;
}

test('keeps input typed before the chat starts as text, without its final newline', () => {
  expect(keysOf('hello there\n')).toEqual([{ type: 'text', text: 'hello there' }]);
  expect(keysOf('one\ntwo\n\n').map(({ type }) => type)).toEqual(['text', 'newline', 'text']);
});

test('decodes a newline typed in the chat, alone or after other input', () => {
  expect(keysOf('\n')).toEqual([{ type: 'newline' }]);
  expect(keysOf('a', '\n', 'b\n').map(({ type }) => type)).toEqual(['text', 'newline', 'text', 'newline']);
});

const asks = { calls: [{ name: 'write', arguments: {} }] };

test('a draft does not block the questions: Tab sets it aside until the run has ended, or Tab is pressed again', async () => {
  let count = 0;
  const write = defineTool({
    name: 'write',
    description: 'Writes.',
    parameters: { type: 'object' },
    execute: () => `written ${++count}`,
  });
  const stage = await chatStage({ agent: scriptedAgent([asks, asks, 'Done.']), tools: [write], columns: 60 });
  stage.type('go', '\r', 'yes and');
  await stage.until('Tab sets your draft aside');
  stage.ponder();
  stage.type('y');
  expect(stage.foot(2)).toContain('› yes andy');
  stage.type('\t');
  expect(stage.foot(2)).toContain('› press a key shown above to respond, or Tab to return to');
  stage.type('\x1b');
  stage.ponder();
  expect(stage.foot(2)).toContain('› yes andy');
  stage.type('\t', 'y');
  await stage.until(/written 1[\s\S]*y allow/);
  expect(count).toBe(1);
  stage.ponder();
  stage.type('\t');
  expect(stage.foot(2)).toContain('› yes andy');
  stage.type('\t', 'what', '\t');
  expect(stage.foot(2)).toContain('› press a key shown above to respond, or Tab');
  stage.type('n');
  await stage.until(/Done\.\n\n✓/);
  expect([count, stage.foot(3)]).toEqual([1, expect.stringContaining('› yes andy\n  what\n')]);
});

test('a letter pressed before the question appeared decides when it is pressed again', async () => {
  let count = 0;
  const write = defineTool({
    name: 'write',
    description: 'Writes.',
    parameters: { type: 'object' },
    execute: () => `written ${++count}`,
  });
  const stage = await chatStage({ agent: scriptedAgent([asks, 'Done.']), tools: [write], columns: 60 });
  stage.type('go', '\r', 'y');
  await stage.until('Tab sets your draft aside');
  expect(stage.foot(2)).toContain('› y');
  stage.type('y');
  expect(stage.foot(2)).toContain('› yy');
  stage.type('\x7f');
  stage.ponder();
  stage.type('y');
  await stage.until(/Done\.\n\n✓/);
  expect([count, stage.foot(2).split('\n')[0]]).toEqual([1, '› describe a task  /help  @file  !shell']);
});

test('a message that a run elsewhere has ended without returns to the input, or is sent next if there is a draft', async () => {
  const agent = scriptedAgent(['First.']);
  const stage = await chatStage({ agent });
  stage.ear().onUnread?.('be brief');
  await stage.until('The run ended before it received your message.');
  expect(stage.foot(2)).toContain('› be brief');
  stage.ear().onUnread?.([{ type: 'text', text: 'be long' }]);
  await stage.until(/First\.\n\n✓/);
  expect(agent.requests[0]?.messages[0]?.content).toEqual([{ type: 'text', text: 'be long' }]);
  expect(stage.foot(2)).toContain('› be brief');
});
