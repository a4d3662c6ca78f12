import type { ExecutionMetrics, Limits, Run, Tool, ToolContext, Usage } from '@cobbler/agent';
import { Budget, costOf, defineTool, Executor, memoryStore } from '@cobbler/agent';
import { createAgent } from '@cobbler/agent/provider';
import { scriptCapabilities, scriptWire } from '@cobbler/agent/testing';
import type { AuditedRun } from './auditor.ts';
import { audited, slackMs } from './auditor.ts';
import { Mind } from './environment/mind.ts';
import { ModelService } from './environment/service.ts';
import type { Choices } from './scenario/choices.ts';
import { Program } from './scenario/program.ts';
import { price } from './scenario/setting.ts';
import type { FaultRate } from './scenario/weather.ts';
import { World } from './scenario/world.ts';

/** Levels of runs: the first run, its subagents, and their subagents. */
const levels = 3;

/** One run of the tree, in its own program so that its requests can be identified. */
interface Branch extends AuditedRun {
  readonly run: Run;
}

/** A run that starts several subagents in parallel, which do the same. All of them share one budget. */
export class Tree {
  readonly world: World;
  readonly #seed: number;
  readonly #service: ModelService;
  readonly #limits: Pick<Limits, 'tokens' | 'usd' | 'turns' | 'toolCalls'>;
  #looks = 0;
  /** Time limit of the first run and therefore of all others, in milliseconds. */
  readonly #ms: number;
  readonly #budget: Budget;
  readonly #branches: Branch[] = [];
  readonly #store = memoryStore();
  readonly #abort = new AbortController();

