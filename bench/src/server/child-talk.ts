import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * A request to a measured process, or to a process with many clients: a name with numbers or strings as arguments.
 */
export interface Question {
  readonly what: string;
  readonly [more: string]: unknown;
}

/** A child process that answers requests, one at a time. */
export class ChildTalk {
  readonly #child: ChildProcess;
  #asking: Promise<unknown> = Promise.resolve();

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts a built program. Resolves with the process and its first message. */
  static async start<First>(program: string, args: readonly string[]): Promise<[ChildTalk, First]> {
    const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning'];
    const child = spawn(process.execPath, [...flags, program, ...args], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const talk = new ChildTalk(child);
    return [talk, await talk.#next<First>()];
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Sends a request and waits for the response. Rejects if the process ends first. */
  ask<Answer>(question: Question): Promise<Answer> {
    const answer = this.#asking.then(() => {
      this.#child.send(question);
      return this.#next<Answer>();
    });
    this.#asking = answer.catch(() => undefined);
    return answer;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  #next<Answer>(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`A process ended with ${code}.`));
      this.#child.once('exit', onExit);
      this.#child.once('message', (answer) => {
        this.#child.off('exit', onExit);
        resolve(answer as Answer);
      });
    });
  }
}

/** Answers the requests of the parent, in a child process. */
export function answerParent(answers: Readonly<Record<string, (question: Question) => unknown>>): void {
  process.on('message', (question: Question) => {
    void Promise.resolve(answers[question.what]?.(question)).then((answer) => process.send?.(answer ?? null));
  });
  process.on('disconnect', () => process.exit());
}
