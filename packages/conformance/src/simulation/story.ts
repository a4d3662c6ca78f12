import type { AgentError, Message, ResumeOptions } from '@cobbler/agent';
import { Cellar } from './environment/cellar.ts';
import { Disk } from './environment/disk.ts';
import { Mind } from './environment/mind.ts';
import { ModelService } from './environment/service.ts';
import { Workshop } from './environment/workshop.ts';
import type { LifeContext, PastSession } from './life.ts';
import { goneOn, Life, promptText } from './life.ts';
import { planImpulses } from './mishaps.ts';
import { People } from './people.ts';
import { Readers } from './readers.ts';
import { Repairs } from './repairs.ts';
import type { Choices } from './scenario/choices.ts';
import type { Program } from './scenario/program.ts';
import type { SimulatedRun } from './scenario/record.ts';
import type { SimulationSetting } from './scenario/setting.ts';
import { chooseSetting, storeTimeoutMs } from './scenario/setting.ts';
import { World } from './scenario/world.ts';
import { judge } from './verdict.ts';
import { Watcher } from './watcher.ts';

/** Maximum number of steps of a simulation that ends. */
const maxSteps = 20_000;

/** Maximum number of resumes of a run. */
const maxResumes = 4;

/** Time after the end of a run by which all its resources must be released, in milliseconds. */
const settledAfterMs = 2_200;

/**
 * One simulation from start to end. It sends some prompts with random faults, and resumes each run after a
 * crash or an approval. The last prompt has no faults and must succeed.
 */
export class Story {
  readonly world: World;
  readonly #disk: Disk;
  readonly #seed: number;
  readonly #setting: SimulationSetting;
  readonly #service: ModelService;
  readonly #people: People;
  readonly #around: LifeContext;
  readonly #underWay = new Set<SimulatedRun>();
  readonly #runs: string[] = [];
  /** Programs whose user did not wait until the end of a run was stored. */
  readonly #hurried = new Set<Program>();
  readonly #repairs: Repairs;
  #lives = 0;
  #sessions = 0;
  #prompts = 0;
  #life: Life;
  /** The session that the next prompt continues. */
  #sessionId = '';

