import type { ScriptAnswer, Step } from '@cobbler/agent/testing';
import { callBlock, expect, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { scriptCalls } from '../setup/compare.ts';
import { askOnce, errorOf, responseOf } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('wholes');

const text: ScriptAnswer = scriptResponse(['One and only.']);
const called: ScriptAnswer = scriptResponse([callBlock('call_1', 'put', { value: 'once' })]);

/** True if this step contains these words on this wire. */
function says({ testing }: ContractSubject, answer: ScriptAnswer, step: Step, words: string): boolean {
  return JSON.stringify(testing.line(step, answer)).includes(words);
}

const end: Step = { type: 'end' };
const close: Step = { type: 'close', at: 0 };

/** Content that a service repeats completely when a block closes or at the end, in addition to its deltas. */
export const wholeCases: readonly CaseDefinition[] = [
  the(
    'a text sent only at the end is the response, if the wire repeats texts there [P1, P4]',
    async (subject) => {
      if (!says(subject, text, end, 'One and only.')) return;
      const { outcome } = await askOnce(subject, replies(text, { steps: [end] }));
      const { content, stopReason } = responseOf(outcome);
      expectEqual([content, stopReason], ['One and only.', 'complete'], 'text and stop reason');
    },
  ),
  the('a call sent only at the end runs, if the wire repeats calls there [P4, P9]', async (subject) => {
    if (!says(subject, called, end, 'call_1')) return;
    const { outcome } = await askOnce(subject, replies(called, { steps: [end] }));
    const { toolCalls, stopReason } = responseOf(outcome);
    expectEqual([toolCalls, stopReason], [scriptCalls(called), 'tool_use'], 'calls and stop reason');
  }),
  the(
    'a text with missing deltas is completed from the complete text sent after them [P1]',
    async (subject) => {
      for (const last of [[close, end], [end]]) {
        if (!last.some((step) => says(subject, text, step, 'One and only.'))) continue;
        const steps: Step[] = [{ type: 'open', at: 0 }, { type: 'delta', at: 0, text: 'One and' }, ...last];
        const { outcome } = await askOnce(subject, replies(text, { steps }));
        expectEqual(responseOf(outcome).content, 'One and only.', 'the text');
      }
    },
  ),
  the(
    'a text whose deltas differ from the complete text sent after them is an error [P1]',
    async (subject) => {
      for (const last of [[close, end], [end]]) {
        if (!last.some((step) => says(subject, text, step, 'One and only.'))) continue;
        const steps: Step[] = [
          { type: 'open', at: 0 },
          { type: 'delta', at: 0, text: 'Another one.' },
          ...last,
        ];
        const { outcome } = await askOnce(subject, replies(text, { steps }), {}, { retry: { retries: 0 } });
        expectEqual(
          [errorOf(outcome).kind, errorOf(outcome).retryable],
          ['network', true],
          'kind and retryable',
        );
      }
    },
  ),
  the(
    'a call whose deltas differ from the complete call sent after them never runs [P9]',
    async (subject) => {
      const steps: Step[] = [
        { type: 'open', at: 0 },
        { type: 'delta', at: 0, text: '{"value":"another"}' },
        close,
        end,
      ];
      if (!says(subject, called, close, 'once') && !says(subject, called, end, 'once')) return;
      const { outcome } = await askOnce(subject, replies(called, { steps }), {}, { retry: { retries: 0 } });
      expect(outcome.response === undefined, 'no response');
    },
  ),
];
