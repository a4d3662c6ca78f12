import type { Usage } from '@cobbler/agent';
import type { MockReply, ScriptAnswer, Step } from '@cobbler/agent/testing';
import {
  expect,
  expectEqual,
  failsWith,
  replies,
  responseSteps,
  scriptResponse,
} from '@cobbler/agent/testing';
import { expectResponse, expectUsage } from '../setup/compare.ts';
import { askOnce, errorOf, responseOf } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('usage');

/** Unusual numbers, so that finding one in a payload means finding the count. */
const counted: ScriptAnswer = scriptResponse(['Counted words.'], {
  usage: { inputTokens: 48_611, outputTokens: 7_793 },
});

/** True if the wire reports input tokens before the response starts. */
function reportsInputEarly({ testing }: ContractSubject): boolean {
  return JSON.stringify(testing.begin(counted)).includes('48611');
}

/**
 * Checks the wasted input tokens of truncated attempts: exact if reported, otherwise estimated and marked as
 * such.
 */
function expectWastedInput(subject: ContractSubject, wasted: Usage | undefined, attempts: number): void {
  const found = wasted?.inputTokens ?? 0;
  if (reportsInputEarly(subject)) return expectEqual(found, attempts * 48_611, 'the wasted input tokens');
  expect(found >= attempts, `some wasted input tokens for each of ${attempts} attempts, found ${found}`);
  expect(wasted?.estimated === true, 'unreported input to be marked as estimated');
}

/** Returns the steps of a response without its end. */
function unfinished(answer: ScriptAnswer): Step[] {
  return responseSteps(answer).filter(({ type }) => type !== 'end');
}

/** Returns the tokens wasted by these attempts before a successful one. */
async function wastedBy(subject: ContractSubject, attempts: readonly MockReply[]): Promise<Usage> {
  const { outcome } = await askOnce(subject, [...attempts, replies(scriptResponse(['Whole.']))]);
  expectEqual(responseOf(outcome).attempts, attempts.length + 1, 'the attempts');
  return responseOf(outcome).wasted;
}

export const usageCases: readonly CaseDefinition[] = [
  the('input and output tokens are not swapped [S0.8]', async (subject) => {
    const { outcome } = await askOnce(subject, replies(counted));
    const { inputTokens, outputTokens } = responseOf(outcome).usage;
    expectEqual({ inputTokens, outputTokens }, { inputTokens: 48_611, outputTokens: 7_793 }, 'the usage');
  }),
  the(
    'input tokens include tokens read from and written to the cache [S0.8]',
    async (subject) => {
      const usage = { inputTokens: 9_000, outputTokens: 40, cacheReadTokens: 6_000, cacheWriteTokens: 500 };
      const { outcome } = await askOnce(subject, replies(scriptResponse(['Cached.'], { usage })));
      expectEqual(responseOf(outcome).usage.inputTokens, 9_000, 'the input tokens');
      expectEqual(responseOf(outcome).usage.cacheReadTokens, 6_000, 'the tokens read from the cache');
      expectUsage(responseOf(outcome).usage, usage, subject.testing);
    },
    'cache-usage',
  ),
  the(
    'output tokens include reasoning tokens [S0.8]',
    async (subject) => {
      const usage = { inputTokens: 50, outputTokens: 900, reasoningTokens: 700 };
      const { outcome } = await askOnce(subject, replies(scriptResponse(['Thought over.'], { usage })));
      expectEqual(responseOf(outcome).usage.outputTokens, 900, 'the output tokens');
      expectEqual(responseOf(outcome).usage.reasoningTokens, 700, 'the reasoning tokens');
    },
    'reasoning-usage',
  ),
  the('later counts replace earlier ones [P14]', async (subject) => {
    const ends = subject.testing.line({ type: 'end' }, counted).length;
    // All end payloads except the last, which completes the response, are sent three times.
    const edit = (payloads: readonly unknown[]) => {
      const before = payloads.slice(0, -ends);
      const again = payloads.slice(-ends, -1);
      return [...before, ...again, ...again, ...again, ...payloads.slice(-1)];
    };
    const { outcome } = await askOnce(subject, replies(counted, { edit }));
    expectUsage(responseOf(outcome).usage, counted.usage, subject.testing);
  }),
  the('the usage of a failed attempt is separate from that of the response [P14]', async (subject) => {
    const cut = replies(counted, { steps: unfinished(counted) });
    const answer = scriptResponse(['Whole.'], { usage: { inputTokens: 1_000, outputTokens: 10 } });
    const { outcome } = await askOnce(subject, [cut, replies(answer)]);
    const response = responseOf(outcome);
    expectUsage(response.usage, answer.usage, subject.testing);
    expectWastedInput(subject, response.wasted, 1);
    expectEqual(response.attempts, 2, 'the attempts');
  }),
  the('the usage of several failed attempts adds up [P14]', async (subject) => {
    const cut = replies(counted, { steps: unfinished(counted) });
    const { outcome } = await askOnce(subject, [cut, cut, cut, replies(scriptResponse(['Whole.']))]);
    expectWastedInput(subject, responseOf(outcome).wasted, 3);
  }),
  the('uncounted output of a failed attempt is estimated and marked as such', async (subject) => {
    const answer = scriptResponse(['Much has been said before the connection was lost. '.repeat(20)]);
    const cut = replies(answer, { steps: unfinished(answer) });
    const { outcome } = await askOnce(subject, [cut, replies(answer)]);
    const { wasted } = responseOf(outcome);
    expect(wasted.estimated === true, 'the wasted output to be marked as estimated');
    expect(
      wasted.outputTokens >= 50 && wasted.outputTokens <= 2000,
      `50 to 2000 wasted tokens, found ${wasted.outputTokens}`,
    );
  }),
  the('an error contains the usage of all its attempts', async (subject) => {
    const cut = replies(counted, { steps: unfinished(counted) });
    const { outcome } = await askOnce(subject, [cut, cut], {}, { retry: { retries: 1 } });
    const error = errorOf(outcome);
    expectEqual(error.attempts, 2, 'the attempts');
    expectWastedInput(subject, error.wasted, 2);
  }),
  the(
    'a busy response, a truncated one and one with an in-stream error each count once [P14]',
    async (subject) => {
      const steps = unfinished(counted);
      const busy = failsWith({ kind: 'busy', message: 'Too busy.' });
      const cut = replies(counted, { steps, ending: 'reset' });
      const fault = replies(counted, { steps, fault: { kind: 'agent', message: 'Broken.' } });
      const alone = [await wastedBy(subject, [cut]), await wastedBy(subject, [fault])];
      const together = await wastedBy(subject, [busy, cut, fault]);
      const sum = (of: 'inputTokens' | 'outputTokens') =>
        alone.reduce((total, usage) => total + usage[of], 0);
      expectEqual(
        [together.inputTokens, together.outputTokens],
        [sum('inputTokens'), sum('outputTokens')],
        'the wasted input and output tokens',
      );
    },
    'in-stream-fault',
  ),
  the('a request that the service rejected as busy used no tokens [P14]', async (subject) => {
    const answer = scriptResponse(['Hello.']);
    const { outcome } = await askOnce(subject, [
      failsWith({ kind: 'busy', message: 'Too busy.' }),
      replies(answer),
    ]);
    expectResponse(responseOf(outcome), answer, subject.testing);
    const { inputTokens, outputTokens } = responseOf(outcome).wasted;
    expectEqual([inputTokens, outputTokens], [0, 0], 'the wasted tokens');
  }),
];
