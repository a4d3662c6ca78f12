import type { AdvanceOptions, ExecutorOptions, Prompt, ResumeOptions, RunOptions } from '@cobbler/agent';
import { forkSession } from '@cobbler/agent/fork';
import { createHarness } from '@cobbler/agent/harness';
import type { ModelStep, RunFixture, SeededRandom } from '@cobbler/agent/testing';
import { ContractFailure, calls, scriptedModel, seededRandom, textResponse } from '@cobbler/agent/testing';
import type { ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';
import { checkError, checkLogs, toolWith, untyped } from './place.ts';
import { oddValues } from './values.ts';

const the = group('untyped callers');

/** Number of calls in one sequence. */
const length = 12;

/** Everything that a random call needs. */
interface Dice {
  readonly setup: RunFixture;
  readonly random: SeededRandom;
  /** Returns the valid value, or at times any other. */
  value(valid: unknown): unknown;
  sessionId(): string;
}

type Call = (dice: Dice) => unknown;

function optionsOf({ setup, random, value }: Dice): ExecutorOptions {
  const called = calls([{ name: 'one', arguments: { list: ['a'] } }]);
  const steps = [called, textResponse('Done.'), called, called, textResponse('Good.')].map(
    (response): ModelStep =>
      () =>
        untyped(random.chance(0.9) ? response : value({ ...response, usage: value(response.usage) })),
  );
  const valid: ExecutorOptions = {
    ...{ runtime: setup.runtime, store: setup.store, agent: scriptedModel(steps), attended: false },
    tools: [toolWith({ execute: () => value('done'), timeoutMs: 1_000 })],
    gate: () => untyped(value(random.pick(['allow', 'deny', 'ask'] as const))),
    context: { maxTokens: 200, compact: () => untyped(value({ upTo: 2, summary: 'Short.' })) },
    limits: { turns: 6, ms: 60_000 },
  };
  if (random.chance(0.8)) return valid;
  const field = random.pick(Object.keys(valid));
  // The runtime and the store are those of the fixture, which checks them at the end.
  return field === 'runtime' || field === 'store' ? valid : { ...valid, [field]: value(undefined) };
}

const publicCalls: readonly Call[] = [
  (dice) => {
    const options = { sessionId: dice.sessionId(), runId: dice.value(undefined) };
    const prompt = untyped<Prompt>(dice.value('Go.'));
    return dice.setup.executor(optionsOf(dice)).run(prompt, untyped<RunOptions>(options)).result;
  },
  (dice) => {
    const conversation = [
      { role: 'user', content: dice.value('Hi.') },
      { role: 'assistant', content: dice.value('Yes?') },
      { role: 'user', content: 'Go.' },
    ];
    return dice.setup.executor(optionsOf(dice)).run(untyped<Prompt>(conversation)).result;
  },
  async (dice) => {
    const { setup, random, value } = dice;
    const sessionId = dice.sessionId();
    const events = await setup.store.read(sessionId);
    const asked = events.flatMap((event) =>
      event.type === 'approval_requested' ? [{ approvalId: event.approvalId, decision: 'allow' }] : [],
    );
    const options = { answers: random.chance(0.7) ? asked : value([value(asked[0])]) };
    return setup.executor(optionsOf(dice)).resume(sessionId, untyped<ResumeOptions>(options)).result;
  },
  (dice) => {
    const { setup, random, value } = dice;
    const options = { prompt: value('Go.'), sessionId: dice.sessionId(), runId: random.pick(['a', 'b']) };
    return setup.executor(optionsOf(dice)).advance(untyped<AdvanceOptions>(options));
  },
  async (dice) => {
    const { setup, value } = dice;
    const run = setup.executor(optionsOf(dice)).run('Go.', { sessionId: dice.sessionId() });
    try {
      run.steer(untyped<string>(value('Wait.')));
      run.decide(untyped<string>(value('id')), untyped(value({ decision: 'deny' })));
    } finally {
      if (dice.random.chance(0.5)) run.cancel();
    }
    return await run.result;
  },
  async (dice) => {
    const harness = createHarness({ ...optionsOf(dice), sessionId: dice.sessionId() });
    const run = harness.prompt(untyped<string>(dice.value('Go.')));
    harness.steer(untyped<string>(dice.value('Wait.')));
    const result = await run.result;
    const fork = await harness.fork(untyped({ upToSeq: dice.value(undefined) }));
    await fork.prompt('And?').result;
    return result;
  },
  ({ setup, random, value }) =>
    forkSession(
      setup.store,
      untyped({ from: 'one', to: `fork-${random.between(1, 999)}`, upToSeq: value(1) }),
      setup.runtime,
    ),
];

/** Makes random calls and checks after them that each session can be exported and imported. */
async function runSequence(seed: number, setup: RunFixture): Promise<void> {
  const random = seededRandom(seed);
  const dice: Dice = {
    setup,
    random,
    value: (valid) => (random.chance(0.75) ? valid : random.pick(oddValues).make()),
    sessionId: () => random.pick(['one', 'two']),
  };
  for (let call = 0; call < length; call += 1) {
    const chosen = random.pick(publicCalls);
    try {
      const outcome: unknown = await setup.until((async () => ({ value: await chosen(dice) }))());
      void outcome;
    } catch (thrown) {
      if (thrown instanceof ContractFailure) throw thrown;
      checkError(thrown, ['']);
    }
  }
  await checkLogs(setup.healthy);
}

/** Returns the case that makes this many random sequences of calls. */
export function sequenceCases(sequences: number, print: (line: string) => void): readonly ExecutorCase[] {
  return [
    the('after any calls each session can be exported and imported [P26]', async (_, createSetup) => {
      for (let seed = 1; seed <= sequences; seed += 1) {
        try {
          await runSequence(seed, createSetup());
        } catch (error) {
          const message = error instanceof Error ? error.message : 'an unreadable error';
          throw new ContractFailure(`Sequence ${seed}: ${message}`);
        }
      }
      print(`untyped callers: ${sequences * length} random calls in ${sequences} sequences`);
    }),
  ];
}
