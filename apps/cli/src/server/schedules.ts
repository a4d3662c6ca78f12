import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentFolder, ScheduleDefinition } from '@cobbler/agent/definitions';
import { agentKey } from '../project/agent-folder.ts';
import { formatTime } from '../terminal/format.ts';
import type { Clock } from '../terminal/io.ts';
import type { ServerHome } from './server-home.ts';
import type { ServerLink } from './server-link.ts';

/** Maximum time between two looks at the clock, which can change, or stop with the machine. In milliseconds. */
const maxWaitMs = 60_000;

/** A time that is noticed later than this was missed. In milliseconds. */
const lateMs = 30_000;

/** Options of {@link Schedules}. */
interface SchedulesOptions {
  /** A link to the server, as its owner. */
  readonly link: ServerLink;
  readonly home: Pick<ServerHome, 'store'>;
  /** The name of the server's store. */
  readonly store: string;
  readonly report: (line: string) => void;
  readonly clock: Pick<Clock, 'after'>;
  /** Wall clock in milliseconds since 1970. Default: the real one. */
  readonly now?: () => number;
}

/** What is known of a schedule: the times up to `seen` are over. */
interface Mark {
  /** The expression and the time zone. After a change, no time of before counts as missed. */
  readonly rule: string;
  readonly seen: number;
  /** The session of its last time. */
  readonly session?: string;
}

/**
 * Sends the prompts of an agent's schedules to a server at their times. The session of each time has an id of its own and
 * its prompt a key, so that neither another process nor a restart sends it again.
 */
export class Schedules {
  readonly #options: SchedulesOptions;
  #agent: AgentFolder | undefined;
  #marks: Map<string, Mark> | undefined;
  #turn: Promise<void> = Promise.resolve();
  #cancel = (): void => {};
  #isOver = false;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  /** Uses the schedules of an agent from now on. */
  use(agent: AgentFolder | undefined): void {
    this.#agent = agent;
    this.#look();
  }

  close(): void {
    this.#isOver = true;
    this.#cancel();
  }

  #look(): void {
    this.#turn = this.#turn.then(async () => {
      this.#cancel();
      if (this.#isOver || this.#agent === undefined || this.#agent.schedules.length === 0) return;
      const { now = Date.now, clock } = this.#options;
      const at = now();
      for (const schedule of this.#agent.schedules)
        if (!this.#isOver) await this.#check(schedule, this.#agent, at);
      if (this.#isOver) return;
      const next = this.#agent.schedules.map((one) => one.next(at) ?? Number.POSITIVE_INFINITY);
      const wait = Math.min(...next, at + maxWaitMs) - now();
      this.#cancel = clock.after(Math.max(wait, 1), () => this.#look());
    });
  }

  /** Starts the run of the latest time that is not over yet, if there is one. */
  async #check(schedule: ScheduleDefinition, agent: AgentFolder, at: number): Promise<void> {
    const { name, cron, timezone } = schedule;
    this.#marks ??= readMarks(this.#file(agent));
    const rule = `${cron} ${timezone}`;
    const mark = this.#marks.get(name);
    const time = schedule.latest(at);
    if (mark?.rule === rule && (time === undefined || time <= mark.seen)) return;
    if (mark?.rule !== rule || time === undefined)
      return this.#keep(agent, name, { ...mark, rule, seen: at });
    const say = (words: string) => this.#options.report(`schedules/${name}.md: ${words}`);
    const shown = formatTime(time, timezone) + (at - time > lateMs ? ', which was missed,' : '');
    try {
      const session = await this.#start(schedule, sessionOf(agent, name, time), mark.session, (words) =>
        say(`${shown} ${words}`),
      );
      this.#keep(agent, name, { rule, seen: time, session });
    } catch (error) {
      if (!this.#isOver) say(`${shown} could not start and is tried again. ${(error as Error).message}`);
    }
  }

  /** Returns the session that the next time must not overlap with. Throws if the server cannot start a run now. */
  async #start(
    { prompt }: ScheduleDefinition,
    session: string,
    before: string | undefined,
    say: (words: string) => void,
  ): Promise<string> {
    if (before !== undefined && before !== session) {
      const { json } = await this.#ask('GET', `/v1/sessions/${before}`);
      if (json['status'] === 'running' || json['status'] === 'waiting') {
        say(`is skipped: the run of the time before has not ended, in session ${before}`);
        return before;
      }
    }
    const made = await this.#ask('POST', '/v1/sessions', { id: session });
    const isNew = made.json['events'] === 0;
    const key = createHash('sha256').update(session).digest('hex');
    const sent = isNew
      ? await this.#ask('POST', `/v1/sessions/${session}/prompt`, { content: prompt }, key)
      : made;
    if (!isNew && sent.status === 200) say(`was already run, in session ${session}`);
    else if (sent.status === 202) say(`runs in session ${session}`);
    else say(`was refused: ${sent.json['detail']}`);
    return session;
  }

  async #ask(...request: Parameters<ServerLink>): ReturnType<ServerLink> {
    const answer = await this.#options.link(...request);
    if (answer.status < 500) return answer;
    throw new Error(String(answer.json['detail'] ?? `The server responded with status ${answer.status}.`));
  }

  #keep(agent: AgentFolder, name: string, mark: Mark): void {
    const { schedules } = agent;
    const own = new Map(this.#marks).set(name, mark);
    this.#marks = new Map([...own].filter(([one]) => schedules.some((schedule) => schedule.name === one)));
    try {
      const file = this.#file(agent);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, `${JSON.stringify(Object.fromEntries(this.#marks))}\n`, { mode: 0o600 });
    } catch {
      // The disk may be full, which the store reports. Then a missed time may not be noticed.
    }
  }

  #file(agent: AgentFolder): string {
    const { home, store } = this.#options;
    return join(dirname(home.store), 'schedules', `${agentKey(agent, store)}.json`);
  }
}

/** Returns the id of the session for a time of a schedule. */
function sessionOf({ name: agent }: AgentFolder, schedule: string, time: number): string {
  const stamp = new Date(time).toISOString().replace(/:\d\d\.000Z$/, 'Z');
  return `${schedule}@${agent.replace(/[^\w.-]+/g, '-').slice(0, 32)}@${stamp.replace(':', '')}`;
}

function readMarks(file: string): Map<string, Mark> {
  try {
    const given = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Partial<Mark>>);
    return new Map(given.flatMap(([name, mark]) => (isMark(mark) ? [[name, mark]] : [])));
  } catch {
    return new Map();
  }
}

function isMark(mark: Partial<Mark>): mark is Mark {
  const { rule, seen, session = '' } = mark;
  return typeof rule === 'string' && Number.isFinite(seen) && typeof session === 'string';
}
