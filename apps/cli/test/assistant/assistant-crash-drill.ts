import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRuns } from '@cobbler/agent/sqlite-runner';
import { serveLoopback } from '@cobbler/agent/testing';
import { sqlMessages, sqlOutbox } from '@cobbler/assistant';
import { sqliteSql } from '@cobbler/assistant/sqlite';
import type { FakeTelegram } from '@cobbler/assistant/testing';
import { fakeTelegram } from '@cobbler/assistant/testing';
import { build } from 'esbuild';

/** The note above a message that may be a duplicate. */
const note = 'This may be a duplicate.';

const token = '12345678:AAE-not-a-real-token_0123456789';
const person = 7;
const patienceMs = 60_000;

/**
 * The point of a Telegram call at which the assistant crashes: `lost` before Telegram receives it,
 * `taken` before Telegram processes it, or `done` before the response returns.
 */
export type CallKill = 'lost' | 'taken' | 'done';

const callKills: readonly CallKill[] = ['lost', 'taken', 'done'];

/** A kill point: a step of the assistant or one of its Telegram calls, both counted from 1. */
type Kill = { readonly moment: number } | { readonly call: number; readonly where: CallKill };

export interface AssistantCrashOptions {
  /** Kills at every nth point. Default: 1, which is each point. */
  readonly every?: number;
  /** Also kills the continuing process, at a step that advances by this number. Default: never. */
  readonly again?: number;
  /** Number of conversations in parallel. Default: 3. */
  readonly parallel?: number;
}

/** The counts of a drill in which every check passed. */
export interface AssistantCrashFigures {
  /** Steps of an undisturbed conversation: writes, calls, model requests and the tool. */
  readonly moments: number;
  /** Telegram calls of that conversation, without polling. */
  readonly calls: number;
  readonly kills: number;
  /** Conversations with a message marked as a possible duplicate: the reply, or the question. */
  readonly repeatedReplies: number;
  readonly repeatedQuestions: number;
  /** Conversations in which the tool ran; in the others, it was interrupted or not approved. */
  readonly toolRuns: number;
  readonly conversations: number;
}

/**
 * Kills the assistant at its steps and in its Telegram calls, one point per conversation, and
 * starts another process that continues. Each conversation must have a reply, a note on each
 * possible duplicate, at most one run of the tool and one stored copy of each message.
 * @throws Error that names the failed check and the kill point.
 */
