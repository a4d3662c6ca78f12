import type { SeededRandom } from '@cobbler/agent/testing';
import { pause } from '../server/stage.ts';
import type { Client } from './client.ts';
import type { Figures } from './figures.ts';
import type { SeenEvent } from './reader.ts';
import { Reader } from './reader.ts';

/** The prompts of a session. */
export interface Sayings {
  /** A prompt with a response. */
  readonly talk: string;
  /** A prompt that is cancelled while it is running. */
  readonly cancel: string;
  /** A prompt that leads to a call which needs approval; absent if no such prompt is known. */
  readonly approve?: string;
}

/** The order of actions, chosen so that a short load contains each of them. */
const round = ['talk', 'approve', 'cancel', 'talk', 'talk', 'approve', 'talk'] as const;

/** Time limit for a run, in milliseconds. */
const runMs = 120_000;

/** A user in one session, who sends one prompt after another. */
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

  /**
   * Sends prompts until the time is over and the last run has ended.
   * @param first index of the first action
   */
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

  /** Performs a run until it ends, and approves every call. */
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
    else this.#figures.took('a run ends, approvals included', performance.now() - began);
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

  /** Decides every waiting approval of this session. Resolves with the end of the continued run. */
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
        'an approval is decided',
        202,
        'POST',
        `${this.#path}/approvals/${approvalId}`,
        answer,
      );
    }
    if (items.length > 0) return await finished;
    this.#figures.failed('a waiting run has no approvals');
    return 'waiting without approvals';
  }

  /**
   * Resolves with the end of the run.
   * @param began time at which the prompt was sent, to record the delay of its first event.
   */
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

  /** Waits before the next request after a rejection. */
  async #breathe(): Promise<void> {
    await pause(250);
  }
}
