import type { Agent, ModelResponse, Usage } from '@cobbler/agent';
import { AgentError, addUsage, noUsage } from '@cobbler/agent';
import type { SimulatedModelCall, SimulatedRun } from './scenario/record.ts';
import { modelCallMs } from './scenario/setting.ts';
import type { World } from './scenario/world.ts';
import type { ModelService, Served } from './world/service.ts';
import { heardOf, wastedBy } from './world/service.ts';

/** Slack of every promised time, in milliseconds. */
export const slackMs = 250;

/** A run whose model calls are looked at. */
export type Audited = Pick<SimulatedRun, 'program' | 'calls' | 'stops'>;

/** What an auditor looks at. */
export interface AuditPlan {
  readonly service: ModelService;
  readonly world: World;
  /** Whether the run has reached a limit and only its closing answer is to come. */
  readonly isClosing: () => boolean;
}

/** Puts somebody between the run and its agent who knows what the service has really counted. */
export function audited(
  agent: Agent,
  current: () => Audited,
  { service, world, isClosing }: AuditPlan,
): Agent {
  const auditor = new Auditor(world);
  const { provider, model, capabilities } = agent;
  return {
    provider,
    model,
    capabilities,
    async run(request, context = {}) {
      const record = current();
      if (context.signal !== undefined) record.program.watch(context.signal);
      const wasStopped = record.stops.length > 0;
      const call: SimulatedModelCall = { from: service.of(record.program).length, begunAt: world.elapsed };
      record.calls.push(call);
      const mayCall = request.config?.toolChoice !== 'none';
      const isForNotes = request.tools.length === 0;
      world.expect(isForNotes || mayCall !== isClosing(), 'closing request', () =>
        mayCall ? 'a closing request allows calls' : 'a request forbids calls and no limit was reached',
      );
      try {
        const response = await agent.run(request, context);
        if (isForNotes && response.stopReason !== 'complete') call.inVain = true;
        auditor.answered(call, service.of(record.program).slice(call.from), response);
        return response;
      } catch (error) {
        auditor.failed(call, service.of(record.program).slice(call.from), error);
        throw error;
      } finally {
        world.expect(
          !wasStopped || service.of(record.program).length === call.from,
          'P3 stop',
          'a request is sent though the run was told to stop',
        );
      }
    },
  };
}

class Auditor {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  answered(call: SimulatedModelCall, requests: readonly Served[], response: ModelResponse): void {
    const last = requests.at(-1);
    const failed = requests.slice(0, -1);
    this.#inTime(call);
    const { usage, wasted, model } = response;
    if (call.inVain === true) call.spent = { used: noUsage, wasted: addUsage(usage, wasted) };
    else {
      call.spent = { used: usage, wasted };
      call.model = model;
    }
    this.#attempts(response.attempts, requests);
    this.#wasted(response.wasted, failed);
    if (last === undefined) return this.#world.violate('P1 answer', 'an answer comes without a request');
    const heard = heardOf(last);
    this.#world.expect(
      heard.ended,
      'P1 truncated',
      `answer ${last.request} has no end and is given as whole`,
    );
    this.#world.expect(
      sameUsage(response.usage, heard.usage),
      'P14 usage',
      () =>
        `answer ${last.request} used ${JSON.stringify(heard.usage)}, told is ${JSON.stringify(response.usage)}`,
    );
    this.#world.expect(
      response.stopReason === last.answer.stop,
      'P4 stop reason',
      `answer ${last.request} stops with ${last.answer.stop}, told is ${response.stopReason}`,
    );
  }

  failed(call: SimulatedModelCall, requests: readonly Served[], thrown: unknown): void {
    this.#inTime(call);
    if (!AgentError.is(thrown))
      return this.#world.violate('P1 error', `a model call throws ${String(thrown)}`);
    const wasted = thrown.wasted ?? noUsage;
    call.spent = { used: noUsage, wasted };
    this.#attempts(thrown.attempts ?? 0, requests);
    this.#wasted(wasted, requests);
  }

  #attempts(told: number, requests: readonly Served[]): void {
    this.#world.expect(
      told === requests.length,
      'P14 attempts',
      `${requests.length} requests were made, told are ${told}`,
    );
  }

  #wasted(told: Usage, failed: readonly Served[]): void {
    let least = noUsage;
    let most = noUsage;
    for (const served of failed) {
      const [atLeast, atMost] = wastedBy(served);
      least = addUsage(least, atLeast);
      most = addUsage(most, atMost);
    }
    const isTrue =
      between(told.inputTokens, least.inputTokens, most.inputTokens) &&
      between(told.outputTokens, least.outputTokens, most.outputTokens);
    this.#world.expect(
      isTrue,
      'P14 wasted',
      () => `wasted were ${JSON.stringify(most)}, told are ${JSON.stringify(told)}`,
    );
  }

  #inTime({ begunAt }: SimulatedModelCall): void {
    const ms = this.#world.elapsed - begunAt;
    this.#world.expect(ms <= modelCallMs + slackMs, 'P2 model call', `a model call takes ${ms} ms`);
  }
}

function between(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

const counts = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
] as const;

export function sameUsage(left: Usage, right: Usage): boolean {
  return counts.every((count) => (left[count] ?? 0) === (right[count] ?? 0));
}
