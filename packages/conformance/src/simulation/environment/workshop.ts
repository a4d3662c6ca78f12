import type { Event, JsonObject, Tool, ToolContext } from '@cobbler/agent';
import { defineTool } from '@cobbler/agent';
import type { Execution, SimulatedRun } from '../scenario/record.ts';
import { mark } from '../scenario/record.ts';
import { repeatable } from '../scenario/repeatable-tools.ts';
import type { World } from '../scenario/world.ts';
import { never } from '../scenario/world.ts';
import type { Disk } from './disk.ts';
import type { Permits } from './gatekeeper.ts';
import type { Mind } from './mind.ts';

type SimulatedToolKind = Required<Pick<Tool, 'name' | 'effect'>> &
  Pick<Tool, 'locks' | 'timeoutMs' | 'maxOutputBytes' | 'mayRepeat'>;

const kinds: readonly SimulatedToolKind[] = [
  { name: 'look', effect: 'read' },
  { name: 'peek', effect: 'read', locks: ['desk'], timeoutMs: 3_000 },
  { name: 'scan', effect: 'read', locks: ['desk', 'lamp'], maxOutputBytes: 400 },
  { name: 'put', effect: 'idempotent', timeoutMs: 3_000 },
  { name: 'send', effect: 'once' },
  { name: 'pay', effect: 'once', timeoutMs: 3_000 },
  { name: 'glance', effect: 'read' },
  { name: 'poll', effect: 'read', mayRepeat: true },
];

const parameters: JsonObject = {
  type: 'object',
  properties: { n: { type: 'integer' }, note: { type: 'string' } },
  required: ['n'],
  additionalProperties: false,
};

type ToolBehavior =
  | 'returns immediately'
  | 'returns later'
  | 'throws'
  | 'rejects later'
  | 'hangs until stopped'
  | 'hangs forever'
  | 'returns far too late'
  | 'rejects far too late'
  | 'returns a long output'
  | 'returns an invalid value'
  | 'reports'
  | 'reports after its end'
  | 'stops the run'
  | 'steers the run'
  | 'returns the same again'
  | 'returns something new';

const manners: readonly (readonly [number, ToolBehavior])[] = [
  [30, 'returns immediately'],
  [30, 'returns later'],
  [5, 'throws'],
  [5, 'rejects later'],
  [3, 'hangs until stopped'],
  [2, 'hangs forever'],
  [2, 'returns far too late'],
  [2, 'rejects far too late'],
  [2, 'returns a long output'],
  [3, 'returns an invalid value'],
  [4, 'reports'],
  [2, 'reports after its end'],
  [1, 'stops the run'],
  [2, 'steers the run'],
];

/** Actions of tools with long output, which is offloaded. */
const wordy: typeof manners = [...manners, [30, 'returns a long output']];

/** Actions of tools that may be called repeatedly. */
const looks: readonly (readonly [number, ToolBehavior])[] = [
  [80, 'returns the same again'],
  [5, 'returns something new'],
  [5, 'throws'],
  [2, 'returns later'],
  [6, 'steers the run'],
  [2, 'returns a long output'],
];

/** Actions of a tool on its own run. */
export interface Insider {
  stop(record: SimulatedRun): void;
  speak(record: SimulatedRun): void;
}

/** The context of the tools of one program. */
export interface Bench {
  readonly current: () => SimulatedRun;
  /** The calls that the gate allowed; undefined without a gate. */
  readonly permits: Permits | undefined;
  readonly scheduling: 'parallel' | 'sequential';
  /** True if long output is offloaded. */
  readonly offloads: boolean;
}

/** The tools, and a record of what they really did, for the checks. */
export class Workshop {
  readonly #world: World;
  readonly #mind: Mind;
  readonly #disk: Disk;
  readonly #insider: Insider;
  readonly #executions: Execution[] = [];
  readonly #keys = new Map<string, number>();

  constructor(world: World, mind: Mind, disk: Disk, insider: Insider) {
    this.#world = world;
    this.#mind = mind;
    this.#disk = disk;
    this.#insider = insider;
  }

  /** Returns the tools of one program. */
  tools(bench: Bench): Tool[] {
    return kinds.map((kind) =>
      defineTool({
        ...kind,
        description: `The tool ${kind.name}.`,
        parameters,
        execute: (args, context) => this.#execute(kind, bench, args, context),
      }),
    );
  }

