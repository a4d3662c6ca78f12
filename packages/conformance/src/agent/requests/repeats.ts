import type { Message, ModelRequest } from '@cobbler/agent';
import type { ReadPart, ReadRequest } from '@cobbler/agent/testing';
import { callBlock, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { assistant, call, continueConversation, lookUp, put, result, user } from '../setup/request-parts.ts';
import { responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('cache-bytes');

const fine = replies(scriptResponse(['Fine.']));

const base: readonly Message[] = [
  user('Base.'),
  assistant('Yes.', call('a', 'put', { value: 1 })),
  result('a', 'ok'),
];

function texts(parts: readonly ReadPart[] | undefined): string[] {
  return (parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

/** State that an agent must not keep between requests, or must keep correctly. */
export const repeatCases: readonly CaseDefinition[] = [
  the('two parallel runs share no state [S0.31]', async (subject) => {
    const script = (request: ReadRequest) =>
      replies(scriptResponse([`You said ${texts(request.turns.at(-1)?.parts).join('')}`]));
    await withSetup(subject, script, async (setup) => {
      const asked = Array.from({ length: 12 }, (_, index) =>
        setup.ask({ messages: [user(`word ${index}`)] }),
      );
      const contents = (await Promise.all(asked)).map((outcome) => responseOf(outcome).content);
      expectEqual(
        contents,
        contents.map((_, index) => `You said word ${index}`),
        'the texts of the responses',
      );
    });
  }),
  the('runs forked from one history do not affect each other [P12]', async (subject) => {
    await withSetup(
      subject,
      () => fine,
      async (setup) => {
        responseOf(await setup.ask({ messages: base }));
        const forks = Array.from({ length: 8 }, (_, index) => [
          ...base,
          user(`fork ${index} ${'x'.repeat(index * 40)}`),
        ]);
        const outcomes = await Promise.all(forks.map((messages) => setup.ask({ messages })));
        for (const outcome of outcomes) responseOf(outcome);
        const ends = setup.server.exchanges
          .slice(1)
          .map(({ request }) => texts(request?.turns.at(-1)?.parts).join(''));
        const expected = forks.map((_, index) => `fork ${index} ${'x'.repeat(index * 40)}`);
        expectEqual(ends.toSorted(), expected.toSorted(), 'the last texts of the forks');
        for (const { request } of setup.server.exchanges) {
          expectEqual(
            request?.turns.slice(0, 2),
            setup.request(0).turns.slice(0, 2),
            'the turns that all forks share',
          );
        }
      },
    );
  }),
  the('a growing conversation sends each earlier turn unchanged [P12]', async (subject) => {
    await withSetup(
      subject,
      () => fine,
      async (setup) => {
        let messages: Message[] = [...base];
        for (let turn = 0; turn < 6; turn += 1) {
          const response = responseOf(await setup.ask({ messages }));
          messages = continueConversation(messages, response.message);
        }
        const last = setup.request(5).turns;
        for (const { request } of setup.server.exchanges) {
          const turns = request?.turns.slice(0, -1) ?? [];
          expectEqual(turns, last.slice(0, turns.length), 'the earlier turns of a request');
        }
        expectEqual(last.length, 13, 'the turns of the last request');
      },
    );
  }),
  the('a replaced earlier message is sent as replaced [P12]', async (subject) => {
    await withSetup(
      subject,
      () => fine,
      async (setup) => {
        const [first, ...rest] = [user('Old.'), assistant('Yes.'), user('Next.')];
        responseOf(await setup.ask({ messages: [first ?? user(''), ...rest] }));
        responseOf(await setup.ask({ messages: [user('New and longer.'), ...rest] }));
        responseOf(await setup.ask({ messages: [user('New and longer.'), assistant('No.'), user('Next.')] }));
        const sent = setup.server.exchanges.map(({ request }) =>
          request?.turns.map(({ parts }) => texts(parts).join('')),
        );
        expectEqual(
          sent,
          [
            ['Old.', 'Yes.', 'Next.'],
            ['New and longer.', 'Yes.', 'Next.'],
            ['New and longer.', 'No.', 'Next.'],
          ],
          'the texts',
        );
      },
    );
  }),
  the('a shortened history is sent shortened [P12]', async (subject) => {
    await withSetup(
      subject,
      () => fine,
      async (setup) => {
        const [first, second, third] = [user('One.'), assistant('Two.'), user('Three.')] as const;
        responseOf(await setup.ask({ messages: [first, second, third] }));
        responseOf(await setup.ask({ messages: [first] }));
        responseOf(await setup.ask({ messages: [first, second, user('Other.')] }));
        const sent = setup.server.exchanges.map(({ request }) =>
          request?.turns.map(({ parts }) => texts(parts).join('')),
        );
        expectEqual(sent, [['One.', 'Two.', 'Three.'], ['One.'], ['One.', 'Two.', 'Other.']], 'the texts');
      },
    );
  }),
  the('a conversation can continue over many turns', async (subject) => {
    const script = (_: ReadRequest, index: number) =>
      index < 5
        ? replies(scriptResponse([`Turn ${index}.`, callBlock(`call_${index}`, 'put', { value: index })]))
        : fine;
    await withSetup(subject, script, async (setup) => {
      let messages: Message[] = [user('Go.')];
      for (let turn = 0; turn < 5; turn += 1) {
        const { message } = responseOf(await setup.ask({ messages }));
        messages = [...messages, message, result(`call_${turn}`, `done ${turn}`)];
      }
      responseOf(await setup.ask({ messages }));
      const { turns } = setup.request(5);
      const ids = turns.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'result' ? [part.id] : [])),
      );
      expectEqual(
        ids,
        [0, 1, 2, 3, 4].map((turn) => `call_${turn}`),
        'the ids of the results',
      );
    });
  }),
  the('settings that change between requests are sent each time', async (subject) => {
    const heated = subject.testing.lacks.sampling === undefined;
    const shaped = subject.testing.lacks['native-output'] === undefined;
    const shape = (name: string) => ({
      name,
      schema: { type: 'object', properties: {}, additionalProperties: false },
    });
    await withSetup(
      subject,
      () => fine,
      async (setup) => {
        const tools = [lookUp, put];
        const asked: Partial<ModelRequest>[] = [
          {},
          { config: { toolChoice: 'none' } },
          { config: { maxTokens: 2001 } },
          { config: { maxTokens: 2002 } },
          { system: 'One.' },
          { system: ['Two.', 'Three.'] },
          { tools: [lookUp] },
          ...(heated ? [{ config: { temperature: 0.5 } }] : []),
          ...(shaped ? [{ output: shape('first') }, { output: shape('second') }] : []),
          {},
        ];
        for (const request of asked) responseOf(await setup.ask({ tools, ...request }));
        const sent = asked.map((_, index) => setup.request(index));
        const [plain] = sent;
        expectEqual(
          sent.map(({ toolChoice }) => toolChoice),
          asked.map(({ config }) => config?.toolChoice ?? 'auto'),
          'the tool choices',
        );
        expectEqual(
          sent.map(({ maxTokens }) => maxTokens),
          asked.map(({ config }) => config?.maxTokens ?? plain?.maxTokens),
          'the maxTokens',
        );
        expectEqual(
          sent.map(({ system }) => system),
          asked.map(({ system }) => [system ?? ''].flat().join('\n\n')),
          'the instructions',
        );
        expectEqual(
          sent.map((read) => read.tools.length),
          asked.map((request) => request.tools?.length ?? 2),
          'the number of tools',
        );
        expectEqual(
          sent.map(({ temperature }) => temperature),
          asked.map(({ config }) => config?.temperature),
          'the temperatures',
        );
        expectEqual(
          sent.map(({ output }) => output?.name),
          asked.map(({ output }) => output?.name),
          'the output schemas',
        );
      },
    );
  }),
];
