import type { Runtime } from '@cobbler/agent';
import type { ProcessEnd, SupervisedProcess } from '@cobbler/agent/node';
import { superviseProcess } from '@cobbler/agent/node';
import type { ProgramStart, Sandbox } from '@cobbler/agent/sandbox';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { truncate } from './plain-text.ts';
import type { McpTransport } from './transport.ts';
import { maxMessageBytes } from './transport.ts';

/** Maximum number of bytes kept of a program's standard error. */
const keptBytes = 16_384;

/** Time limit for a program to exit after its input ends, in milliseconds. */
const leaveMs = 500;

/** The command that starts a server, and its sandbox. */
export interface StdioStart extends ProgramStart {
  readonly sandbox?: Sandbox;
}

/** A server as a supervised child process. It and everything it starts end before this process does. */
export class StdioTransport implements McpTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #start: StdioStart;
  readonly #runtime: Pick<Runtime, 'timer'>;
  readonly #lines = new MessageLines(maxMessageBytes);
  #process: SupervisedProcess | undefined;
  #end: ProcessEnd | undefined;
  #problem: string | undefined;
  #stray = '';
  #delivered: Promise<void> = Promise.resolve();

  constructor(start: StdioStart, runtime: Pick<Runtime, 'timer'>) {
    this.#start = start;
    this.#runtime = runtime;
  }

  async start(): Promise<void> {
    const process = superviseProcess({
      ...this.#start,
      keepInputOpen: true,
      maxOutputBytes: keptBytes,
      onOutput: (chunk, stream) => {
        if (stream === 'stdout') this.#read(chunk);
      },
    });
    this.#process = process;
    void process.ended.then((end) => {
      this.#end = end;
      this.#deliver(() => this.onclose?.());
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#process === undefined || this.#end !== undefined) throw new Error('The server has exited.');
    this.#process.write(`${JSON.stringify(message)}\n`);
  }

  /** Resolves when the server and everything it started have ended. */
  async close(): Promise<void> {
    const process = this.#process;
    if (process === undefined) return;
    process.endInput();
    const cancel = this.#runtime.timer(leaveMs, () => process.stop());
    await process.ended;
    cancel();
  }

  ending(): string {
    const { error, code, signal } = this.#end ?? {};
    if (this.#problem !== undefined) return this.#problem;
    if (error !== undefined) return `could not be started: ${error.message.replace(/\.$/, '')}`;
    if (signal !== undefined && signal !== null) return `was terminated by ${signal}`;
    if (code !== undefined && code !== null) return `exited with code ${code}`;
    return 'exited';
  }

  lastWords(): string {
    const words = this.#end?.stderr.text().trim() ?? '';
    return words === '' ? this.#stray : words;
  }

  #read(chunk: Uint8Array): void {
    if (this.#problem !== undefined) return;
    try {
      for (const line of this.#lines.push(chunk)) this.#take(line);
    } catch {
      this.#problem = `sent a message of more than ${maxMessageBytes / 1_048_576} MiB and was stopped`;
      this.#process?.stop();
    }
  }

  /** Delivers messages one at a time: a client handles progress slightly later than a response, which would be too late. */
  #deliver(hand: () => void): void {
    this.#delivered = this.#delivered.then(hand);
  }

  /** Handles a line. Lines that are not messages are skipped, because many programs print a greeting. */
  #take(line: string): void {
    const message = messageIn(line);
    if (message !== undefined) return this.#deliver(() => this.onmessage?.(message));
    if (this.#stray === '') this.#stray = truncate(line, 300);
    this.onerror?.(new Error('The server printed a line that is not a protocol message.'));
  }
}

function messageIn(line: string): JSONRPCMessage | undefined {
  try {
    return JSONRPCMessageSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** Joins the chunks of a stream into lines with a maximum length. */
class MessageLines {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the lines that a chunk completes. @throws RangeError for a line that is too long. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#add(chunk.subarray(start, end));
      lines.push(Buffer.concat(this.#chunks).toString('utf8').trim());
      this.#chunks = [];
      this.#length = 0;
      start = end + 1;
    }
    this.#add(chunk.slice(start));
    return lines.filter((line) => line !== '');
  }

  #add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes) {
      this.#chunks = [];
      this.#length = 0;
      throw new RangeError('too long');
    }
    if (chunk.length > 0) this.#chunks.push(chunk);
  }
}