  #execute(
    kind: SimulatedToolKind,
    bench: Bench,
    args: Record<string, unknown>,
    context: ToolContext,
  ): unknown {
    const record = bench.current();
    const { program } = record;
    if (!program.alive) return never();
    const ordinary = bench.offloads ? wordy : manners;
    const manner = this.#world.choices.among('tool', repeatable.has(kind.name) ? looks : ordinary);
    this.#world.note(`${program.name}: ${kind.name} runs call ${args['n']} and ${manner}`);
    const n = Number(args['n']);
    const execution: Execution = { n, toolName: kind.name, record, signal: context.signal };
    this.#check(execution, kind, bench, args, context);
    this.#executions.push(execution);
    record.executions.push(execution);
    program.watch(context.signal);
    program.cross('tool');
    return recordEnd(execution, () => this.#behave(manner, execution, context));
  }

  /** Checks all conditions that must hold when a tool starts. */
  #check(
    execution: Execution,
    kind: SimulatedToolKind,
    bench: Bench,
    args: Record<string, unknown>,
    { idempotencyKey }: ToolContext,
  ): void {
    const { n, record } = execution;
    const expect = (condition: boolean, rule: string, what: string) =>
      this.#world.expect(condition, rule, `${kind.name} starts call ${n}, ${what}`);
    const call = this.#mind.call(n);
    expect(call !== undefined && call.toolName === kind.name, 'P9 call', 'which the model did not make');
    expect(call?.flaw === undefined, 'P9 arguments', `which is invalid: ${call?.flaw}`);
    expect(record.result === undefined, 'P4 end', 'although the run has ended');
    expect(record.stops.length === 0, 'P3 stop', 'although the run was stopped');
    const before = repeatable.has(kind.name) ? [] : this.#executions.filter((other) => other.n === n);
    expect(kind.effect !== 'once' || before.length === 0, 'P9 once', 'which has already run');
    expect(!before.some((other) => other.record === record), 'P9 once', 'which has already run in this run');
    // A power failure may lose that a read started, and then another call gets its place.
    if (kind.effect !== 'read') {
      expect((this.#keys.get(idempotencyKey) ?? n) === n, 'P9 key', `with the key of another call`);
      this.#keys.set(idempotencyKey, n);
    }
    const events = this.#eventsAbout(record.sessionId);
    const isStarted = events.some((event) => event.type === 'tool_started' && event.arguments['n'] === n);
    expect(isStarted, 'P13 intent', 'whose start is not committed');
    expect(allows(events, n, args, bench.permits), 'P9 gate', 'which was not allowed');
    for (const other of record.executions) {
      if (other.settled !== undefined || other.signal.aborted) continue;
      expect(mayRunBeside(kind, other, bench), 'scheduling', `while ${other.toolName} runs call ${other.n}`);
    }
  }

  #eventsAbout(sessionId: string): Event[] {
    const lines = this.#disk.lines(sessionId);
    return lines
      .filter((line) => /"type":"(tool_started|approval_)/.test(line))
      .map((line) => JSON.parse(line));
  }

  #behave(manner: ToolBehavior, execution: Execution, { signal, progress }: ToolContext): unknown {
    const { n, record } = execution;
    const { program } = record;
    const result = `Result of call ${n} ${mark(`result ${n}`)}`;
    const fail = () => {
      throw new Error(`call ${n} failed ${mark(`result ${n}`)}`);
    };
    const later = <Value>(ms: number, value: () => Value) =>
      this.#world.later(ms, program, `call ${n} ends`, () => {
        program.cross('tool done');
        return value();
      });
    switch (manner) {
      case 'returns immediately':
      case 'returns the same again':
        return result;
      case 'returns something new':
        return `${result}, and now ${this.#executions.length} things`;
      case 'returns later':
        return later(this.#world.choices.pick('tool takes', [10, 0, 1, 2_990, 60_000]), () => result);
      case 'throws':
        return fail();
      case 'rejects later':
        return later(10, fail);
      case 'hangs until stopped':
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error(`call ${n} was stopped`)), { once: true });
        });
      case 'hangs forever':
        return never();
      case 'returns far too late':
        return later(700_000, () => result);
      case 'rejects far too late':
        return later(700_000, fail);
      case 'returns a long output':
        return `${result}${'.'.repeat(this.#world.choices.pick('how much', [3_000, 3_000, 300_000]))}`;
      case 'returns an invalid value':
        return nonsense(this.#world.choices.between('nonsense', 0, 4));
      case 'reports':
        progress(`Call ${n} is half done.`);
        return later(5, () => result);
      case 'reports after its end':
        void later(20, () => progress(`Call ${n} is not done.`));
        return result;
      case 'stops the run':
        this.#insider.stop(record);
        return later(5, () => result);
      case 'steers the run':
        this.#insider.speak(record);
        return result;
    }
  }
}

/** Records how an execution ends, unless it was stopped before. */
function recordEnd(execution: Execution, behave: () => unknown): unknown {
  const note = (how: 'value' | 'error') => {
    if (!execution.signal.aborted) execution.settled = how;
  };
  try {
    const value = behave();
    if (!(value instanceof Promise)) {
      note('value');
      return value;
    }
    return value.then(
      (settled) => {
        note('value');
        return settled;
      },
      (error) => {
        note('error');
        throw error;
      },
    );
  } catch (error) {
    note('error');
    throw error;
  }
}

function nonsense(kind: number): unknown {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  return [undefined, cycle, 10n, Symbol('nothing'), 'half a pair \ud83e'][kind];
}

function mayRunBeside(kind: SimulatedToolKind, other: Execution, { scheduling }: Bench): boolean {
  const beside = kinds.find(({ name }) => name === other.toolName);
  if (scheduling === 'sequential' || kind.effect !== 'read' || beside?.effect !== 'read') return false;
  return !(kind.locks ?? []).some((lock) => beside.locks?.includes(lock));
}

/**
 * Checks that the gate allowed the call unchanged, or that the first decision was an approval by the user.
 */
function allows(
  events: readonly Event[],
  n: number,
  args: Record<string, unknown>,
  permits: Permits | undefined,
): boolean {
  if (permits === undefined) return true;
  const permitted = permits.get(n);
  if (permitted !== undefined) return JSON.stringify(permitted) === JSON.stringify(args);
  // A repeated call needs a new approval.
  const asked = events.findLast((event) => event.type === 'approval_requested' && event.arguments['n'] === n);
  if (asked?.type !== 'approval_requested') return false;
  const decided = events.find(
    (event) => event.type === 'approval_decided' && event.approvalId === asked.approvalId,
  );
  return decided?.type === 'approval_decided' && decided.decision === 'allow';
}
