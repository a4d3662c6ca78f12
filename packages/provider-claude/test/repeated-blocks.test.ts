import { userMessage } from '@cobbler/agent';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { createClaude } from '../src/index.ts';
import { claudeTesting } from '../src/testing/index.ts';

type Edit = (payloads: readonly unknown[]) => readonly unknown[];

/** What becomes of an answer whose payloads were changed on their way. */
async function read(
  edit: Edit,
  answer = scriptResponse(['Hello there.', callBlock('toolu_1', 'put', { n: 1 })]),
) {
  const service = await serveLoopback(wireServer(claudeTesting, () => replies(answer, { edit })).handler);
  try {
    const agent = createClaude({ apiKey: 'sk-ant-x', baseURL: service.url, env: {}, retry: { retries: 0 } });
    return await agent.run({ messages: [userMessage('Hello.')], tools: [] }).then(
      ({ content, toolCalls, stopReason }) => ({ content, calls: toolCalls.length, stopReason }),
      (error: { kind?: string; code?: string }) => ({ kind: error.kind, code: error.code }),
    );
  } finally {
    await service.close();
  }
}

const typeOf = (payload: unknown) => (payload as { type?: string }).type;
const indexOf = (payload: unknown) => (payload as { index?: number }).index;

/** Puts the payloads of one block once more behind the first `count` of them. */
const again =
  (index: number, count: number): Edit =>
  (all) => {
    const block = all.filter((payload) => indexOf(payload) === index);
    const last = all.indexOf(block[count - 1]);
    return [...all.slice(0, last + 1), ...block.slice(0, count), ...all.slice(last + 1)];
  };

test.each([
  ['a text begins again behind its first words', again(0, 2)],
  ['a whole text is sent again', again(0, 5)],
  ['a call begins again behind its first arguments', again(1, 2)],
  ['a whole call is sent again', again(1, 5)],
])('an answer in which %s is garbled [P1, P9]', async (_what, edit) => {
  expect(await read(edit)).toEqual({ kind: 'network', code: 'garbled' });
});

test('a block that is announced again before it holds anything is one block [P1]', async () => {
  expect(await read(again(0, 1))).toEqual({ content: 'Hello there.', calls: 1, stopReason: 'tool_use' });
});

test('another block under the number of one that is whole is garbled [P1, P27]', async () => {
  const edit: Edit = (all) =>
    all.map((payload) => (indexOf(payload) === 1 ? { ...(payload as object), index: 0 } : payload));
  const texts = scriptResponse(['Hello ', 'there.']);
  expect(await read(edit, texts)).toEqual({ kind: 'network', code: 'garbled' });
  const calls = scriptResponse([
    callBlock('toolu_1', 'put', { n: 1 }),
    callBlock('toolu_2', 'put', { n: 1 }),
  ]);
  expect(await read(edit, calls)).toEqual({ kind: 'network', code: 'garbled' });
});

test('a call in an answer that says end_turn is run [P4, P9]', async () => {
  const edit: Edit = (all) =>
    all.map((payload) =>
      typeOf(payload) === 'message_delta'
        ? { ...(payload as object), delta: { stop_reason: 'end_turn', stop_sequence: null } }
        : payload,
    );
  expect(await read(edit)).toEqual({ content: 'Hello there.', calls: 1, stopReason: 'tool_use' });
});

test('an end that is told twice is one end [P4]', async () => {
  const edit: Edit = (all) =>
    all.flatMap((payload) => (typeOf(payload) === 'message_delta' ? [payload, payload] : [payload]));
  expect(await read(edit)).toEqual({ content: 'Hello there.', calls: 1, stopReason: 'tool_use' });
});

test('a block without its end is garbled, because chunks before the end may be lost too [P27]', async () => {
  const edit: Edit = (all) =>
    all.filter((payload) => typeOf(payload) !== 'content_block_stop' || indexOf(payload) !== 0);
  expect(await read(edit)).toEqual({ kind: 'network', code: 'garbled' });
});
