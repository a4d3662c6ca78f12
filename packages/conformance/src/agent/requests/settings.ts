import { AgentError } from '@cobbler/agent';
import { answersStatus, expect, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { AgentLink, CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('settings');

const fine = replies(scriptResponse(['Fine.']));

/** Settings that would cause endless waits, endless retries or an immediate timeout. */
const odd: readonly Partial<AgentLink>[] = [
  { timeouts: { totalMs: Number.NaN } },
  { timeouts: { headersMs: -1 } },
  { timeouts: { stallMs: '20' as unknown as number } },
  { timeouts: { progressMs: null as unknown as number } },
  { retry: { retries: Number.NaN } },
  { retry: { retries: -1 } },
  { retry: { baseMs: -500 } },
  { retry: { maxWaitMs: Number.NaN } },
];

export const settingCases: readonly CaseDefinition[] = [
  the(
    'a timeout or retry setting that is not a valid number is rejected immediately [P2]',
    async (subject) => {
      await withSetup(subject, [], async (setup) => {
        for (const link of odd) {
          let thrown: unknown;
          try {
            setup.agent(link);
          } catch (error) {
            thrown = error;
          }
          const [option, settings] = Object.entries(link)[0] ?? [];
          const name = `${option}.${Object.keys(settings ?? {})[0]}`;
          expect(AgentError.is(thrown) && thrown.kind === 'invalid', `an error of kind invalid for ${name}`);
          expect(thrown.message.includes(name), `${name} in the message, found ${thrown.message}`);
        }
      });
    },
  ),
  the('a setting that is undefined has its default [P2]', async (subject) => {
    const unset = { timeouts: { totalMs: undefined }, retry: { retries: undefined } };
    await withSetup(
      subject,
      () => answersStatus(500),
      async (setup) => {
        const agent = setup.agent(unset as unknown as Partial<AgentLink>);
        const error = errorOf(await setup.ask({}, { agent }));
        expectEqual(error.status, 500, 'the status');
        expect((error.attempts ?? 0) > 10, `more than ten attempts, found ${error.attempts}`);
      },
    );
  }),
  the('infinite timeouts are accepted', async (subject) => {
    const never = { totalMs: Number.POSITIVE_INFINITY, headersMs: Number.POSITIVE_INFINITY };
    await withSetup(subject, [fine], async (setup) => {
      responseOf(await setup.ask({}, { agent: setup.agent({ timeouts: never }) }));
    });
  }),
];
