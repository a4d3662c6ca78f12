import type { ScriptAnswer } from '@cobbler/agent/testing';
import { callBlock, framesOf, replies, scriptResponse } from '@cobbler/agent/testing';
import { expectAnswer } from '../setup/compare.ts';
import { answered, askOnce } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('framing');

const answer: ScriptAnswer = scriptResponse([
  'Two lines,\nand a third: 漢字\r\n: not a comment.',
  callBlock('call_1', 'look_up', { word: 'data: x' }),
]);

/** How a frame may look in another way and mean the same. */
type Variation = (frame: string, index: number) => string;

function varied(what: string, rewrite: Variation): CaseDefinition {
  return the(`${what} [P1]`, async (subject) => {
    for (const chunks of ['payload', { size: 1 }] as const) {
      const { outcome } = await askOnce(subject, replies(answer, { rewrite, chunks }));
      expectAnswer(answered(outcome), answer, subject.testing);
    }
  });
}

/** Puts the JSON of each data line on several lines, as the format allows. */
const overLines: Variation = (frame) =>
  frame.replace(/^data: ?([[{].*)$/m, (line, json: string) => {
    try {
      const lines = JSON.stringify(JSON.parse(json), null, 1).split('\n');
      return lines.map((part) => `data: ${part}`).join('\n');
    } catch {
      return line;
    }
  });

const eventStreamCases: readonly CaseDefinition[] = [
  varied('lines that end in CR LF', (frame) => frame.replaceAll('\n', '\r\n')),
  varied('lines that end in CR', (frame) => frame.replaceAll('\n', '\r')),
  varied('a byte order mark in front', (frame, index) => (index === 0 ? `\ufeff${frame}` : frame)),
  varied('comments between and inside events', (frame) => `: note\n\n:\n: and\n${frame}`),
  varied('no blank after the colon', (frame) => frame.replaceAll(/^(\w+): /gm, '$1:')),
  varied(
    'ids, retry times and fields nobody knows',
    (frame) => `id: 7\nretry: 10\nnonsense\nnew: x\n${frame}`,
  ),
  varied('data over several lines', overLines),
  varied('data over several lines that end in CR LF', (frame, index) =>
    overLines(frame, index).replaceAll('\n', '\r\n'),
  ),
  varied('empty events between', (frame) => `\n\n${frame}\n\n`),
];

const lineCases: readonly CaseDefinition[] = [
  varied('lines that end in CR LF', (frame) => frame.replaceAll('\n', '\r\n')),
  varied('a byte order mark in front', (frame, index) => (index === 0 ? `\ufeff${frame}` : frame)),
  varied('empty lines between', (frame) => `\n${frame}\n\n`),
  varied('blanks around the JSON', (frame) => frame.replace(/^(.*)\n$/, '  $1 \t\n')),
  the('a last line without its end', async (subject) => {
    const last = framesOf(replies(answer), subject.testing).length - 1;
    const rewrite: Variation = (frame, index) => (index === last ? frame.trimEnd() : frame);
    const { outcome } = await askOnce(subject, replies(answer, { rewrite }));
    expectAnswer(answered(outcome), answer, subject.testing);
  }),
];

/** The cases of the framing that a media type declares; a framing of the provider's own has none. */
export function framingCases(contentType: string): readonly CaseDefinition[] {
  if (contentType.startsWith('text/event-stream')) return eventStreamCases;
  return /ndjson|jsonl|json-lines/.test(contentType) ? lineCases : [];
}
