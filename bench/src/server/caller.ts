import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:http';

/** A response of the server. */
export interface Answer {
  readonly status: number;
  /** An empty object if the body is not JSON. */
  readonly json: Record<string, unknown>;
  readonly text: string;
}

/** The address of a server. */
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

  /** Sends a request. Rejects if there is no response. */
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
        // The idle connection was closed at the moment it was reused; the server read nothing of this request.
        if (sent.reusedSocket && 'code' in error && error.code === 'ECONNRESET')
          resolve(this.ask(method, path, body, headers));
        else reject(error);
      });
      sent.on('response', (response) => void answerOf(response).then(resolve, reject));
      sent.end(text);
    });
  }

  /** Opens an event stream. Rejects if the server does not provide one. */
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
        reject(new Error(`The response to a stream request has status ${response.statusCode}.`));
      });
      sent.end();
    });
  }

  /** Closes all idle connections. */
  release(): void {
    this.#agent.destroy();
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64 });
  }
}

/** One reader of an event stream. */
export class Watcher {
  /** The ids of the received stored events, in order. */
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

  /** Number of runs whose end it has received. */
  get finished(): number {
    return this.#finished;
  }

  /** Resolves when this many runs have ended. Rejects if the stream ends first. */
  async untilFinished(runs: number): Promise<void> {
    await this.#until(() => this.#finished >= runs, `run ${runs}`);
  }

  /** Resolves when the event with this number has arrived. Rejects if the stream ends first. */
  async untilEvent(seq: number): Promise<void> {
    await this.#until(() => (this.ids.at(-1) ?? 0) >= seq, `event ${seq}`);
  }

  /** Stops reading without closing the connection. */
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
