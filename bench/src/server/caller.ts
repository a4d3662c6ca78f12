import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:http';

/** An answer of the server. */
export interface Answer {
  readonly status: number;
  /** An empty object when the body is no JSON. */
  readonly json: Record<string, unknown>;
  readonly text: string;
}

/** Whom to call. */
export interface Address {
  readonly url: string;
  readonly token: string;
}

/** A client of one server, over plain node:http. */
export class Caller {
  readonly address: Address;
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #headers: Readonly<Record<string, string>>;

  constructor(address: Address) {
    this.address = address;
    this.#headers = { authorization: `Bearer ${address.token}` };
  }

  /** Rejects when there is no answer at all. */
  ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const length = text === undefined ? '0' : String(Buffer.byteLength(text));
    const type = text === undefined ? {} : { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const sent = request(this.address.url + path, {
        method,
        agent: this.#agent,
        headers: { ...this.#headers, ...type, 'content-length': length, ...headers },
      });
      sent.on('error', (error) => {
        // It was hung up on as idle in the moment when it was used again; nothing of this request was read.
        if (sent.reusedSocket && 'code' in error && error.code === 'ECONNRESET')
          resolve(this.ask(method, path, body, headers));
        else reject(error);
      });
      sent.on('response', (response) => void answerOf(response).then(resolve, reject));
      sent.end(text);
    });
  }

  /** Opens a stream of events. Rejects when the server does not give one. */
  watch(path: string, headers: Record<string, string> = {}): Promise<Watcher> {
    return new Promise((resolve, reject) => {
      const sent = request(this.address.url + path, {
        agent: false,
        headers: { ...this.#headers, ...headers },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        if (response.statusCode === 200) return resolve(new Watcher(sent, response));
        sent.destroy();
        reject(new Error(`A stream was answered with ${response.statusCode}.`));
      });
      sent.end();
    });
  }

  /** Hangs up whatever is kept open for later. */
  release(): void {
    this.#agent.destroy();
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64 });
  }
}

/** One reader of a stream of events. */
export class Watcher {
  /** The ids of the stored events that came, in order. */
  readonly ids: number[] = [];
  readonly #sent: ClientRequest;
  readonly #response: IncomingMessage;
  #rest = '';
  #finished = 0;
  #isOver = false;
  #wakes: (() => void)[] = [];

  constructor(sent: ClientRequest, response: IncomingMessage) {
    this.#sent = sent;
    this.#response = response;
    sent.on('error', () => undefined);
    response.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    response.on('error', () => undefined);
    response.on('close', () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** How many runs ended before its eyes. */
  get finished(): number {
    return this.#finished;
  }

  /** Resolves when so many runs have ended before its eyes. Rejects when the stream ends before. */
  async untilFinished(runs: number): Promise<void> {
    await this.#until(() => this.#finished >= runs, `run ${runs}`);
  }

  /** Resolves when the event of this number has come. Rejects when the stream ends before. */
  async untilEvent(seq: number): Promise<void> {
    await this.#until(() => (this.ids.at(-1) ?? 0) >= seq, `event ${seq}`);
  }

  /** Takes nothing more, and says nothing about it. */
  stall(): void {
    this.#response.pause();
  }

  drop(): void {
    this.#sent.destroy();
  }

  async #until(isIt: () => boolean, what: string): Promise<void> {
    while (!isIt()) {
      if (this.#isOver) throw new Error(`A stream ended before ${what}: ${this.#finished} runs had ended.`);
      await new Promise<void>((resolve) => this.#wakes.push(resolve));
    }
  }

  #take(text: string): void {
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n\n'); end !== -1; end = this.#rest.indexOf('\n\n')) {
      const frame = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 2);
      const id = /^id: (\d+)$/m.exec(frame)?.[1];
      if (id !== undefined) this.ids.push(Number(id));
      if (frame.includes('"type":"finished"')) this.#finished += 1;
    }
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, json: jsonOf(text), text };
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}