export async function drillAssistantCrashes(
  options: AssistantCrashOptions = {},
): Promise<AssistantCrashFigures> {
  const { every = 1, again, parallel = 3 } = options;
  const home = mkdtempSync(join(tmpdir(), 'cobbler-assistant-crash-'));
  try {
    const child = await bundledChild(home);
    const whole = await conversation({ child, folder: join(home, 'whole'), kills: [] });
    const places: Kill[] = [
      ...Array.from({ length: whole.moments }, (_, index) => ({ moment: index + 1 })),
      ...Array.from({ length: whole.calls * callKills.length }, (_, index) => ({
        call: Math.floor(index / callKills.length) + 1,
        where: callKills[index % callKills.length] ?? 'lost',
      })),
    ];
    const plans = places
      .filter((_, index) => index % every === every - 1)
      .flatMap((kill, index): Kill[][] =>
        again === undefined ? [[kill]] : [[kill], [kill, { moment: 1 + ((index * again) % whole.moments) }]],
      );
    const ends: ConversationEnd[] = [];
    const workers = Array.from({ length: parallel }, async () => {
      for (let kills = plans.shift(); kills !== undefined; kills = plans.shift()) {
        const folder = join(home, JSON.stringify(kills).replaceAll(/\W+/g, '-'));
        ends.push(await conversation({ child, folder, kills }));
        rmSync(folder, { recursive: true, force: true });
      }
    });
    const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return {
      moments: whole.moments,
      calls: whole.calls,
      kills: ends.reduce((sum, { killed }) => sum + killed, 0),
      repeatedReplies: ends.filter(({ reply }) => reply > 0).length,
      repeatedQuestions: ends.filter(({ question }) => question > 0).length,
      toolRuns: ends.filter(({ toolRan }) => toolRan).length,
      conversations: ends.length,
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Bundles the child into one file, because loading the sources for each process is slow. */
async function bundledChild(home: string): Promise<string> {
  const outfile = join(home, 'child.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('assistant-crash-child.ts', import.meta.url))],
    conditions: ['@cobbler/source'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  return outfile;
}

interface Conversation {
  readonly child: string;
  readonly folder: string;
  /** One per process; one more process then runs to the end. */
  readonly kills: readonly Kill[];
}

interface ConversationEnd {
  readonly moments: number;
  readonly calls: number;
  readonly killed: number;
  /** Number of messages marked as possible duplicates. */
  readonly reply: number;
  readonly question: number;
  readonly toolRan: boolean;
}

/** Runs one conversation: the user asks for a note, allows it and gets a reply despite kills. */
async function conversation({ child, folder, kills }: Conversation): Promise<ConversationEnd> {
  mkdirSync(folder, { recursive: true });
  const telegram = fakeTelegram({ token });
  const desk = new Desk(telegram);
  const { url, close } = await serveLoopback((request) => desk.handle(request));
  try {
    telegram.say(person, 'Note milk.');
    let killed = 0;
    for (const kill of kills) {
      const life = new Life([
        child,
        folder,
        String('moment' in kill ? kill.moment : 0),
        token,
        url,
        String(person),
      ]);
      desk.plan('call' in kill ? kill : undefined, life);
      await life.until(() => desk.isOver(folder));
      if (await life.end()) killed += 1;
    }
    const last = new Life([child, folder, '0', token, url, String(person)]);
    desk.plan(undefined, last);
    await last.until(() => desk.isOver(folder));
    if (await last.end()) throw new Error(`${named(kills)}: the last process was killed`);
    const end = await lookedAt({ telegram, folder, kills });
    return { ...end, moments: last.moments, calls: desk.calls, killed };
  } finally {
    await close();
  }
}

/** Relays Telegram calls, allows the tool call for the user and kills the assistant in calls. */
class Desk {
  readonly #telegram: FakeTelegram;
  #kill: { readonly call: number; readonly where: CallKill } | undefined;
  #life: Life | undefined;
  #hasTapped = false;
  calls = 0;
  #callsOfLife = 0;

  constructor(telegram: FakeTelegram) {
    this.#telegram = telegram;
  }

  plan(kill: { readonly call: number; readonly where: CallKill } | undefined, life: Life): void {
    this.#kill = kill;
    this.#life = life;
    this.#callsOfLife = 0;
  }

  async handle(request: Request): Promise<Response> {
    if (new URL(request.url).pathname.endsWith('/getUpdates')) return await this.#telegram.handler(request);
    this.calls += 1;
    this.#callsOfLife += 1;
    const where = this.#kill?.call === this.#callsOfLife ? this.#kill.where : undefined;
    // The body must be read before the connection closes.
    const whole = new Request(request.url, {
      method: 'POST',
      headers: request.headers,
      body: await request.arrayBuffer(),
    });
    if (where === 'lost' || where === 'taken') await this.#life?.kill();
    if (where === 'lost') throw new Error('The request was lost.');
    const response = await this.#telegram.handler(whole);
    if (where === 'done') await this.#life?.kill();
    this.#allow();
    return response;
  }

  /** True if the assistant has processed every message. */
  isOver(folder: string): boolean {
    this.#allow();
    if (this.#telegram.pending.length > 0) return false;
    const runs = join(folder, 'assistant', 'runs.db');
    return existsSync(runs) && openRuns(runs).length === 0;
  }

  #allow(): void {
    const question = this.#telegram.messages(person).find(({ buttons }) => buttons.length > 0);
    const allow = question?.buttons[0];
    if (this.#hasTapped || question === undefined || allow === undefined) return;
    this.#hasTapped = true;
    this.#telegram.tap(person, question.id, allow.data);
  }
}

/** One process of the assistant. */
class Life {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #said = '';

  constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#closed = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk) => {
        this.#said += chunk;
      });
  }

  get moments(): number {
    return Number(this.#said.trim().split('\n').at(-1));
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }

  /** Waits until the condition holds or the process has ended. */
  async until(holds: () => boolean): Promise<void> {
    for (const deadline = performance.now() + patienceMs; performance.now() < deadline; ) {
      if (this.#isOver || (this.#said.includes('ready') && holdsNow(holds))) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await this.kill();
    throw new Error(`The conversation did not end: ${this.#said}`);
  }

  /** Stops the process in order. Returns true if it was killed before. */
  async end(): Promise<boolean> {
    if (!this.#isOver) this.#child.kill('SIGTERM');
    await this.#closed;
    const { exitCode, signalCode } = this.#child;
    if (signalCode === 'SIGKILL') return true;
    if (exitCode !== 0) throw new Error(`The process failed with ${exitCode ?? signalCode}: ${this.#said}`);
    return false;
  }

  get #isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

/** Returns false while a database that is being created cannot be read. */
function holdsNow(holds: () => boolean): boolean {
  try {
    return holds();
  } catch {
    return false;
  }
}

interface Scene {
  readonly telegram: FakeTelegram;
  readonly folder: string;
  readonly kills: readonly Kill[];
}

async function lookedAt({ telegram, folder, kills }: Scene) {
  const hold = (isHeld: boolean, what: string) => {
    if (!isHeld) throw new Error(`${named(kills)}: ${what}`);
  };
  const sql = sqliteSql({ file: join(folder, 'assistant', 'chats.db') });
  try {
    const rows = (await sqlMessages(sql).recent(String(person), 100)).map(
      ({ role, content }) => `${role}: ${content}`,
    );
    hold(rows.join() === 'user: Note milk.,assistant: Noted.', `these rows are kept: ${rows.join(', ')}`);
    const pieces = await sqlOutbox(sql).list();
    const bots = telegram.messages(person).filter(({ from }) => from === 'bot');
    const repeatsOf = (part: string, isSeen: (message: (typeof bots)[number]) => boolean) => {
      const found = pieces.filter(({ key }) => key.includes(part));
      const { state = 'none', doubts = 0 } = found[0] ?? {};
      const seen = bots.filter(isSeen);
      const repeats = seen.filter(({ text }) => text.includes(note)).length;
      const figures = `${part} is ${state} with ${doubts} doubts, seen ${seen.length} times, ${repeats} with a note`;
      hold(found.length === 1 && state === 'sent', figures);
      hold(seen.length >= 1 && seen.length - repeats <= 1 && repeats <= doubts, figures);
      return repeats;
    };
    const reply = repeatsOf('/reply/', ({ text }) => text.endsWith('Noted.'));
    const question = repeatsOf('/ask/', ({ text }) => !text.endsWith('Noted.'));
    const effects = join(folder, 'effects.txt');
    const ran = existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n').length : 0;
    hold(ran <= 1, `the tool ran ${ran} times`);
    hold(kills.length > 0 || ran === 1, 'the tool did not run, though nothing was killed');
    return { reply, question, toolRan: ran === 1 };
  } finally {
    sql.close();
  }
}

function named(kills: readonly Kill[]): string {
  return `killed at ${JSON.stringify(kills)}`;
}
