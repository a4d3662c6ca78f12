import type { SimulatedRun, StopReport } from './scenario/record.ts';
import { mark } from './scenario/record.ts';
import type { World } from './scenario/world.ts';

type UserBehavior =
  | 'allows'
  | 'denies'
  | 'allows at once'
  | 'keeps silent'
  | 'answers twice'
  | 'answers late'
  | 'answers something else';

const manners: readonly (readonly [number, UserBehavior])[] = [
  [5, 'allows'],
  [3, 'denies'],
  [2, 'allows at once'],
  [1, 'keeps silent'],
  [2, 'answers twice'],
  [1, 'answers late'],
  [1, 'answers something else'],
];

/** Those who watch a run and want something of it. They keep what they were told. */
export class People {
  readonly #world: World;
  #said = 0;

  constructor(world: World) {
    this.#world = world;
  }

  cancel(record: SimulatedRun): void {
    record.pressedAt ??= this.#world.elapsed;
    if (record.run.cancel()) this.#stopped(record, 'cancel');
  }

  /** Aborts the signal that the run was given. */
  abort(record: SimulatedRun, controller: AbortController, by: 'signal' | 'deadline'): void {
    if (controller.signal.aborted) return;
    record.pressedAt ??= this.#world.elapsed;
    const isOver = record.closing || record.result !== undefined;
    controller.abort(by === 'deadline' ? new DOMException('the time is up', 'TimeoutError') : undefined);
    if (!isOver) this.#stopped(record, by);
  }

  steer(record: SimulatedRun): void {
    this.#said += 1;
    const text = mark(`said ${this.#said}`);
    const isHeard = record.run.steer(`And another thing: ${text}`);
    this.#world.note(`${record.name}: ${text} is ${isHeard ? 'heard' : 'not heard'}`);
    if (isHeard) record.heard.push(text);
  }

  /** Somebody is asked whether a call may run. */
  asked(record: SimulatedRun, approvalId: string): void {
    const { program } = record;
    const manner = this.#world.choices.among('person', manners);
    const reply = (decision: 'allow' | 'deny', ms: number, id = approvalId) =>
      this.#world.after(ms, program, `a person says ${decision} to ${id}`, () =>
        this.answer(record, id, decision),
      );
    this.#world.note(`${record.name}: asked about ${approvalId}, a person ${manner}`);
    switch (manner) {
      case 'allows':
        return void reply('allow', 2_000);
      case 'denies':
        return void reply('deny', 2_000);
      case 'allows at once':
        return this.answer(record, approvalId, 'allow');
      case 'keeps silent':
        return;
      case 'answers twice':
        reply('deny', 2_000);
        return void reply('allow', 2_000);
      case 'answers late':
        return void reply('allow', 5_000_000);
      case 'answers something else':
        reply('allow', 1_000, 'nobody-asked');
        return void reply('deny', 3_000);
    }
  }

  answer(record: SimulatedRun, approvalId: string, decision: 'allow' | 'deny'): void {
    if (record.result !== undefined) return;
    const counts = record.run.decide(approvalId, { decision });
    this.#world.note(`${record.name}: the answer ${decision} ${counts ? 'counts' : 'does not count'}`);
    this.#world.expect(
      !(counts && record.replies.some((reply) => reply.counts && reply.approvalId === approvalId)),
      'approval once',
      `a second answer to ${approvalId} counts`,
    );
    record.replies.push({ approvalId, decision, counts });
  }

  #stopped(record: SimulatedRun, by: StopReport['by']): void {
    this.#world.note(`${record.name}: told to stop (${by})`);
    record.stops.push({ at: this.#world.elapsed, by });
  }
}
