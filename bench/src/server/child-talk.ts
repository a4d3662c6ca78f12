import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What a measured process, or one full of clients, is asked: a word and numbers or texts that go with it. */
export interface Question {
  readonly what: string;
  readonly [more: string]: unknown;
}

/** A child process that answers questions, one at a time. */
export class ChildTalk {
  readonly #child: ChildProcess;
  #asking: Promise<unknown> = Promise.resolve();

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts a built program. Resolves with it and with what it says first. */
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

  /** Asks and waits for the answer. Rejects when the process ends instead. */
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

/** Answers the questions of the parent, in a child process. */
export function answerParent(answers: Readonly<Record<string, (question: Question) => unknown>>): void {
  process.on('message', (question: Question) => {
    void Promise.resolve(answers[question.what]?.(question)).then((answer) => process.send?.(answer ?? null));
  });
  process.on('disconnect', () => process.exit());
}
