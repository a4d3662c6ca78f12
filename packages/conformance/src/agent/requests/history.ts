import type { Message } from '@cobbler/agent';
import { userMessage } from '@cobbler/agent';
import type { Seal } from '@cobbler/agent/provider';
import { hasMediaType } from '@cobbler/agent/provider';
import type { ReadPart, ReadRequest } from '@cobbler/agent/testing';
import { expect, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { wellFormed } from '../setup/compare.ts';
import { assistant, call, result, user } from '../setup/request-parts.ts';
import { askOnce, errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('history');

const fine = replies(scriptResponse(['Fine.']));

/** Sends a history that must be accepted and returns its turns as the mock wire reads them. */
async function turnsOf(
  subject: ContractSubject,
  messages: readonly Message[],
): Promise<ReadRequest['turns']> {
  const { outcome, exchanges } = await askOnce(subject, fine, { messages });
  responseOf(outcome);
  return exchanges[0]?.request?.turns ?? [];
}

function refusedCase(what: string, messages: readonly Message[]): CaseDefinition {
  return the(`${what} is rejected before a byte is sent [P12]`, async (subject) => {
    const { outcome, exchanges } = await askOnce(subject, fine, { messages });
    expectEqual(errorOf(outcome).kind, 'invalid', 'the kind of the error');
    expectEqual(errorOf(outcome).retryable, false, 'whether the error is retryable');
    expectEqual(exchanges.length, 0, 'the number of requests');
  });
}

function texts(parts: readonly ReadPart[] | undefined): string[] {
  return (parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

/** A seal of a provider that no test uses. */
const foreign: Seal = { provider: 'somebody-else', data: 'FOREIGN-SEAL-of-another-service' };

const abroad: readonly Message[] = [
  user('Started elsewhere.'),
  assistant(
    { type: 'reasoning', text: 'Thoughts kept elsewhere.', seal: foreign },
    { type: 'opaque', seal: foreign },
    'I look it up.',
    { ...call('toolu_01AbC.x|fc_9', 'look_up', { word: 'last' }), seal: foreign },
  ),
  result('toolu_01AbC.x|fc_9', 'a wooden foot'),
  assistant({ type: 'reasoning', text: 'More thoughts.', seal: foreign }, 'It is a wooden foot.'),
  user('Continue here.'),
];

export const historyCases: readonly CaseDefinition[] = [
  the('the whole conversation is sent: prompts, responses, calls and results [S0.16]', async (subject) => {
    const turns = await turnsOf(subject, [
      user('What is a last?'),
      assistant(
        'I look it up.',
        call('call_1', 'look_up', { word: 'last' }),
        call('call_2', 'put', { value: [1] }),
      ),
      result('call_1', 'a wooden foot'),
      result('call_2', 'done'),
      assistant('A wooden foot.'),
      user('And an awl?'),
    ]);
    expectEqual(
      turns.map(({ side }) => side),
      ['user', 'assistant', 'user', 'assistant', 'user'],
      'the roles',
    );
    expectEqual(
      turns.map(({ parts }) => parts),
      [
        [{ type: 'text', text: 'What is a last?' }],
        [
          { type: 'text', text: 'I look it up.' },
          { type: 'call', id: 'call_1', name: 'look_up', input: { word: 'last' } },
          { type: 'call', id: 'call_2', name: 'put', input: { value: [1] } },
        ],
        [
          { type: 'result', id: 'call_1', text: 'a wooden foot', isError: false },
          { type: 'result', id: 'call_2', text: 'done', isError: false },
        ],
        [{ type: 'text', text: 'A wooden foot.' }],
        [{ type: 'text', text: 'And an awl?' }],
      ],
      'the turns',
    );
  }),
  the('results are sent in the order of their calls, before the next user message [P12]', async (subject) => {
    const turns = await turnsOf(subject, [
      user('Go.'),
      assistant(call('a', 'put'), call('b', 'put'), call('c', 'put')),
      result('c', 'third'),
      result('a', 'first'),
      result('b', 'second'),
      user('And hurry.'),
    ]);
    const parts = turns.at(-1)?.parts ?? [];
    expectEqual(
      parts.map(({ type }) => type),
      ['result', 'result', 'result', 'text'],
      'the last turn',
    );
    expectEqual(
      parts.flatMap((part) => (part.type === 'result' ? [part.text] : [])),
      ['first', 'second', 'third'],
      'the results',
    );
    expectEqual(texts(parts), ['And hurry.'], 'the text after them');
  }),
  the('consecutive messages of one role become one turn [S0.16]', async (subject) => {
    const turns = await turnsOf(subject, [
      user('One.'),
      user('Two.'),
      assistant('Three.'),
      assistant('Four.'),
      user('Five.'),
    ]);
    expectEqual(
      turns.map(({ side }) => side),
      ['user', 'assistant', 'user'],
      'the roles',
    );
    expectEqual(
      turns.map(({ parts }) => texts(parts).join('')),
      ['One.Two.', 'Three.Four.', 'Five.'],
      'the texts',
    );
  }),
  the('empty texts and empty messages are omitted [P12]', async (subject) => {
    const turns = await turnsOf(subject, [
      userMessage([
        { type: 'text', text: '' },
        { type: 'text', text: 'One.' },
      ]),
      assistant(''),
      assistant(),
      user('Two.'),
    ]);
    const all = turns.flatMap(({ parts }) => texts(parts));
    expectEqual(
      all.filter((text) => text === ''),
      [],
      'the empty texts',
    );
    expect(
      turns.every(({ parts }) => parts.length > 0),
      'no empty turn',
    );
    const userTexts = turns.filter(({ side }) => side === 'user').flatMap(({ parts }) => texts(parts));
    expectEqual(userTexts.join(' '), 'One. Two.', 'the text of the user messages');
  }),
  the(
    'failed results are marked as errors [S0.16]',
    async (subject) => {
      const turns = await turnsOf(subject, [
        user('Go.'),
        assistant(call('a', 'put'), call('b', 'put')),
        result('a', 'It broke.', { isError: true }),
        result('b', 'It worked.'),
      ]);
      const marks = turns.at(-1)?.parts.map((part) => part.type === 'result' && part.isError);
      expectEqual(marks, [true, false], 'which results are errors');
    },
    'error-results',
  ),
  the('the text of a failed result is sent', async (subject) => {
    const turns = await turnsOf(subject, [
      user('Go.'),
      assistant(call('a', 'put')),
      result('a', 'It broke.', { isError: true }),
    ]);
    const [part] = turns.at(-1)?.parts ?? [];
    expect(part?.type === 'result' && part.text.includes('It broke.'), 'the result to contain its text');
  }),
  the('a result without content is still a result [P12]', async (subject) => {
    const turns = await turnsOf(subject, [user('Go.'), assistant(call('a', 'put')), result('a', '')]);
    expectEqual(
      turns.at(-1)?.parts.map(({ type }) => type),
      ['result'],
      'the last turn',
    );
  }),
  the('a result of several texts, one of them long, is sent completely', async (subject) => {
    const long = 'line of output ✓\n'.repeat(5000);
    const message: Message = {
      role: 'tool_result',
      toolCallId: 'a',
      content: [
        { type: 'text', text: 'Head.\n' },
        { type: 'text', text: long },
      ],
    };
    const turns = await turnsOf(subject, [user('Go.'), assistant(call('a', 'put')), message]);
    const [part] = turns.at(-1)?.parts ?? [];
    expect(
      part?.type === 'result' && part.text.replace('\n', '').includes('Head.') && part.text.includes(long),
      'both texts of the result',
    );
  }),
  the('an image in a result is sent, or a note that it was omitted [S0.16]', async (subject) => {
    const image = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgoAAA' } as const;
    const message: Message = {
      role: 'tool_result',
      toolCallId: 'a',
      content: [{ type: 'text', text: 'A shoe:' }, image],
    };
    await withSetup(subject, [fine], async (setup) => {
      responseOf(await setup.ask({ messages: [user('Go.'), assistant(call('a', 'put')), message] }));
      const isAccepted = hasMediaType(setup.agent().capabilities.files, image.mediaType);
      expect(
        setup.server.exchanges[0]?.text.includes(isAccepted ? image.data : 'was omitted') === true,
        'the image bytes in the result or after it, or the note',
      );
    });
  }),
  the('text with unusual characters is sent unchanged', async (subject) => {
    const odd = 'a\u0000b "\\" \u2028 \r\n 漢字 🧵 \ufeff';
    const turns = await turnsOf(subject, [
      user(odd),
      assistant(odd, call('a', 'put', { [odd]: odd })),
      result('a', odd),
    ]);
    expectEqual(texts(turns[0]?.parts), [odd], 'the text of the user message');
    const [, sent] = turns[1]?.parts ?? [];
    expectEqual(sent?.type === 'call' && sent.input, { [odd]: odd }, 'the arguments');
    const [back] = turns[2]?.parts ?? [];
    expectEqual(back?.type === 'result' && back.text, odd, 'the result');
  }),
  the('lone surrogates are never sent [P12]', async (subject) => {
    const half = 'cut \ud83e here';
    const messages = [user(half), assistant(half, call('a', 'put', { [half]: [half] })), result('a', half)];
    const { outcome, exchanges } = await askOnce(subject, fine, { messages, system: half });
    responseOf(outcome);
    const body: unknown = JSON.parse(exchanges[0]?.text ?? 'null');
    expectEqual(
      body,
      wellFormed(body),
      'the body, compared with that of the same text without lone surrogates',
    );
    expect(
      !/\\u[dD][89a-fA-F]/.test(exchanges[0]?.text ?? '\\ud800'),
      'no escape of a lone surrogate in the body',
    );
  }),
  the('a conversation from another provider continues [P12]', async (subject) => {
    const turns = await turnsOf(subject, abroad);
    expectEqual(
      turns.map(({ side }) => side),
      ['user', 'assistant', 'user', 'assistant', 'user'],
      'the roles',
    );
    expectEqual(
      turns[1]?.parts.map(({ type }) => type),
      ['text', 'call'],
      'the parts of the first response',
    );
    const [, made] = turns[1]?.parts ?? [];
    const [got] = turns[2]?.parts ?? [];
    expectEqual(made?.type === 'call' && made.input, { word: 'last' }, 'the arguments');
    expectEqual(got?.type === 'result' && got.text, 'a wooden foot', 'the result');
    expectEqual(got?.type === 'result' && got.id, made?.type === 'call' && made.id, 'the id of the result');
  }),
  the('a history of two hundred turns is sent completely [S0.16]', async (subject) => {
    const messages: Message[] = [];
    for (let turn = 0; turn < 100; turn += 1)
      messages.push(user(`Question ${turn}`), assistant(`Answer ${turn}`));
    const turns = await turnsOf(subject, [...messages, user('Last.')]);
    expectEqual(turns.length, 201, 'the number of turns');
    expectEqual(texts(turns[150]?.parts), ['Question 75'], 'a turn in the middle');
  }),
  refusedCase('a result without a call', [user('Go.'), assistant('Yes.'), result('call_1', 'x')]),
  refusedCase('a call without a result', [user('Go.'), assistant(call('call_1', 'put')), user('Well?')]),
  refusedCase('a call at the end without a result', [user('Go.'), assistant(call('call_1', 'put'))]),
  refusedCase('a batch in which one call has no result', [
    user('Go.'),
    assistant(call('a', 'put'), call('b', 'put')),
    result('a', 'x'),
    user('Well?'),
  ]),
  refusedCase('a call with two results', [
    user('Go.'),
    assistant(call('a', 'put')),
    result('a', 'x'),
    result('a', 'y'),
  ]),
  refusedCase('an empty conversation', []),
];
