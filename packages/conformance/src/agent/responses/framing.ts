import type { ScriptAnswer } from '@cobbler/agent/testing';
import { callBlock, framesOf, replies, scriptResponse } from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { inText } from '../setup/frame-text.ts';
import { askOnce, responseOf } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('framing');

const answer: ScriptAnswer = scriptResponse([
  'Two lines,\nand a third: 漢字\r\n: not a comment.',
  callBlock('call_1', 'look_up', { word: 'data: x' }),
]);

/** A different spelling of the same frames. */
type Variation = (frame: string, index: number) => string;

function varied(what: string, variation: Variation): CaseDefinition {
  return the(`${what} [P1]`, async (subject) => {
    const rewrite = inText(subject.testing, variation);
    for (const chunks of ['payload', { size: 1 }] as const) {
      const { outcome } = await askOnce(subject, replies(answer, { rewrite, chunks }));
      expectResponse(responseOf(outcome), answer, subject.testing);
    }
  });
}

/** Splits the JSON of each data line into several lines, as the format allows. */
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
  varied('a byte order mark at the start', (frame, index) => (index === 0 ? `\ufeff${frame}` : frame)),
  varied('comments between and inside events', (frame) => `: note\n\n:\n: and\n${frame}`),
  varied('no space after the colon', (frame) => frame.replaceAll(/^(\w+): /gm, '$1:')),
  varied('ids and retry times', (frame) => `id: 7\nretry: 10\n${frame}`),
  varied('data on several lines', overLines),
  varied('data on several lines that end in CR LF', (frame, index) =>
    overLines(frame, index).replaceAll('\n', '\r\n'),
  ),
  varied('empty events in between', (frame) => `\n\n${frame}\n\n`),
];

const lineCases: readonly CaseDefinition[] = [
  varied('lines that end in CR LF', (frame) => frame.replaceAll('\n', '\r\n')),
  varied('a byte order mark at the start', (frame, index) => (index === 0 ? `\ufeff${frame}` : frame)),
  varied('empty lines in between', (frame) => `\n${frame}\n\n`),
  varied('whitespace around the JSON', (frame) => frame.replace(/^(.*)\n$/, '  $1 \t\n')),
  the('a last line without a line break', async (subject) => {
    const last = framesOf(replies(answer), subject.testing).length - 1;
    const rewrite = inText(subject.testing, (frame, index) => (index === last ? frame.trimEnd() : frame));
    const { outcome } = await askOnce(subject, replies(answer, { rewrite }));
    expectResponse(responseOf(outcome), answer, subject.testing);
  }),
];

/** Returns the cases for the framing of a media type; none for a custom framing. */
export function framingCases(contentType: string): readonly CaseDefinition[] {
  if (contentType.startsWith('text/event-stream')) return eventStreamCases;
  return /ndjson|jsonl|json-lines/.test(contentType) ? lineCases : [];
}
