// Runs the commands of one page in their order, as a reader would.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from './commands.ts';
import type { Plan, Plans } from './plan.ts';
import { planFor, unfilled, withDefaults } from './plan.ts';
import { writeProgram } from './programs.ts';
import type { End, PagePlace, Running } from './shell.ts';
import { PageShell } from './shell.ts';

/** The result of a command. */
export interface Outcome {
  readonly command: Command;
  /** `apart`: not run, for the reason in `why`. `again`: run before, on this page or another. */
  readonly verdict: 'passed' | 'failed' | 'apart' | 'again';
  readonly why?: string;
  readonly ms: number;
}

export interface Means {
  readonly plans: Plans;
  readonly place: PagePlace;
  readonly clone: string;
  /** The port of servers instead of the default port, so that two test runs can run at the same time. */
  readonly port: number;
  /** Environment variables of every command. Those in `keys` are omitted if a page promises that no key is needed. */
  readonly env: Readonly<Record<string, string>>;
  readonly keys: Readonly<Record<string, string>>;
  /** Inline commands that ran on an earlier page. */
  readonly known: Set<string>;
  readonly tell: (outcome: Outcome) => void;
}

/** The first message of a client of the Agent Client Protocol and of the Model Context Protocol. */
const greetings = {
  acp: { protocolVersion: 1, clientCapabilities: {} },
  mcp: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'docs', version: '1' } },
};

/** Runs a page from its first command to its last. Processes left running at the end fail the last command. */
export async function runPage(page: string, commands: readonly Command[], means: Means): Promise<Outcome[]> {
  const reader = new Reader(page, means);
  const outcomes: Outcome[] = [];
  const told = (outcome: Outcome) => {
    outcomes.push(outcome);
    means.tell(outcome);
  };
  for (const command of commands) told(await reader.follow(command));
  const problem = await reader.end();
  const last = commands.at(-1);
  if (problem !== undefined && last !== undefined)
    told({ command: last, verdict: 'failed', why: `after the page: ${problem}`, ms: 0 });
  return outcomes;
}

/** The default port of `cobbler serve`. */
const defaultPort = /\b4370\b/g;

/** Maximum number of times to press Ctrl-C in a chat, and the time between them in milliseconds. */
const [ctrlCs, betweenMs] = [30, 1000];

class Failure extends Error {}

class Reader {
  readonly #page: string;
  readonly #means: Means;
  readonly #shell: PageShell;
  #hasBegun = false;
  #server: Running | undefined;
  /** Additional servers, which run until the end of the page. */
  readonly #beside: Running[] = [];

  constructor(page: string, means: Means) {
    this.#page = page;
    this.#means = means;
    this.#shell = new PageShell(means.place, page.replaceAll(/\W/g, '-'));
  }

  /** Stops the server of the page. Resolves with the problem, if there is one. */
  async end(): Promise<string | undefined> {
    try {
      await this.#endServer();
      for (const server of this.#beside) await this.#shell.stop(server);
      const left = this.#shell.left();
      return left.length > 0 ? `still running: ${left.join('; ')}` : undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#shell.endAll();
    }
  }

  async follow(command: Command): Promise<Outcome> {
    const { plans, known } = this.#means;
    const plan = planFor(command, plans) ?? { command: command.text };
    // Also before a command that does not run again, because the next command of its block runs in the same directory.
    if (command.begins !== undefined) this.#goWhereReadersStand(command.begins);
    if ((command.isInline || plan.once) && known.has(command.text))
      return { command, verdict: 'again', ms: 0 };
    known.add(command.text);
    const began = performance.now();
    const ms = () => Math.round(performance.now() - began);
    try {
      await this.#prepare(command, plan);
      if (plan.apart !== undefined) {
        if (plan.instead !== undefined) await this.#must(plan.instead, 'the command to run instead');
        return { command, verdict: 'apart', why: plan.apart, ms: ms() };
      }
      await this.#perform(command, plan);
      if (plan.after !== undefined) await this.#must(plan.after, 'the check after the command');
      return { command, verdict: 'passed', ms: ms() };
    } catch (error) {
      const why = error instanceof Failure ? error.message : String((error as Error)?.stack ?? error);
      return { command, verdict: 'failed', why, ms: ms() };
    }
  }

  /** Prepares what the reader has done before: once for the page, and for the command. */
  async #prepare({ text }: Command, { before }: Plan): Promise<void> {
    const ofPage = this.#means.plans.pages.find(({ page }) => page === this.#page)?.before;
    if (ofPage !== undefined && !this.#hasBegun) await this.#must(ofPage, 'the preparation of the page');
    this.#hasBegun = true;
    const last = text.split(/\s/).at(-1) ?? '';
    if (before !== undefined)
      await this.#must(`DOCS_LAST=${quoted(last)}\n${before}`, 'the preparation of the command');
  }

  async #perform(command: Command, plan: Plan): Promise<void> {
    const { plans, clone } = this.#means;
    const { program } = command;
    const text =
      program === undefined
        ? this.#here(withDefaults(command, plans))
        : `docs-program '${writeProgram(clone, { ...program, text: this.#here(program.text) })}'`;
    const rest = program === undefined ? unfilled(text) : undefined;
    if (rest !== undefined) throw new Failure(`the placeholder ${rest} has no value; add it to the plans`);
    const ways = {
      run: () => this.#run(text, plan),
      server: () => this.#serve(text, plan),
      terminal: () => this.#atTerminal(text, plan),
      speak: () => this.#speak(text),
      follow: () => this.#watch(text, plan),
    };
    await ways[plan.way ?? 'run']();
  }

