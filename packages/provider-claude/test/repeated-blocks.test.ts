import { userMessage } from '@cobbler/agent';
import { callBlock, replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';
import { createClaude } from '../src/index.ts';
import { claudeTesting } from '../src/testing/index.ts';

type Edit = (payloads: readonly unknown[]) => readonly unknown[];

/** Returns the response, or the error, for payloads that were changed in transit. */
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

/** Repeats the first `count` payloads of a block directly after them. */
const again =
  (index: number, count: number): Edit =>
  (all) => {
    const block = all.filter((payload) => indexOf(payload) === index);
    const last = all.indexOf(block[count - 1]);
    return [...all.slice(0, last + 1), ...block.slice(0, count), ...all.slice(last + 1)];
  };

test.each([
  ['a text starts twice', again(0, 1)],
  ['a text starts again after its first chunk', again(0, 2)],
  ['a complete text is repeated', again(0, 5)],
  ['a call starts again after its first arguments', again(1, 2)],
  ['a complete call is repeated', again(1, 5)],
])('rejects a response as invalid if %s [P1, P9]', async (_what, edit) => {
  expect(await read(edit)).toEqual({ kind: 'network', code: 'garbled' });
});

test('rejects a second block with the index of a complete one [P1, P27]', async () => {
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

test('returns tool_use for a response with a call although the service says end_turn [P4, P9]', async () => {
  const edit: Edit = (all) =>
    all.map((payload) =>
      typeOf(payload) === 'message_delta'
        ? { ...(payload as object), delta: { stop_reason: 'end_turn', stop_sequence: null } }
        : payload,
    );
  expect(await read(edit)).toEqual({ content: 'Hello there.', calls: 1, stopReason: 'tool_use' });
});

test('reads a repeated message_delta as one end [P4]', async () => {
  const edit: Edit = (all) =>
    all.flatMap((payload) => (typeOf(payload) === 'message_delta' ? [payload, payload] : [payload]));
  expect(await read(edit)).toEqual({ content: 'Hello there.', calls: 1, stopReason: 'tool_use' });
});

test('rejects two different stop reasons [P4, P27]', async () => {
  const other = { type: 'message_delta', delta: { stop_reason: 'max_tokens' } };
  const edit: Edit = (all) =>
    all.flatMap((payload) => (typeOf(payload) === 'message_delta' ? [payload, other] : [payload]));
  expect(await read(edit)).toEqual({ kind: 'network', code: 'garbled' });
});

test('rejects a block without its end, because chunks before it may be missing too [P27]', async () => {
  const edit: Edit = (all) =>
    all.filter((payload) => typeOf(payload) !== 'content_block_stop' || indexOf(payload) !== 0);
  expect(await read(edit)).toEqual({ kind: 'network', code: 'garbled' });
});
