import type { AgentEvent } from '@cobbler/agent';
import { userMessage } from '@cobbler/agent';
import type { ScriptAnswer } from '@cobbler/agent/testing';
import {
  callBlock,
  expect,
  expectEqual,
  framed,
  LiveStream,
  replies,
  responseSteps,
  scriptResponse,
  stepFrames,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { heldBytes } from '../setup/memory.ts';
import { continueConversation, user } from '../setup/request-parts.ts';
import { askOnce, promptly, responseOf, soon, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('arguments');

const mebibyte = 1024 * 1024;

/** Real-time limit for arguments that a slow parser would take long to read, in milliseconds. */
const limitMs = 8000;

const sorry: ScriptAnswer = scriptResponse(['Sorry.']);

/**
 * Sends many calls in one response, each with invalid raw arguments. Each call must have a problem, and the
 * conversation must continue.
 */
function noneUsable(name: string, inputs: () => readonly string[]): CaseDefinition {
  return the(name, async (subject) => {
    const list = inputs();
    const answer = scriptResponse(list.map((input, index) => callBlock(`call_${index}`, 'put', input)));
    await withSetup(
      subject,
      [replies(answer, { chunks: 'whole' }), replies(sorry)],
      async (setup) => {
        const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
        expectEqual(response.toolCalls.length, list.length, 'the number of calls');
        for (const [index, call] of response.toolCalls.entries()) {
          expect(call.problem !== undefined, `a problem for ${JSON.stringify(list[index]?.slice(0, 60))}`);
          expect((call.problem ?? '').length < 2000, 'a short problem text');
        }
        responseOf(await setup.ask({ messages: continueConversation([user('Go.')], response.message) }));
      },
      {},
      limitMs,
    );
  });
}

/** Near-JSON that models and faulty servers write. None of it is repaired. */
const nearlyJson: readonly string[] = [
  "{'value': 1}",
  '{value: 1}',
  '{"value": 1,}',
  '{"value": 01}',
  '{"value": .5}',
  '{"value": 1.}',
  '{"value": +1}',
  '{"value": 0x1f}',
  '{"value": NaN}',
  '{"value": Infinity}',
  '{"value": undefined}',
  '{"value": True}',
  '{"value": "a\nb"}',
  '{"value": "\\x41"}',
  '{"value": "\\u12"}',
  '{"value": 1} // so',
  '/* so */ {"value": 1}',
  '\ufeff{"value": 1}',
  '{"value": 1}\u0000',
  '```json\n{"value": 1}\n```',
  '<value>1</value>',
  '{"value": 1}{"value": 1}',
  '{"value": 1},{"value": 2}',
  '[{"value": 1}]',
  '"{\\"value\\": 1}"',
  '{"value": 1',
  '{"value": "1}',
  '{"value"}',
  '{"value": }',
  '{,}',
  '{',
  '}',
  '"',
  'null',
  'true',
  '0',
  '...',
  '[object Object]',
  'undefined',
];

/** Valid JSON that is not plain data. */
const hostileJson: readonly string[] = [
  '{"__proto__": 1}',
  '{"\\u005f_proto__": {"polluted": true}}',
  '{"a": {"b": {"__proto__": null}}}',
  '{"a": [[[{"__proto__": []}]]]}',
  '{"constructor": {"prototype": {"__proto__": {"polluted": true}}}}',
  '{"value": 1e999}',
  '{"value": [-1e400]}',
];

/**
 * Sends arguments in this many chunks and does not keep what is emitted. Returns the bytes in use before the
 * end.
 */
async function fedSlowly(
  subject: ContractSubject,
  chunkCount: number,
  chunk: string,
  act: (held: number) => void,
): Promise<void> {
  const stream = new LiveStream();
  await withSetup(
    subject,
    [{ type: 'live', stream }],
    async (setup) => {
      const { testing } = subject;
      const answer = scriptResponse([callBlock('call_1', 'put', '')]);
      let emitted = 0;
      const emit = (event: AgentEvent) => {
        if (event.type === 'tool_input_delta') emitted += event.json.length;
      };
      const before = await heldBytes();
      // Not through the fixture, which keeps every event.
      const asked = setup.agent().run({ messages: [userMessage('Go.')], tools: [] }, { emit });
      // It may reject long before it is awaited.
      asked.catch(() => {});
      await setup.server.arrival(0);
      stream.send(framed(testing.begin(answer), testing));
      stream.send(stepFrames(responseSteps(answer).slice(0, 1), replies(answer), testing));
      const frame = stepFrames([{ type: 'delta', at: 0, text: chunk }], replies(answer), testing);
      for (let count = 1; count <= chunkCount; count += 1) {
        stream.send(frame);
        for (let tries = 0; emitted < count * chunk.length && tries < 500; tries += 1) await soon(0);
      }
      act((await heldBytes()) - before);
      stream.send(stepFrames([{ type: 'close', at: 0 }, { type: 'end' }], replies(answer), testing));
      stream.end();
      const { toolCalls } = await promptly(asked, limitMs, 'the response');
      expectEqual(
        toolCalls.map(({ problem }) => problem !== undefined),
        [true],
        'the problems',
      );
    },
    {},
    15_000,
  );
}

export const argumentCases: readonly CaseDefinition[] = [
  noneUsable('malformed JSON is never repaired into a call [P9]', () => nearlyJson),
  noneUsable('arguments that are not plain data never run [P9, P11]', () => hostileJson),
  noneUsable('100,000 brackets overflow no stack and are rejected quickly [P9, P11]', () => [
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  ]),
  noneUsable('arguments cut off at any character never run [P9]', () => {
    const whole = '{"value": "a\\u00e9 \\"x\\"", "more": [1, -2.5e3, {"deep": null}], "last": true}';
    return Array.from({ length: whole.length - 1 }, (_, length) => whole.slice(0, length + 1));
  }),
  the('arguments of exactly one mebibyte are the maximum [P11]', async (subject) => {
    const frame = '{"value":""}';
    const maxArguments = `{"value":"${'x'.repeat(mebibyte - frame.length)}"}`;
    const more = `{"value":"${'é'.repeat((mebibyte - frame.length) / 2)}x"}`;
    const answer = scriptResponse([
      callBlock('call_1', 'put', maxArguments),
      callBlock('call_2', 'put', more),
    ]);
    const { outcome } = await askOnce(subject, replies(answer, { chunks: 'whole' }));
    const problems = responseOf(outcome).toolCalls.map(({ problem }) => problem !== undefined);
    expectEqual(problems, [false, true], 'whether each call has a problem');
  }),
  the('20,000 keys are parsed quickly [P11]', async (subject) => {
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 0]));
    const answer = scriptResponse([callBlock('call_1', 'put', wide)]);
    const { outcome } = await askOnce(subject, replies(answer, { chunks: 'whole' }));
    expectEqual(Object.keys(responseOf(outcome).toolCalls[0]?.arguments ?? {}).length, 20_000, 'the keys');
  }),
  the('arguments in 20,000 chunks are parsed in linear time', async (subject) => {
    const value = 'lorem ipsum dolor '.repeat(13_000);
    const answer = scriptResponse([callBlock('call_1', 'put', { value })]);
    await withSetup(
      subject,
      [replies(answer, { steps: responseSteps(answer, 20_000), chunks: { size: 65_536 } })],
      async (setup) => expectResponse(responseOf(await setup.ask()), answer, subject.testing),
      {},
      limitMs,
    );
  }),
  the('lone surrogates in arguments and their keys are replaced [P12]', async (subject) => {
    const answer = scriptResponse([
      callBlock('call_1', 'put', '{"a\\ud800": ["\\udc00b", {"\\ud83e\\uddf5": "\\ud83e"}]}'),
    ]);
    const { outcome } = await askOnce(subject, replies(answer));
    const [call] = responseOf(outcome).toolCalls;
    expectEqual(call?.problem, undefined, 'the problem');
    expectEqual(call?.arguments, { 'a\ufffd': ['\ufffdb', { '🧵': '\ufffd' }] }, 'the arguments');
  }),
  the(
    'arguments of 16 MiB use no more memory than the limit allows [P11]',
    (subject) =>
      fedSlowly(subject, 32, 'x'.repeat(mebibyte / 2), (held) =>
        expect(held < 8 * mebibyte, `less than 8 MiB in use, found ${Math.round(held / mebibyte)} MiB`),
      ),
    'argument-chunks',
  ),
  the(
    'a tool name of any length or characters leaves a history that services accept [P9]',
    async (subject) => {
      const names = [
        'n'.repeat(10_000),
        'put it',
        'pût',
        '',
        ' ',
        'a.b/c',
        '工具',
        '"',
        '\u0000',
        '__proto__',
      ];
      const answer = scriptResponse(names.map((name, index) => callBlock(`call_${index}`, name, {})));
      await withSetup(subject, [replies(answer), replies(sorry)], async (setup) => {
        const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
        expectEqual(response.toolCalls.length, names.length, 'the number of calls');
        responseOf(await setup.ask({ messages: continueConversation([user('Go.')], response.message) }));
      });
    },
  ),
];