  async #run(text: string, plan: Plan): Promise<void> {
    const end = await this.#shell.run(text, this.#env(plan));
    expectCode(end, plan.codes ?? [0]);
    const isAsPlanned = plan.prints?.test(end.output) !== false && plan.never?.test(end.output) !== true;
    if (!isAsPlanned) throw new Failure(`unexpected output: ${tail(end)}`);
  }

  async #serve(text: string, plan: Plan): Promise<void> {
    if (plan.stays !== true && !/\bkill\b/.test(text)) await this.#endServer();
    const server = this.#shell.start(text, { env: this.#env(plan) });
    if (plan.stays === true) this.#beside.push(server);
    else this.#server = server;
    const ready = plan.prints ?? /(http:\/\/[^/\s]+)\/#token=(\S+)/;
    if (!(await server.seen(ready)))
      throw new Failure(`the server is not ready: ${tail({ output: server.output() })}`);
    const [, url, token] = ready.exec(server.output()) ?? [];
    if (url === undefined || token === undefined) return;
    await this.#must(`DOCS_URL='${url}' DOCS_TOKEN='${token}' DOCS_SERVER=-${server.pid}`, 'the address');
    await this.#must('curl -fsS -o "$DOCS_HOME/null" "$DOCS_URL/livez"', 'a request to the server');
  }

  async #endServer(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const end = await this.#shell.stop(server);
    if (end === undefined) throw new Failure('Ctrl-C did not stop the server');
    // A server that the page kills exits with 137.
    if (end.code !== 137) expectCode(end, [0, 130]);
  }

  async #atTerminal(text: string, plan: Plan): Promise<void> {
    const program = this.#shell.start(text, { env: this.#env(plan), atTerminal: true });
    for (const [seen, typed] of plan.keys ?? []) {
      if (!(await program.seen(seen))) {
        await this.#shell.stop(program);
        throw new Failure(`${String(seen)} did not appear: ${tail({ output: program.output() })}`);
      }
      program.type(typed);
    }
    expectCode(await this.#leave(program), plan.codes ?? [0, 130]);
  }

  /** Presses Ctrl-C until the program ends: the first one cancels the current run, and most ask for a second one. */
  async #leave(program: Running): Promise<End> {
    for (let time = 0; time < ctrlCs; time += 1) {
      program.interrupt();
      const end = await Promise.race([program.ended, pause(betweenMs, undefined, { ref: false })]);
      if (end !== undefined) return end;
    }
    throw new Failure(`Ctrl-C does not stop the program: ${tail({ output: program.output() })}`);
  }

  async #speak(text: string): Promise<void> {
    const program = this.#shell.start(text, { env: this.#env({ command: text }), takesInput: true });
    const params = /\bacp\b/.test(text) ? greetings.acp : greetings.mcp;
    program.type(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    const isAnswered = await program.seen(/"protocolVersion"/);
    program.finishInput();
    expectCode(await program.ended, [0]);
    if (!isAnswered) throw new Failure(`no response: ${tail({ output: program.output() })}`);
  }

  async #watch(text: string, plan: Plan): Promise<void> {
    const program = this.#shell.start(text, { env: this.#env(plan) });
    const isSeen = await program.seen(plan.prints ?? /\n/, 30_000);
    const end = await this.#shell.stop(program);
    if (!isSeen)
      throw new Failure(`the expected output did not appear: ${tail({ output: program.output() })}`);
    if (end !== undefined) expectCode(end, plan.codes ?? [0, 130]);
  }

  /** Runs a command of the plans. Its failure is a failure of the page's command. */
  async #must(text: string, what: string): Promise<void> {
    const end = await this.#shell.run(this.#here(text), this.#env({ command: text }));
    if (end.code !== 0) throw new Failure(`${what}: exit code ${end.code}: ${tail(end)}`);
  }

  #here(text: string): string {
    return text.replaceAll(defaultPort, String(this.#means.port));
  }

  #env(plan: Plan): Record<string, string> {
    const { env, keys } = this.#means;
    return { ...env, ...(!plan.keyless && keys), DOCS_PAGE: this.#page };
  }

  /** Commands with npm or node are typed in the clone, others in the user's project or after a `cd` of the page. */
  #goWhereReadersStand(block: string): void {
    const { place, clone } = this.#means;
    const isOfClone = /^([A-Z_]+=\S+ )*(npm|npx|node|pnpm|git) /m.test(block);
    const notes = join(place.notes, 'cwd');
    const isInClone = readFileSync(notes, 'utf8').startsWith(clone);
    if (isOfClone && !isInClone) writeFileSync(notes, clone);
    if (!isOfClone && isInClone)
      writeFileSync(notes, block.startsWith('cd my-project') ? dirname(place.project) : place.project);
  }
}

/** Quotes a word for the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function expectCode(end: End, codes: readonly number[]): void {
  if (!codes.includes(end.code)) throw new Failure(`exit code ${end.code}: ${tail(end)}`);
}

/** Returns the last lines of the output, which contain the error. */
function tail({ output }: Pick<End, 'output'>): string {
  return output.trim().split('\n').slice(-12).join('\n      ').slice(-1500);
}
