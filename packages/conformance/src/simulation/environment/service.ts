import type { Usage } from '@cobbler/agent';
import { noUsage } from '@cobbler/agent';
import type { RawResponse, Transport, TransportRequest } from '@cobbler/agent/provider';
import type { ScriptAnswer } from '@cobbler/agent/testing';
import { joinFrames, scriptTesting } from '@cobbler/agent/testing';
import type { ReceivedResponse } from '../scenario/broadcast.ts';
import { receivedFrom, wastedIn } from '../scenario/broadcast.ts';
import type { Program } from '../scenario/program.ts';
import type { ConnectionStep, FaultRate, ServedResponse } from '../scenario/weather.ts';
import { serve } from '../scenario/weather.ts';
import type { World } from '../scenario/world.ts';
import { never } from '../scenario/world.ts';
import type { Mind } from './mind.ts';

/** A request that reached the service, and the part of the response that reached the client. */
export interface ServedRequest {
  /** Request number, counted from 1. */
  readonly request: number;
  readonly program: Program;
  readonly answer: ScriptAnswer;
  readonly serving: ServedResponse;
  /** Number of body bytes sent to the client. */
  arrived: number;
  /**
   * Number of body bytes without the chunk in which the client disconnected, because the client may have
   * ignored the rest of it.
   */
  surely: number;
}

/** The model service: it accepts every request, rejects invalid histories and records the cost of each. */
export class ModelService {
  readonly #world: World;
  readonly #mind: Mind;
  readonly #faultRate: FaultRate;
  readonly #served: ServedRequest[] = [];
  #calm = false;

  constructor(world: World, mind: Mind, faultRate: FaultRate) {
    this.#world = world;
    this.#mind = mind;
    this.#faultRate = faultRate;
  }

  /** Returns the requests of a program, in order. */
  of(program: Program): readonly ServedRequest[] {
    return this.#served.filter((served) => served.program === program);
  }

  /** Returns the request whose response has this model. */
  ofModel(model: string): ServedRequest | undefined {
    return this.#served.find(({ answer }) => answer.model === model);
  }

  /** Makes the service respond normally from now on. */
  calm(): void {
    this.#calm = true;
  }

  /** Returns the transport to the service for one program. */
  transport(program: Program): Transport {
    return (request) => {
      if (!program.alive) return never();
      program.cross('request');
      const served = this.#take(program, request);
      return new ServiceConnection(this.#world, served, request.signal).open();
    };
  }

  #take(program: Program, { body }: TransportRequest): ServedRequest {
    const text = new TextDecoder().decode(joinFrames(body));
    const request = this.#served.length + 1;
    const asked: unknown = JSON.parse(text);
    const refusal = scriptTesting.refuse(asked);
    this.#world.expect(
      refusal === undefined,
      'P12 wire',
      () => `the service rejected request ${request}: ${refusal?.body}`,
    );
    const read = scriptTesting.read(asked);
    const answer = this.#mind.answer({ request, read, bytes: text.length });
    const serving = serve(answer, this.#calm ? 'fair' : this.#faultRate, this.#world.choices);
    const served: ServedRequest = { request, program, answer, serving, arrived: 0, surely: 0 };
    this.#served.push(served);
    this.#world.note(`${program.name}: request ${request}, which the service ${serving.what}`);
    return served;
  }
}

/** Returns what the client received of a response. */
export function receivedOf({ serving, arrived }: ServedRequest): ReceivedResponse {
  return receivedUpTo(serving, arrived);
}

/** Returns the minimum and maximum cost of a failed response. */
export function wastedBy({ serving, arrived, surely }: ServedRequest): readonly [min: Usage, max: Usage] {
  if (serving.frames.length === 0) return [noUsage, noUsage];
  return [wastedIn(receivedUpTo(serving, surely)), wastedIn(receivedUpTo(serving, arrived))];
}

function receivedUpTo({ frames }: ServedResponse, bytes: number): ReceivedResponse {
  return receivedFrom(frames.filter(({ end }) => end <= bytes).map(({ payload }) => payload));
}

/** A simulated connection. The world schedules its steps, and it ends when the client disconnects. */
class ServiceConnection implements RawResponse {
  readonly #world: World;
  readonly #served: ServedRequest;
  readonly #program: Program;
  readonly #moves: Iterator<ConnectionStep>;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.#leave();
  #give: (bytes: Uint8Array) => void = () => {};
  #end: () => void = () => {};
  #break: (error: unknown) => void = () => {};
  #cancel: () => void = () => {};
  #open = true;

  constructor(world: World, served: ServedRequest, signal: AbortSignal) {
    this.#world = world;
    this.#served = served;
    this.#program = served.program;
    this.#moves = served.serving.moves[Symbol.iterator]();
    this.#signal = signal;
  }

  get status(): number {
    return this.#served.serving.head?.status ?? 0;
  }

  get headerNames(): readonly string[] {
    return Object.keys(this.#served.serving.head?.headers ?? {});
  }

  header(name: string): string | undefined {
    return this.#served.serving.head?.headers[name];
  }

  open(): Promise<RawResponse> {
    const { serving, request } = this.#served;
    this.#program.opened(this);
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    return new Promise((resolve, reject) => {
      this.#break = reject;
      if (serving.head === undefined && serving.ending === undefined) return;
      this.#cancel = this.#world.after(
        serving.headMs,
        this.#program,
        `headers of response ${request}`,
        () => {
          this.#program.cross('head');
          if (serving.head !== undefined) return resolve(this);
          this.#close();
          reject(Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' }));
        },
      );
    });
  }

  read(onChunk: (bytes: Uint8Array) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#give = onChunk;
      this.#end = resolve;
      this.#break = reject;
      if (this.#open) this.#next();
      else reject(new Error('the connection is closed'));
    });
  }

  close(): void {
    this.#leave();
  }

  #next(): void {
    const { done, value } = this.#moves.next();
    if (done === true) return;
    const what = value.ending ?? `${value.bytes?.length ?? 0} bytes`;
    this.#cancel = this.#world.after(
      value.afterMs,
      this.#program,
      `response ${this.#served.request}: ${what}`,
      () => this.#move(value),
    );
  }

  #move({ bytes, ending }: ConnectionStep): void {
    this.#program.cross('chunk');
    if (!this.#open) return;
    if (ending === 'end') {
      this.#close();
      return this.#end();
    }
    if (ending === 'reset') {
      this.#close();
      return this.#break(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
    }
    if (bytes !== undefined) {
      this.#served.arrived += bytes.length;
      this.#give(bytes);
      // A client that is stopped in the middle of a chunk does not read the rest of it.
      if (this.#open || !this.#signal.aborted) this.#served.surely = this.#served.arrived;
    }
    if (this.#open) this.#next();
  }

  #leave(): void {
    if (!this.#open) return;
    this.#close();
    this.#break(this.#signal.reason ?? new Error('the connection was closed'));
  }

  #close(): void {
    this.#open = false;
    this.#cancel();
    this.#program.closed(this);
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}
