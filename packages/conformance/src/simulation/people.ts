import type { SimulatedRun, StopReport } from './scenario/record.ts';
import { mark } from './scenario/record.ts';
import type { World } from './scenario/world.ts';

type UserBehavior =
  | 'allows'
  | 'denies'
  | 'allows immediately'
  | 'never decides'
  | 'decides twice'
  | 'decides late'
  | 'decides on an unknown approval too';

const manners: readonly (readonly [number, UserBehavior])[] = [
  [5, 'allows'],
  [3, 'denies'],
  [2, 'allows immediately'],
  [1, 'never decides'],
  [2, 'decides twice'],
  [1, 'decides late'],
  [1, 'decides on an unknown approval too'],
];

/** The simulated users of a run. They record the stops and messages that the run accepted. */
export class People {
  readonly #world: World;
  #messages = 0;

  constructor(world: World) {
    this.#world = world;
  }

  cancel(record: SimulatedRun): void {
    record.pressedAt ??= this.#world.elapsed;
    if (record.run.cancel()) this.#recordStop(record, 'cancel');
  }

  /** Aborts the signal that was passed to the run. */
  abort(record: SimulatedRun, controller: AbortController, by: 'signal' | 'deadline'): void {
    if (controller.signal.aborted) return;
    record.pressedAt ??= this.#world.elapsed;
    const isOver = record.closing || record.result !== undefined;
    controller.abort(
      by === 'deadline' ? new DOMException('the time limit passed', 'TimeoutError') : undefined,
    );
    if (!isOver) this.#recordStop(record, by);
  }

  steer(record: SimulatedRun): void {
    this.#messages += 1;
    const text = mark(`said ${this.#messages}`);
    const isAccepted = record.run.steer(`And another thing: ${text}`);
    this.#world.note(`${record.name}: ${text} is ${isAccepted ? 'accepted' : 'not accepted'}`);
    if (isAccepted) record.accepted.push(text);
  }

  /** Simulates a user whose approval is requested. */
  onApproval(record: SimulatedRun, approvalId: string): void {
    const { program } = record;
    const manner = this.#world.choices.among('person', manners);
    const reply = (decision: 'allow' | 'deny', ms: number, id = approvalId) =>
      this.#world.after(ms, program, `the user decides ${decision} on ${id}`, () =>
        this.answer(record, id, decision),
      );
    this.#world.note(`${record.name}: the user ${manner} on ${approvalId}`);
    switch (manner) {
      case 'allows':
        return void reply('allow', 2_000);
      case 'denies':
        return void reply('deny', 2_000);
      case 'allows immediately':
        return this.answer(record, approvalId, 'allow');
      case 'never decides':
        return;
      case 'decides twice':
        reply('deny', 2_000);
        return void reply('allow', 2_000);
      case 'decides late':
        return void reply('allow', 5_000_000);
      case 'decides on an unknown approval too':
        reply('allow', 1_000, 'nobody-asked');
        return void reply('deny', 3_000);
    }
  }

  answer(record: SimulatedRun, approvalId: string, decision: 'allow' | 'deny'): void {
    if (record.result !== undefined) return;
    const counts = record.run.decide(approvalId, { decision });
    this.#world.note(`${record.name}: the decision ${decision} ${counts ? 'counts' : 'does not count'}`);
    this.#world.expect(
      !(counts && record.replies.some((reply) => reply.counts && reply.approvalId === approvalId)),
      'approval once',
      `a second decision on ${approvalId} counts`,
    );
    record.replies.push({ approvalId, decision, counts });
  }

  #recordStop(record: SimulatedRun, by: StopReport['by']): void {
    this.#world.note(`${record.name}: stopped (${by})`);
    record.stops.push({ at: this.#world.elapsed, by });
  }
}