  constructor(seed: number, choices: Choices) {
    this.#seed = seed;
    this.world = new World(choices);
    const faultRate = choices.pick<FaultRate>('weather', ['fair', 'mixed', 'foul']);
    this.#service = new ModelService(this.world, new Mind(choices, seed, true), faultRate);
    this.#limits = choices.pick('limits', [
      { tokens: 20_000 },
      { tokens: 3_000 },
      { tokens: 1_000 },
      { usd: 0.03 },
      { usd: 0.005 },
      { tokens: 8_000, usd: 0.03 },
      { turns: 5 },
      { toolCalls: 6 },
      { turns: 9, toolCalls: 9, tokens: 20_000 },
    ]);
    this.#ms = choices.among('limit on time', [
      [3, 3_600_000],
      [1, 400],
      [1, 60],
    ]);
    this.#budget = new Budget(this.#limits);
  }

  /** Returns the log of the first run. */
  async log(): Promise<readonly string[]> {
    const [first] = this.#branches;
    const events = first === undefined ? [] : await this.#store.read(first.run.sessionId);
    return events.map((event) => JSON.stringify(event));
  }

  async run(): Promise<void> {
    const { world } = this;
    const first = this.#grow(1, this.#budget, this.#abort.signal);
    if (world.choices.whether('cancelled', 0.3)) this.#planCancel(first.program);
    let endedAt = Number.POSITIVE_INFINITY;
    void first.run.result.then(() => {
      endedAt = world.elapsed;
    });
    while (world.violation === undefined && (await world.step())) this.#look();
    const isOver = await isSettledSoon(first.run.result);
    world.expect(isOver, 'P2 end', 'the first run never ended');
    if (!isOver) return;
    const { status, error, metrics } = await first.run.result;
    world.note(`the tree of ${this.#branches.length} runs ended: ${status}`);
    const isTried = this.#service.of(first.program).length > 0;
    const mayRest = status === 'limit' || status === 'timeout' || this.#abort.signal.aborted;
    world.expect(isTried || mayRest, 'tree begins', () => `no request was made: ${error?.message}`);
    world.expect(endedAt <= this.#ms + slackMs, 'P2 time', `the tree took ${endedAt} ms of ${this.#ms}`);
    await this.#checkEnds(endedAt);
    if (world.violation === undefined) this.#settle(metrics);
  }

  /** Checks that no run makes a request or waits after the end of the first run. */
  async #checkEnds(endedAt: number): Promise<void> {
    for (const { run, program, calls } of this.#branches) {
      this.world.expect(await isSettledSoon(run.result), 'P2 end', `${program.name} never ended`);
      const late = calls.find(({ startedAt }) => startedAt > endedAt);
      this.world.expect(
        late === undefined,
        'P3 stop',
        () => `${program.name} made a request at ${late?.startedAt}`,
      );
    }
  }

  #planCancel(program: Program): void {
    const { choices } = this.world;
    const nth = choices.between('cancelled at', 1, 10);
    const ticks = choices.between('ticks', 1, 20);
    program.arrange({ site: 'chunk', nth, ticks, what: 'cancel', act: () => this.#abort.abort() });
  }

  #grow(level: number, budget: Budget, signal: AbortSignal): Branch {
    const name = `run-${this.#branches.length + 1}.level-${level}`;
    const program = new Program(name, this.world, this.#seed + this.#branches.length);
    const audit: AuditedRun = { program, calls: [], stops: [] };
    const wire = scriptWire({ baseURL: 'http://service.test', apiKey: 'no-key' });
    const { runtime } = program;
    const transport = this.#service.transport(program);
    const agent = createAgent(wire, {
      model: 'asked-model',
      capabilities: scriptCapabilities,
      runtime,
      transport,
    });
    const executor = new Executor({
      agent: audited(agent, () => audit, {
        service: this.#service,
        world: this.world,
        isClosing: () => false,
      }),
      tools: this.#tools(level, program),
      limits: { turns: 4, ...(level === 1 && { ms: this.#ms }) },
      // A response that could use the whole budget would leave nothing for parallel runs.
      request: { maxTokens: 400 },
      pricing: () => price,
      runtime,
      store: level === 1 ? this.#store : memoryStore(),
    });
    const branch = { ...audit, run: executor.run(`Do the work of level ${level}.`, { budget, signal }) };
    this.#branches.push(branch);
    return branch;
  }

  #tools(level: number, program: Program): Tool[] {
    const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const looks = (args: Record<string, unknown>) => {
      this.#looks += 1;
      return this.world.later(
        20,
        program,
        `looks for call ${args['n']}`,
        () => `Result of call ${args['n']}`,
      );
    };
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      effect: 'read',
      parameters,
      execute: looks,
    });
    if (level === levels) return [look];
    const delegate = defineTool({
      name: 'delegate',
      description: 'Hands work on.',
      effect: 'read',
      parameters,
      execute: (_args, context) => this.#delegate(level, context),
    });
    return [delegate, look];
  }

  async #delegate(level: number, { budget, signal }: ToolContext): Promise<string> {
    const { status, text } = await this.#grow(level + 1, budget, signal).run.result;
    return `${status}: ${text}`;
  }

  /** Checks at every moment that spent and reserved amounts together are within the limits. */
  #look(): void {
    const { tokensLeft, usdLeft } = this.#budget;
    // Costs are fractions, so their sum is not exact.
    const [turns, calls] = [this.#budget.left('turns'), this.#budget.left('toolCalls')];
    const isKept = tokensLeft >= 0 && usdLeft >= -1e-9 && turns >= 0 && calls >= 0;
    const left = `${tokensLeft} tokens, $${usdLeft}, ${turns} turns and ${calls} calls`;
    this.world.expect(isKept, 'tree limits', `${left} are left`);
  }

  /** Checks that the amount used is within its limit and recorded in the budget. */
  #checkCount(what: 'turns' | 'toolCalls', used: number): void {
    const { [what]: limit = Number.POSITIVE_INFINITY } = this.#limits;
    this.world.expect(used <= limit, 'tree limits', `${used} of ${limit} ${what} were used`);
    const isKnown = limit === Number.POSITIVE_INFINITY || this.#budget.left(what) === limit - used;
    this.world.expect(
      isKnown,
      'P14 tree',
      `the budget counts ${limit - this.#budget.left(what)} ${what}, but ${used} were used`,
    );
  }

  /**
   * Checks at the end that nothing is reserved, and that the budget and the metrics of the first run count all usage
   * once.
   */
  #settle(metrics: ExecutionMetrics): void {
    const { tokens, usd, tokensLeft } = this.#budget;
    const { tokens: maxTokens = Number.POSITIVE_INFINITY, usd: maxUsd = Number.POSITIVE_INFINITY } =
      this.#limits;
    let used = 0;
    let cost = 0;
    for (const { spent } of this.#branches.flatMap(({ calls }) => calls)) {
      for (const usage of spent === undefined ? [] : [spent.used, spent.wasted]) {
        used += tokensOf(usage);
        cost += costOf(usage, price);
      }
    }
    const { world } = this;
    world.expect(tokens === used, 'P14 tree', `the budget counts ${tokens} tokens, but ${used} were used`);
    const { totalInputTokens, totalOutputTokens, wasted, usd: reported = Number.NaN } = metrics;
    const recorded = totalInputTokens + totalOutputTokens + tokensOf(wasted);
    world.expect(
      recorded === used && Math.abs(reported - cost) < 1e-9,
      'P14 tree metrics',
      `the metrics count ${recorded} tokens and $${reported}, but ${used} tokens and $${cost} were used`,
    );
    world.expect(
      Math.abs(usd - cost) < 1e-9,
      'P14 tree',
      `the budget counts $${usd}, but $${cost} were spent`,
    );
    world.expect(
      tokens <= maxTokens && usd <= maxUsd + 1e-9,
      'tree limits',
      `${tokens} tokens and $${usd} were spent`,
    );
    const answers = this.#branches.flatMap(({ calls }) => calls).filter(({ model }) => model !== undefined);
    const calls = this.#looks + this.#branches.length - 1;
    this.#checkCount('turns', answers.length);
    this.#checkCount('toolCalls', calls);
    const isReleased = maxTokens === Number.POSITIVE_INFINITY || tokensLeft === maxTokens - tokens;
    world.expect(isReleased, 'tree limits', `${maxTokens - tokens - tokensLeft} tokens stay reserved`);
  }
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

async function isSettledSoon(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  void promise.then(() => {
    isSettled = true;
  });
  for (let round = 0; round < 200 && !isSettled; round += 1) await undefined;
  return isSettled;
}
