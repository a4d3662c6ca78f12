import type { SeededRandom } from '@cobbler/agent/testing';
import { pause } from '../server/stage.ts';
import type { Client } from './client.ts';
import type { Figures } from './figures.ts';
import type { SeenEvent } from './reader.ts';
import { Reader } from './reader.ts';

/** What is said in a session. */
export interface Sayings {
  /** A prompt that is answered. */
  readonly talk: string;
  /** One that is cancelled while it is worked on. */
  readonly cancel: string;
  /** One that leads to a call which a person has to decide about; absent where none is known to. */
  readonly approve?: string;
}

/** What is done in turn, so that a short load has something of everything. */
const round = ['talk', 'approve', 'cancel', 'talk', 'talk', 'approve', 'talk'] as const;

/** How long a run may take, in milliseconds, before it counts as never ended. */
const runMs = 120_000;

/** One session and somebody who talks in it, one prompt after another. */
export class Talker {
  readonly reader: Reader;
  readonly #client: Client;
  readonly #figures: Figures;
  readonly #random: SeededRandom;
  #hear: (event: SeenEvent) => void = () => undefined;

  constructor(client: Client, sessionId: string, figures: Figures, random: SeededRandom) {
    this.#client = client;
    this.#figures = figures;
    this.#random = random;
    this.reader = new Reader(client.target, sessionId, figures, (event) => this.#hear(event));
  }

  /** Talks until it is told that time is up; the last run comes to its end. @param first where it begins in the round */
  async talk(sayings: Sayings, first: number, isOver: () => boolean): Promise<void> {
    for (let turn = first; turn === first || !isOver(); turn += 1) {
      const kind = round[turn % round.length];
      if (kind === 'cancel') await this.#cancelled(sayings.cancel);
      else await this.#run((kind === 'approve' && sayings.approve) || sayings.talk);
    }
  }

  get #path(): string {
    return `/v1/sessions/${this.reader.sessionId}`;
  }

  /** A run to its end; whatever it asks is answered. */
  async #run(content: string): Promise<void> {
    const began = performance.now();
    const finished = this.#untilFinished(began);
    const accepted = await this.#client.ask('a prompt is accepted', 202, 'POST', `${this.#path}/prompt`, {
      content,
    });
    if (accepted === undefined) return await this.#breathe();
    let status = await finished;
    for (let answers = 0; status === 'waiting' && answers < 20; answers += 1) status = await this.#answered();
    if (status === 'late') this.#figures.failed('a run never ended');
    else this.#figures.took('a run ends, answers included', performance.now() - began);
  }

  async #cancelled(content: string): Promise<void> {
    const finished = this.#untilFinished(performance.now());
    const accepted = await this.#client.ask('a prompt is accepted', 202, 'POST', `${this.#path}/prompt`, {
      content,
    });
    if (accepted === undefined) return await this.#breathe();
    await pause(this.#random.between(0, 100));
    await this.#client.ask('a run is cancelled', 200, 'POST', `${this.#path}/cancel`);
    if ((await finished) === 'late') this.#figures.failed('a cancelled run never ended');
  }

  /** Answers everything that waits in this session. Resolves with how the run ended that went on. */
  async #answered(): Promise<string> {
    const { sessionId } = this.reader;
    const list = await this.#client.ask(
      'approvals are listed',
      200,
      'GET',
      `/v1/approvals?session=${sessionId}`,
    );
    const items = (list?.['items'] ?? []) as readonly { approvalId: string; hash: string }[];
    const finished = this.#untilFinished(undefined);
    for (const { approvalId, hash } of items) {
      const answer = this.#random.chance(0.5) ? { decision: 'allow', hash } : { decision: 'deny' };
      await this.#client.ask(
        'an approval is answered',
        202,
        'POST',
        `${this.#path}/approvals/${approvalId}`,
        answer,
      );
    }
    if (items.length > 0) return await finished;
    this.#figures.failed('a run waits for nothing');
    return 'waiting for nothing';
  }

  /** @param began when a prompt was sent, to note how long its first event took. Resolves with how the run ended. */
  #untilFinished(began: number | undefined): Promise<string> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve('late'), runMs);
      let isFirst = began !== undefined;
      this.#hear = ({ type, status }) => {
        if (isFirst && began !== undefined)
          this.#figures.took('a reader has its first event', performance.now() - began);
        isFirst = false;
        if (type !== 'finished') return;
        clearTimeout(timer);
        this.#hear = () => undefined;
        resolve(status ?? 'unknown');
      };
      timer.unref();
    });
  }

  /** A server that refuses is not asked again at once. */
  async #breathe(): Promise<void> {
    await pause(250);
  }
}
