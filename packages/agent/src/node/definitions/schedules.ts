import type { PartFile, PartList } from './folder-parts.ts';
import { PartProblem, readParts } from './folder-parts.ts';
import { oneLine, readFrontMatter } from './front-matter.ts';

/** A prompt that a server sends to an agent at certain times, each time in a session of its own. */
export interface ScheduleDefinition {
  readonly name: string;
  /** The path of its Markdown file. */
  readonly path: string;
  /** Minute, hour, day of the month, month and day of the week. */
  readonly cron: string;
  /** The IANA name of the time zone. */
  readonly timezone: string;
  readonly prompt: string;
  /** Returns its first time after the given one, both in milliseconds since 1970; undefined if there is none. */
  next(after: number): number | undefined;
  /** Returns its last time that is not after the given one, both in milliseconds since 1970; undefined if there is none. */
  latest(until: number): number | undefined;
}

const settings = ['cron', 'timezone'];

const advice = 'Write minute, hour, day, month and day of the week, such as 0 9 * * 1-5';

/** Reads the schedules of an agent: the Markdown files in `schedules`. */
export async function readSchedules(folder: string): Promise<PartList<ScheduleDefinition>> {
  const kind = { directory: 'schedules', endings: /\.md$/, words: '.md files' };
  return await readParts(folder, kind, readSchedule);
}

async function readSchedule({ name, path, text }: PartFile): Promise<ScheduleDefinition> {
  const { fields, body, problem } = await readFrontMatter(text);
  const lines = text.split('\n');
  const wrong = (reason: string, setting: string) => {
    const line = lines.findIndex((one) => one.startsWith(`${setting}:`)) + 1;
    return new PartProblem(reason, line === 0 ? 1 : line);
  };
  if (problem !== undefined) throw wrong(problem, '');
  const strange = Object.keys(fields).find((one) => !settings.includes(one));
  if (strange !== undefined)
    throw wrong(`it has an unknown setting ${strange}. Known: ${settings.join(', ')}`, strange);
  const cron = oneLine(fields['cron']);
  if (cron === undefined) throw wrong(`it has no setting cron. ${advice}`, 'cron');
  const timezone = oneLine(fields['timezone'] ?? Intl.DateTimeFormat().resolvedOptions().timeZone) ?? '';
  if (!isTimeZone(timezone))
    throw wrong(`its time zone "${timezone}" is unknown. Write a name such as Europe/Berlin`, 'timezone');
  if (body === '') throw wrong('it has no prompt: write one below the settings', '');
  try {
    return { name, path, cron, timezone, prompt: body, ...(await timesOf(cron, timezone)) };
  } catch (error) {
    const reason = (error as Error).message.replace(/^CronPattern: |\.$/g, '');
    throw wrong(`its cron expression "${cron}" is invalid: ${reason}. ${advice}`, 'cron');
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Returns the times of an expression. Throws an error that says why it is invalid. */
async function timesOf(cron: string, timezone: string): Promise<Pick<ScheduleDefinition, 'next' | 'latest'>> {
  if (cron.split(' ').length !== 5) throw new Error('it must have 5 fields');
  const { Cron } = await import('croner');
  const times = new Cron(cron, { mode: '5-part', timezone, paused: true });
  if (times.nextRun(new Date(0)) === null) throw new Error('this date does not exist');
  return {
    next: (after) => times.nextRun(new Date(after))?.getTime(),
    // The library looks before a time.
    latest: (until) => times.previousRuns(1, new Date(until + 1))[0]?.getTime(),
  };
}
