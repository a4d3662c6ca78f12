import type { FilePart, Message } from '@cobbler/agent';
import { isBase64 } from '@cobbler/agent/provider';
import { expect, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { assistant, call, result, user } from '../setup/request-parts.ts';
import { errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('media');

const fine = replies(scriptResponse(['Fine.']));

const pixel = 'iVBORw0KGgo=';

/** Files that some or all services reject. */
const odd: readonly FilePart[] = [
  { type: 'file', mediaType: 'image/svg+xml', data: 'PHN2Zy8+' },
  { type: 'file', mediaType: 'image/bmp', data: 'Qk0=' },
  { type: 'file', mediaType: 'image/tiff', data: 'SUkqAA==' },
  { type: 'file', mediaType: 'application/octet-stream', data: pixel },
  { type: 'file', mediaType: 'png', data: pixel },
  { type: 'file', mediaType: '', data: pixel },
  { type: 'file', mediaType: 'image/\ud800', data: pixel },
  { type: 'file', mediaType: 'image/png', data: '' },
  { type: 'file', mediaType: 'image/png', data: 'not base64!' },
  { type: 'file', mediaType: 'image/png', data: `data:image/png;base64,${pixel}` },
  { type: 'file', mediaType: 'application/zip', data: 'UEsDBA==' },
  { type: 'file', mediaType: 'application/vnd.ms-excel', data: '0M8R4A==' },
  { type: 'file', mediaType: 'application/pdf', data: '' },
  { type: 'file', mediaType: 'text/plain', data: '%%%' },
  { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0xLjQ=', name: 'a.pdf' },
];

/** More than services allow for an image, and large enough that checking it must not recurse. */
const large: FilePart = { type: 'file', mediaType: 'image/png', data: 'A'.repeat(6 * 1024 * 1024) };

function describeFile({ mediaType, data }: FilePart): string {
  return `a file of type ${JSON.stringify(mediaType)} with ${data.length} characters`;
}

/** Conversations in which a file is in an earlier message, and the files to try in each. */
const past: readonly (readonly [string, readonly FilePart[], (part: FilePart) => Message[]])[] = [
  [
    'returned by a tool',
    [...odd, large],
    (part) => [
      user('Look.'),
      assistant(call('a', 'put')),
      { role: 'tool_result', toolCallId: 'a', content: [part] },
    ],
  ],
  [
    'returned by a tool with text, several turns ago',
    odd,
    (part) => [
      user('Look.'),
      assistant(call('a', 'put'), call('b', 'put')),
      result('a', 'ok'),
      { role: 'tool_result', toolCallId: 'b', content: [{ type: 'text', text: 'Here.' }, part] },
      assistant('I see.'),
      user('And now?'),
    ],
  ],
  [
    'from the user, with or without a response',
    odd,
    (part) => [
      { role: 'user', content: [part, { type: 'text', text: 'Look.' }] },
      user('Never mind.'),
      assistant('As you like.'),
      user('And now?'),
    ],
  ],
];

export const mediaCases: readonly CaseDefinition[] = [
  ...past.map(([what, files, conversation]) =>
    the(`a conversation with a file ${what} continues, whatever the file contains [P12]`, async (subject) => {
      await withSetup(
        subject,
        () => fine,
        async (setup) => {
          for (const part of files) {
            const { response, error } = await setup.ask({ messages: conversation(part) });
            const complaint = setup.server.exchanges.at(-1)?.complaint;
            expect(
              response !== undefined,
              `a response with ${describeFile(part)}, found ${complaint ?? error?.message}`,
            );
          }
          expectEqual(setup.server.exchanges.length, files.length, 'the number of requests');
        },
      );
    }),
  ),
  the(
    'a prompt with a file that cannot be sent is rejected, and the next prompt works [P12]',
    async (subject) => {
      await withSetup(
        subject,
        () => fine,
        async (setup) => {
          const messages: Message[] = [];
          // The largest comes last, because every later request includes it.
          for (const part of [...odd, large]) {
            messages.push({ role: 'user', content: [part] });
            const { error } = await setup.ask({ messages: [...messages] });
            if (error !== undefined) {
              expectEqual(
                [error.kind, error.retryable, error.attempts ?? 0],
                ['invalid', false, 0],
                'kind, retryable, attempts',
              );
              expect(
                /file|image|document/.test(error.message),
                `the rejected kind of file in the message, found ${error.message}`,
              );
            }
            messages.push(user('Continue without it.'));
            responseOf(await setup.ask({ messages: [...messages] }));
          }
        },
      );
    },
  ),
  the('a file with invalid data is rejected before a byte is sent [P12]', async (subject) => {
    const broken = odd.filter((part) => !isBase64(part.data));
    await withSetup(subject, [], async (setup) => {
      for (const part of broken) {
        const messages: Message[] = [user('Look.'), { role: 'user', content: [part] }];
        expectEqual(
          errorOf(await setup.ask({ messages: messages })).kind,
          'invalid',
          'the kind of the error',
        );
      }
      expectEqual(
        [broken.length, setup.server.exchanges.length],
        [5, 0],
        'the number of files tried and of requests',
      );
    });
  }),
  the('a note in a tool result tells the model that a file was omitted', async (subject) => {
    const part: FilePart = { type: 'file', mediaType: 'image/png', data: 'not base64!' };
    await withSetup(subject, [fine], async (setup) => {
      const messages: Message[] = [
        user('Look.'),
        assistant(call('a', 'put')),
        { role: 'tool_result', toolCallId: 'a', content: [part] },
      ];
      responseOf(await setup.ask({ messages }));
      const parts = setup.request(0).turns.flatMap((turn) => turn.parts);
      const toolResult = parts.find(({ type }) => type === 'result');
      expect(
        toolResult?.type === 'result' && toolResult.text.includes('omitted'),
        `a note instead of the file, found ${JSON.stringify(toolResult)}`,
      );
    });
  }),
];
