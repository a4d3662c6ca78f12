import type { Message } from '@cobbler/agent';
import type { Seal } from '@cobbler/agent/provider';
import type { ReadPart, ScriptBlock } from '@cobbler/agent/testing';
import { callBlock, expect, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { assistant, call, continueConversation, result, user } from '../setup/request-parts.ts';
import { responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('seals');

const fine = replies(scriptResponse(['Fine.']));

/** A seal of realistic length that uses all base64 characters. */
const seal = 'ErUB+sig/7d0a1b2c3Kj9==';

function thought(text: string, own: string = seal): ScriptBlock {
  return { type: 'reasoning', text, seal: own };
}

/** Returns the parts of a response as they are sent back when the conversation continues. */
async function sentBack(
  subject: ContractSubject,
  blocks: readonly (string | ScriptBlock)[],
  keep: (message: Message) => Message = (message) => message,
): Promise<readonly ReadPart[]> {
  let parts: readonly ReadPart[] = [];
  await withSetup(subject, [replies(scriptResponse(blocks)), fine], async (setup) => {
    const { message } = responseOf(await setup.ask({ messages: [user('Go.')] }));
    const kept = keep(message);
    expect(kept.role === 'assistant', 'a message from the model');
    responseOf(await setup.ask({ messages: continueConversation([user('Go.')], kept) }));
    parts = setup.request(1).turns[1]?.parts ?? [];
  });
  return parts;
}

/** A turn of another provider, with reasoning and opaque parts that only that provider can read. */
function foreignTurn(foreign: Seal): Message[] {
  return [
    user('Go.'),
    assistant(
      { type: 'reasoning', text: 'A foreign thought.', seal: foreign },
      { type: 'opaque', seal: foreign },
      'Said aloud.',
      { ...call('a', 'put', { value: 1 }), seal: foreign },
    ),
    result('a', 'ok'),
  ];
}

export const sealCases: readonly CaseDefinition[] = [
  the(
    'sealed reasoning is sent back unchanged, before the text that followed it [P12]',
    async (subject) => {
      const parts = await sentBack(subject, [thought(' Let me\n think 漢字. \n'), 'Done.']);
      expectEqual(
        parts[0],
        { type: 'reasoning', text: ' Let me\n think 漢字. \n', seal },
        'the reasoning sent back',
      );
      expectEqual(parts[1], { type: 'text', text: 'Done.' }, 'the text after it');
    },
    'reasoning',
    'seal',
  ),
  the(
    'sealed reasoning is sent back before the calls that followed it [P12]',
    async (subject) => {
      const parts = await sentBack(subject, [
        thought('I need a word.'),
        callBlock('call_1', 'look_up', { word: 'last' }),
      ]);
      expectEqual(
        parts.map(({ type }) => type),
        ['reasoning', 'call'],
        'the parts sent back',
      );
      expectEqual(parts[0], { type: 'reasoning', text: 'I need a word.', seal }, 'the reasoning sent back');
    },
    'reasoning',
    'seal',
  ),
  the(
    'two reasoning parts are each sent back with their own seal [P12]',
    async (subject) => {
      const parts = await sentBack(subject, [
        thought('First.', 'seal-one'),
        thought('Second.', 'seal-two'),
        'Done.',
      ]);
      expectEqual(
        parts.slice(0, 2),
        [
          { type: 'reasoning', text: 'First.', seal: 'seal-one' },
          { type: 'reasoning', text: 'Second.', seal: 'seal-two' },
        ],
        'the reasoning sent back',
      );
    },
    'reasoning',
    'seal',
  ),
  the(
    'a seal without reasoning text is sent back [P12]',
    async (subject) => {
      const parts = await sentBack(subject, [thought(''), thought('', 'seal-two'), 'Done.']);
      expectEqual(
        parts.slice(0, 2),
        [
          { type: 'reasoning', text: '', seal },
          { type: 'reasoning', text: '', seal: 'seal-two' },
        ],
        'the reasoning sent back',
      );
    },
    'reasoning',
    'seal',
  ),
  the(
    'a long seal is sent back completely [P12]',
    async (subject) => {
      const long = 'Ab3+/x9='.repeat(4000);
      const parts = await sentBack(subject, [thought('Long.', long), 'Done.']);
      expectEqual(parts[0], { type: 'reasoning', text: 'Long.', seal: long }, 'the reasoning sent back');
    },
    'reasoning',
    'seal',
  ),
  the(
    'a seal survives a history stored as JSON',
    async (subject) => {
      const parts = await sentBack(subject, [thought('Kept.'), 'Done.'], (message) =>
        JSON.parse(JSON.stringify(message)),
      );
      expectEqual(parts[0], { type: 'reasoning', text: 'Kept.', seal }, 'the reasoning sent back');
    },
    'reasoning',
    'seal',
  ),
  the(
    'a seal contains the name of its provider',
    async (subject) => {
      await withSetup(subject, [replies(scriptResponse([thought('Mine.'), 'Done.']))], async (setup) => {
        const { message } = responseOf(await setup.ask());
        const owners = message.content.flatMap((part) =>
          part.type !== 'text' && part.seal ? [part.seal.provider] : [],
        );
        expectEqual([...new Set(owners)], [setup.agent().provider], 'the providers of the seals');
      });
    },
    'seal',
  ),
  the('sealed content of another provider is not sent [P12]', async (subject) => {
    await withSetup(subject, [fine], async (setup) => {
      const foreign: Seal = { provider: 'somebody-else', data: { encrypted: 'FOREIGN-SEAL' } };
      responseOf(await setup.ask({ messages: foreignTurn(foreign) }));
      const text = setup.server.exchanges[0]?.text ?? '';
      expect(
        !text.includes('FOREIGN-SEAL') && !text.includes('somebody-else'),
        "the other provider's seal not to be sent",
      );
      expect(!text.includes('A foreign thought.'), "the other provider's reasoning not to be sent");
      expectEqual(
        setup.request().turns[1]?.parts.map(({ type }) => type),
        ['text', 'call'],
        'the parts of the turn',
      );
    });
  }),
  the("a message with only another provider's reasoning leaves no empty turn [P12]", async (subject) => {
    await withSetup(subject, [fine], async (setup) => {
      const foreign: Seal = { provider: 'somebody-else', data: 'x' };
      const messages = [
        user('One.'),
        assistant({ type: 'reasoning', text: 'Hm.', seal: foreign }),
        user('Two.'),
      ];
      responseOf(await setup.ask({ messages }));
      const { turns } = setup.request();
      expect(
        turns.every(({ parts }) => parts.length > 0),
        'no empty turn',
      );
      expectEqual(turns.at(-1)?.parts.at(-1), { type: 'text', text: 'Two.' }, 'the last message');
      expect(
        turns.every(({ parts }) => parts.every(({ type }) => type === 'text')),
        'only text parts',
      );
    });
  }),
];