  constructor(seed: number, choices: Choices) {
    this.#seed = seed;
    this.world = new World(choices);
    this.#setting = chooseSetting(choices);
    this.#disk = new Disk(this.world);
    const mind = new Mind(choices, seed);
    this.#service = new ModelService(this.world, mind, this.#setting.faultRate);
    this.#people = new People(this.world);
    const workshop = new Workshop(this.world, mind, this.#disk, {
      stop: (record) => this.#people.cancel(record),
      speak: (record) => this.#people.steer(record),
    });
    const watched = {
      world: this.world,
      disk: this.#disk,
      service: this.#service,
      people: this.#people,
      readers: new Readers(this.world, this.#service),
      setting: this.#setting,
    };
    this.#around = {
      ...watched,
      cellar: new Cellar(this.world),
      workshop,
      watcher: new Watcher(watched),
    };
    this.#repairs = new Repairs(this.world, this.#disk);
    this.#life = this.#newLife();
  }

  /** Returns the logs of all sessions. */
  log(): Promise<readonly string[]> {
    return Promise.resolve(this.#disk.sessions.flatMap((sessionId) => this.#disk.lines(sessionId)));
  }

  async run(): Promise<void> {
    await this.#run();
    // A program that never becomes idle ends here.
    for (const { program } of [...this.#underWay, this.#life]) program.kill();
  }

  async #run(): Promise<void> {
    const { choices } = this.world;
    this.#newSession();
    let messages: readonly Message[] = [];
    for (let prompts = choices.between('prompts', 1, 2); prompts > 0; prompts -= 1) {
      const record = await this.#prompt(messages);
      if (this.#isOver) return;
      messages = record?.result?.messages ?? [];
      const movesOn = messages.length > 0 && choices.whether('continues elsewhere', 0.15);
      if (movesOn) this.#newSession();
      else messages = [];
      if (choices.whether('program ends', 0.5)) await this.#endLife();
    }
    await this.#calmDay(messages);
  }

  get #isOver(): boolean {
    return this.world.violation !== undefined;
  }

  /** Sends a prompt and resumes its run until it ends. */
  async #prompt(messages: readonly Message[]): Promise<SimulatedRun | undefined> {
    this.#prompts += 1;
    const text = promptText(this.#prompts);
    if (!this.#life.program.alive) await this.#reopen();
    let record = this.#start(this.#life.run(messages.length > 0 ? goneOn(messages, text) : text, this.#past));
    for (let resumes = 0; resumes <= maxResumes; resumes += 1) {
      await this.#untilOver();
      if (this.#isOver) return undefined;
      record = this.#life.record;
      if (!this.#continues(record)) return record;
      await this.#endLife();
      await this.#reopen();
      if (this.#isOver) return undefined;
      const isStarted = this.#disk.lines(this.#sessionId).length > 0;
      record = this.#start(isStarted ? this.#resume(this.#sessionId) : this.#life.run(text, this.#past));
    }
    await this.#untilOver();
    return record;
  }

  get #past(): PastSession {
    return { sessionId: this.#sessionId, before: [] };
  }

  /** Starts a new process. Its session may have been damaged in the meantime, and is repaired. */
  async #reopen(): Promise<void> {
    if (this.#repairs.damages(this.#sessionId)) {
      const stored = this.#disk.lines(this.#sessionId).length;
      if (this.world.choices.whether('damage is noticed', 0.5)) await this.#openDamaged(this.#sessionId);
      const isSame = this.#disk.lines(this.#sessionId).length === stored;
      this.world.expect(isSame, 'log damaged', 'a run of a damaged session appended events');
      this.#sessionId = await this.#repairs.repair(this.#sessionId);
    }
    this.#life = this.#newLife();
  }

  /** Checks that a run fails if its session cannot be read. */
  async #openDamaged(sessionId: string): Promise<void> {
    this.#life = this.#newLife();
    const past = { sessionId, before: [] };
    const isPrompted = this.world.choices.whether('damaged log is prompted', 0.5);
    const record = this.#start(
      isPrompted ? this.#life.run(promptText(1_000), past) : this.#life.resume(past, []),
    );
    await this.#untilOver();
    const { status } = record.result ?? {};
    const isBlamed =
      status === undefined || status === 'failed' || status === 'cancelled' || status === 'timeout';
    this.world.expect(isBlamed, 'log damaged', () => `a run of a damaged session ended as ${status}`);
    await this.#endLife();
  }

  #continues(record: SimulatedRun): boolean {
    const { choices } = this.world;
    if (!record.program.alive) return true;
    const status = record.result?.status;
    if (status === 'waiting') return !choices.whether('no user decides', 0.2);
    return (status === 'failed' || status === 'limit') && choices.whether('tries again', 0.3);
  }

  #resume(sessionId: string): SimulatedRun {
    return this.#life.resume({ sessionId, before: [...this.#runs] }, this.#decisions(sessionId));
  }

  /** Returns the decisions that users made while nothing was running. */
  #decisions(sessionId: string): NonNullable<ResumeOptions['answers']> {
    const { choices } = this.world;
    if (choices.whether('no decisions', 0.3)) return [];
    const asked = this.#disk.events(sessionId).filter((event) => event.type === 'approval_requested');
    return asked.flatMap(({ approvalId }) => {
      const decision = choices.pick('decision', ['allow', 'deny'] as const);
      const other = decision === 'allow' ? 'deny' : 'allow';
      const once = { approvalId, decision };
      return choices.whether('decides twice', 0.2) ? [once, { approvalId, decision: other }] : [once];
    });
  }

  /** Checks that the next prompt works when there are no more faults. */
  async #calmDay(messages: readonly Message[]): Promise<void> {
    await this.#endLife();
    if (this.#isOver) return;
    await this.#reopen();
    if (this.#isOver) return;
    this.#life.program.kill();
    this.world.note('no more faults');
    this.world.choices.calm();
    this.#disk.calm();
    this.#service.calm();
    this.#life = this.#newLife();
    const text = promptText(0);
    const prompt = messages.length > 0 ? goneOn(messages, text) : text;
    const record = this.#start(this.#life.run(prompt, this.#past));
    await this.#untilOver();
    const { result } = record;
    const isGood = result?.status === 'complete' || this.#mayEndAs(result?.error);
    this.world.expect(
      isGood,
      'P12 next prompt',
      () => `the run ended as ${result?.status}: ${result?.error?.message}`,
    );
    await this.#endLife();
  }

  /** Returns true if a run without room for a single request may end with this error. */
  #mayEndAs(error: AgentError | undefined): boolean {
    const { limits, priced } = this.#setting;
    if (error?.code === 'unpriced') return !priced;
    return (
      (error?.kind === 'limit' && limits[error.code as 'tokens' | 'usd'] !== undefined) || limits.ms < 10_000
    );
  }

  #newSession(): void {
    this.#sessions += 1;
    this.#sessionId = `s${this.#sessions}`;
  }

  #newLife(): Life {
    this.#lives += 1;
    return new Life(`p${this.#lives}`, this.#around, this.#seed + this.#lives);
  }

  /** Plans the external events that interrupt a run. */
  #start(record: SimulatedRun): SimulatedRun {
    this.#underWay.add(record);
    this.#runs.push(record.run.id);
    const life = this.#life;
    planImpulses(record, life.abort, this.#around, {
      takeOver: () => this.#takeOver(record),
      powerFails: () => this.#powerFails(),
    });
    return record;
  }

  /** Ends all processes at once. The store loses what it did not have to keep. */
  #powerFails(): void {
    for (const { program } of [...this.#underWay, this.#life]) program.kill();
    this.#disk.loseEnds();
  }

  /** Simulates another process that considers this one dead and resumes its session. */
  #takeOver(record: SimulatedRun): void {
    if (this.#life.record !== record || record.result !== undefined) return;
    this.#life = this.#newLife();
    this.#start(this.#resume(record.sessionId));
  }

  /** Advances the time until no run is active. */
  async #untilOver(): Promise<void> {
    for (;;) {
      await this.world.rest();
      for (const record of this.#underWay) this.#seeEnd(record);
      if (this.#isOver || this.#underWay.size === 0) return;
      if (this.world.steps > maxSteps) return this.world.violate('P2 end', `no end after ${maxSteps} steps`);
      if (!(await this.world.step())) await this.#comeBack();
    }
  }

  #seeEnd(record: SimulatedRun): void {
    const { program, result, events, endedAt = 0 } = record;
    if (program.alive && result === undefined) return;
    // A run that ended because of a slow store may still store its end a little later.
    const isWritten = events.at(-1)?.type === 'finished' || this.world.elapsed > endedAt + settledAfterMs;
    if (program.alive && !isWritten) {
      record.hasty ??= this.world.choices.whether('continues at once', 0.2);
      if (!record.hasty) return;
      this.#hurried.add(program);
    }
    this.#underWay.delete(record);
    if (!program.alive) return;
    judge(record, this.#around);
    if (this.world.choices.whether('reader after the end', 0.1))
      this.#around.readers.join(record, `${record.name}'s reader after the end`);
  }

  /** Handles a state in which no action is left: a user must decide, or the run hangs. */
  async #comeBack(): Promise<void> {
    for (let round = 0; round < 20; round += 1) await this.world.rest();
    for (const record of this.#underWay) {
      if (record.result !== undefined) return this.world.pass(settledAfterMs + 1);
      if (record.asking.size === 0)
        return this.world.violate('P2 end', 'no action is left that could end the run');
      this.world.note(`${record.name}: no user decides, so the run is cancelled`);
      this.#people.cancel(record);
    }
  }

  /** Waits until the pending work of the program's runs ends, and checks that it changes nothing. */
  async #endLife(): Promise<void> {
    const { program } = this.#life;
    if (!program.alive || this.#isOver) return;
    const { record, records } = this.#life;
    await this.world.pass(settledAfterMs);
    this.#checkLeft(program);
    const shown = record.events.length;
    const { failed } = this.#disk.trouble(program);
    const stored = this.#disk.lines(record.sessionId).length;
    while (this.world.steps < maxSteps && (await this.world.step()));
    const { world } = this;
    world.expect(record.events.length === shown, 'events end', 'events were emitted long after the end');
    const isSame = failed || this.#disk.lines(record.sessionId).length === stored;
    world.expect(isSame, 'log end', 'events were stored long after the end');
    for (const ended of records) this.#around.readers.check(ended, this.#disk.events(ended.sessionId));
    program.kill();
    if (this.world.choices.whether('power fails after the end', 0.1)) this.#powerFails();
  }

  #checkLeft(program: Program): void {
    const { world } = this;
    const { connections, listeners } = program;
    // A run that has already ended may still wait for the store.
    const mayWait = (ms: number) => ms === storeTimeoutMs && this.#hurried.has(program);
    const timers = program.timers.filter((ms) => !mayWait(ms));
    world.expect(timers.length === 0, 'timers', () => `timers of ${timers.join(', ')} ms were not cleared`);
    world.expect(connections === 0, 'connections', `${connections} connections were not closed`);
    world.expect(listeners === 0, 'listeners', `${listeners} listeners were not removed`);
  }
}
