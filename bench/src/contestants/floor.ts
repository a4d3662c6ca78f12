import http from 'node:http';
import { model, toolDescription, toolName, toolOutput, toolSchema } from '../answer.ts';
import type { Contestant, Outcome, Target } from '../contestant.ts';

/**
 * The minimum that performs the job: Node's own HTTP client, a hand-written fold for exactly these events, and a
 * history whose messages are serialized only once. No checks, timeouts, retries or events.
 */
export function open(target: Target): Contestant {
  const agent = new http.Agent({ keepAlive: true });
  const url = new URL(`${target.url}/v1/messages`);
  const tools = [{ name: toolName, description: toolDescription, input_schema: toolSchema }];
  const fields = JSON.stringify({ model, max_tokens: 4096, stream: true, tools });
  const head = Buffer.from(`${fields.slice(0, -1)},"messages":[`);
  return { run: (prompt) => converse((history) => post(url, agent, [head, history, tail]), prompt) };
}

const tail = Buffer.from(']}');

type Post = (history: Buffer) => Promise<http.IncomingMessage>;

async function converse(ask: Post, prompt: string): Promise<Outcome> {
  const history = new History();
  history.add({ role: 'user', content: prompt });
  let turns = 0;
  let toolCalls = 0;
  let shown = 0;
  for (;;) {
    const fold = new Fold((text) => {
      shown += text.length;
    });
    await read(await ask(history.bytes()), fold);
    turns += 1;
    const { content } = fold;
    if (fold.stopReason !== 'tool_use') return { turns, toolCalls, shown, text: textIn(content) };
    const results = content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: block.id, content: toolOutput }] : [],
    );
    toolCalls += results.length;
    history.add({ role: 'assistant', content });
    history.add({ role: 'user', content: results });
  }
}

function post(url: URL, agent: http.Agent, body: readonly Buffer[]): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'x-api-key': 'key',
      'anthropic-version': '2023-06-01',
      'content-length': body.reduce((length, part) => length + part.length, 0),
    };
    const request = http.request(url, { method: 'POST', agent, headers }, resolve);
    request.on('error', reject);
    for (const part of body) request.write(part);
    request.end();
  });
}

function read(response: http.IncomingMessage, fold: Fold): Promise<void> {
  return new Promise((resolve, reject) => {
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const text = rest + chunk;
      let at = 0;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
        if (text.startsWith('data: ', at)) fold.take(JSON.parse(text.slice(at + 6, end)));
        at = end + 1;
      }
      rest = text.slice(at);
    });
    response.on('end', resolve);
    response.on('error', reject);
  });
}

/** A growing buffer with the messages in the format of a request. */
class History {
  #buffer = Buffer.allocUnsafe(4096);
  #length = 0;

  add(message: object): void {
    const json = Buffer.from((this.#length === 0 ? '' : ',') + JSON.stringify(message));
    if (this.#length + json.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + json.length));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    json.copy(this.#buffer, this.#length);
    this.#length += json.length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };

type Delta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string };

type WireEvent =
  | { readonly type: 'content_block_start'; readonly content_block: Block }
  | { readonly type: 'content_block_delta'; readonly delta: Delta }
  | { readonly type: 'content_block_stop' }
  | { readonly type: 'message_delta'; readonly delta: { readonly stop_reason: string } }
  | { readonly type: 'message_start' | 'message_stop' | 'ping' };

/** Assembles one response. */
class Fold {
  readonly content: Block[] = [];
  stopReason = '';
  readonly #show: (text: string) => void;
  #block: Block | undefined;
  #json = '';

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  take(event: WireEvent): void {
    if (event.type === 'content_block_delta') this.#takeDelta(event.delta);
    else if (event.type === 'content_block_start') {
      this.#block = event.content_block;
      this.content.push(this.#block);
      this.#json = '';
    } else if (event.type === 'content_block_stop') {
      if (this.#block?.type === 'tool_use') this.#block.input = JSON.parse(this.#json);
    } else if (event.type === 'message_delta') this.stopReason = event.delta.stop_reason;
  }

  #takeDelta(delta: Delta): void {
    if (delta.type === 'input_json_delta') this.#json += delta.partial_json;
    else if (this.#block?.type === 'text') {
      this.#block.text += delta.text;
      this.#show(delta.text);
    }
  }
}

function textIn(content: readonly Block[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
