import type { Mutant } from './mutant.ts';

const fallback = 'src/run/compose/fallback.ts';
const attribution = 'src/run/compose/attribution.ts';
const cost = 'src/loop/request-cost.ts';
const unit = 'test/compose/fallback.test.ts';
const run = 'test/compose/run.test.ts';

/** Bugs in agents that consist of other agents. */
export const composeMutants: readonly Mutant[] = [
  {
    file: 'src/run/compose/fallback.ts',
    find: "if (kind !== 'invalid') return serviceKinds.has(kind);",
    replace: "if (kind !== 'invalid') return true;",
    why: 'a request that the caller cancelled goes to the next provider',
    breaks: [],
    by: unit,
  },
  {
    file: 'src/run/compose/fallback.ts',
    find: "return code === 'not_served' || (status !== undefined && ownStatuses.has(status));",
    replace: 'return true;',
    why: 'an invalid request goes to every provider',
    breaks: [],
    by: unit,
  },
  {
    file: fallback,
    find: 'throw this.#failure(isStop(error) ? error : abortError(stop.reason, agent.provider));',
    replace: '{}',
    why: 'a cancelled request goes to the next provider if the first failed at the same time',
    breaks: ['P2'],
    by: unit,
  },
  {
    file: fallback,
    find: '(agent.capabilities.contextTokens ?? 0) > this.#window;',
    replace: '(agent.capabilities.contextTokens ?? 0) >= 0;',
    why: 'a conversation that is too long goes to a model with a smaller window',
    breaks: [],
    by: unit,
  },
  {
    file: fallback,
    find: 'this.#failure(this.#tooLong?.error ?? error)',
    replace: 'this.#failure(error)',
    why: 'a conversation that is too long is not compacted if a larger model fails',
    breaks: [],
    by: unit,
  },
  {
    file: fallback,
    find: 'Math.max(coolDownMs, retryAfterMs)',
    replace: 'coolDownMs',
    why: 'a service is asked again before the time that it asked for',
    breaks: [],
    by: unit,
  },
  {
    file: fallback,
    find: 'this.#skipsNone = members.every((member) => this.#coolsDown(member));',
    replace: 'this.#skipsNone = false;',
    why: 'a request fails without being sent after all agents failed',
    breaks: [],
    by: unit,
  },
  {
    file: fallback,
    find: 'member.failed = undefined;',
    replace: '',
    why: 'an agent that responds again is still skipped if another fails',
    breaks: [],
    by: unit,
  },
  {
    file: fallback,
    find: 'isOpen = false;',
    replace: '',
    why: 'text of an agent that failed is mixed with the response of the next',
    breaks: [],
    by: unit,
  },
  {
    file: fallback,
    find: 'mayRetry?.(addUsage(before, wasted)) ?? true',
    replace: 'mayRetry?.(wasted) ?? true',
    why: 'the retries of the second agent ignore what the first one spent',
    breaks: [],
    by: unit,
  },
  {
    file: fallback,
    find: 'const next = (await this.#mayContinue()) ? this.#take() : undefined;',
    replace: 'const next = this.#take();',
    why: 'the next agent is asked although the budget is used up',
    breaks: ['B1'],
    by: run,
  },
  {
    file: attribution,
    find: 'attempts: attempts + attemptsOf(before),',
    replace: 'attempts,',
    why: 'requests to models that failed are not counted',
    breaks: [],
    by: unit,
  },
  {
    file: cost,
    find: 'const price = priceOf(run, failed, failed.model, used.inputTokens);',
    replace: 'const price = priceOf(run, servedBy, model, used.inputTokens);',
    why: 'the tokens of a failed model have the price of the one that responded',
    breaks: [],
    by: run,
  },
  {
    file: cost,
    find: 'wasted = subtractUsage(wasted, used);',
    replace: '',
    why: 'the tokens of a failed model are charged twice',
    breaks: [],
    by: run,
  },
  {
    file: cost,
    find: 'for (const candidate of agent.candidates ?? [agent]) {',
    replace: 'for (const candidate of [agent]) {',
    why: 'the next model exceeds a limit on money, because the first one is cheaper',
    breaks: ['B1'],
    by: run,
  },
  {
    file: 'src/run/compose/route.ts',
    find: "messages.filter(({ role }) => role === 'assistant').length + 1",
    replace: 'messages.length',
    why: 'a choice by turn counts tool results and messages as turns',
    breaks: [],
    by: 'test/compose/route.test.ts',
  },
];
