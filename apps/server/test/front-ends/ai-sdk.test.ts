import type { Event } from '@cobbler/agent';
import { openSession, systemRuntime } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import type { UIMessage, UIMessageChunk } from 'ai';
import { DefaultChatTransport, readUIMessageStream } from 'ai';
import { describe, expect, test } from 'vitest';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';

const path = '/v1/sessions/s/chat';

/** The useChat transport without a page, and the SDK function that builds messages from chunks. */
class Page {
  readonly #one: Rig;
  readonly #transport: DefaultChatTransport<UIMessage>;
  readonly messages: UIMessage[] = [];
  chunks: UIMessageChunk[] = [];
  readonly errors: string[] = [];

  constructor(one: Rig, headers: Record<string, string> = { authorization: `Bearer ${one.token}` }) {
    this.#one = one;
    const api = one.server.url + path;
    const prepareReconnectToStreamRequest = () => ({ api });
    this.#transport = new DefaultChatTransport({ api, headers, prepareReconnectToStreamRequest });
  }

  async say(text: string, id = `m${this.messages.length}`): Promise<UIMessage> {
    this.messages.push({ id, role: 'user', parts: [{ type: 'text', text }] });
    return await this.#send();
  }

  /** Decides all pending approvals, as addToolApprovalResponse does, and sends the decisions. */
  async answer(approved: boolean, reason?: string): Promise<UIMessage> {
    const last = this.messages.pop();
    if (last === undefined) throw new Error('No approval is requested.');
    const parts = last.parts.map((part) => {
      if (part.type !== 'dynamic-tool' || part.state !== 'approval-requested') return part;
      const approval = { ...part.approval, approved, ...(reason !== undefined && { reason }) };
      return { ...part, state: 'approval-responded' as const, approval };
    });
    this.messages.push({ ...last, parts });
    return await this.#send();
  }

  /** Reconnects to the message of the active run; returns null if there is none. */
  async reconnect(): Promise<ReadableStream<UIMessageChunk> | null> {
    return await this.#transport.reconnectToStream({ chatId: 's' });
  }

  async openSaying(text: string): Promise<ReadableStream<UIMessageChunk>> {
    this.messages.push({ id: `m${this.messages.length}`, role: 'user', parts: [{ type: 'text', text }] });
    return await this.open();
  }

  async open(): Promise<ReadableStream<UIMessageChunk>> {
    return await this.#transport.sendMessages({
      chatId: 's',
      trigger: 'submit-message',
      messageId: undefined,
      messages: this.messages,
      abortSignal: undefined,
    });
  }

  async read(stream: ReadableStream<UIMessageChunk>, message: UIMessage | undefined): Promise<UIMessage> {
    this.chunks = [];
    let made = message;
    const heard = new TransformStream<UIMessageChunk, UIMessageChunk>({
      transform: (chunk, controller) => {
        this.chunks.push(chunk);
        controller.enqueue(chunk);
      },
    });
    const states = readUIMessageStream({
      stream: stream.pipeThrough(heard),
      ...(message !== undefined && { message }),
      onError: (error) => this.errors.push(String(error)),
    });
    for await (const state of states) made = state;
    if (made === undefined) throw new Error('The client created no message.');
    return made;
  }

  async #send(): Promise<UIMessage> {
    const stream = await this.open();
    const last = this.messages.at(-1);
    const answer = await this.read(stream, last?.role === 'assistant' ? last : undefined);
    if (last?.role === 'assistant') this.messages.pop();
    this.messages.push(answer);
    await this.#one.idle('s');
    return answer;
  }
}

async function page(options: Parameters<typeof rig>[0] = {}): Promise<{ one: Rig; chat: Page }> {
  const one = await rig(options);
  await one.ask('POST', '/v1/sessions', { id: 's' });
  return { one, chat: new Page(one) };
}

/** Returns a conversation as plain values, from the messages of the client. */
function clientFold(messages: readonly UIMessage[]): unknown[] {
  return messages.flatMap(({ role, parts }) =>
    parts.flatMap((part): unknown[] => {
      if (part.type === 'text') return [[role, part.text]];
      if (part.type === 'reasoning') return [['reasoning', part.text]];
      if (part.type === 'steering-message') {
        return part.parts.map((said) => ['user', said.type === 'text' ? said.text : said.type]);
      }
      if (part.type !== 'dynamic-tool') return [];
      const result = part.state === 'output-available' ? part.output : part.state;
      return [['call', part.toolCallId, part.toolName, part.input, result]];
    }),
  );
}

/** Returns the same values from the log. */
async function logFold({ store }: Rig): Promise<unknown[]> {
  const { messages } = await openSession(store, 's');
  const results = new Map(
    messages.flatMap((message) =>
      message.role === 'tool_result' ? [[message.toolCallId, message] as const] : [],
    ),
  );
  const events = await store.read('s');
  const denied = events.flatMap((event) =>
    event.type === 'tool_result' && event.denied === true ? [event.callId] : [],
  );
  const said = events.flatMap((event) => (event.type === 'user' ? [event] : []));
  let [exchange, answers] = ['', 0];
  return messages.flatMap((message): unknown[] => {
    if (message.role === 'tool_result') return [];
    if (message.role === 'assistant') answers += 1;
    const prompt = message.role === 'user' ? said.shift() : undefined;
    if (prompt !== undefined && prompt.steer !== true) [exchange, answers] = [prompt.id, 0];
    let calls = 0;
    return message.content.flatMap((part): unknown[] => {
      if (part.type === 'text') return [[message.role, part.text]];
      if (part.type === 'reasoning') return [['reasoning', part.text]];
      if (part.type !== 'tool_call') return [];
      const result = results.get(part.id);
      const text = result?.content.map((one) => (one.type === 'text' ? one.text : '')).join('');
      const told = denied.includes(part.id)
        ? 'output-denied'
        : result?.isError === true
          ? 'output-error'
          : text;
      calls += 1;
      return [['call', `${exchange}-${answers}-call-${calls}`, part.toolName, part.arguments, told]];
    });
  });
}

const types = (chunks: readonly UIMessageChunk[]) => chunks.map(({ type }) => type);
const finished = (events: readonly Event[]) => events.findLast(({ type }) => type === 'finished');

describe('a page with useChat', () => {
  test('streams text and reasoning, and builds the messages of the log', async () => {
    const { one, chat } = await page();
    await chat.say('think Hello there you.');
    const read = types(chat.chunks);
    expect(read.filter((type, place) => type !== read[place - 1])).toEqual([
      'start',
      'start-step',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ]);
    expect(read.filter((type) => type === 'text-delta').length).toBeGreaterThan(1);
    await chat.say('say On.');
    expect(clientFold(chat.messages)).toEqual(await logFold(one));
    expect(chat.errors).toEqual([]);
    expect(chat.chunks.at(-1)).toMatchObject({
      finishReason: 'stop',
      messageMetadata: { status: 'complete' },
    });
  });

  test('receives the header that useChat requires, and an end marker', async () => {
    const { one } = await page();
    const messages = [{ id: 'a', role: 'user', parts: [{ type: 'text', text: 'say Hello.' }] }];
    const answer = await one.ask('POST', path, { id: 's', trigger: 'submit-message', messages });
    expect(answer.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(answer.headers.get('content-type')).toMatch('text/event-stream');
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('receives calls, results, failures and calls that were not run', async () => {
    const { one, chat } = await page();
    await chat.say('use look look');
    await chat.say('use break look');
    expect(clientFold(chat.messages)).toEqual(await logFold(one));
    expect(JSON.stringify(clientFold(chat.messages))).toContain('output-error');
    expect(chat.errors).toEqual([]);
  });

  test('allows a call with the hash that it was shown, and continues the same message', async () => {
    const { one, chat } = await page();
    const asked = await chat.say('use look write');
    expect(asked.parts.find((part) => 'state' in part && part.state === 'approval-requested')).toBeDefined();
    expect(chat.chunks.at(-1)).toMatchObject({ finishReason: 'tool-calls' });
    const answered = await chat.answer(true);
    expect(answered.id).toBe(asked.id);
    expect(clientFold(chat.messages)).toEqual(await logFold(one));
    expect(JSON.stringify(clientFold(chat.messages))).toContain('written');
    expect(chat.errors).toEqual([]);
    expect(chat.messages).toHaveLength(2);
  });

  test('denies a call, and the model sees the reason', async () => {
    const { one, chat } = await page();
    await chat.say('use write');
    await chat.answer(false, 'Not today.');
    expect(clientFold(chat.messages)).toEqual(await logFold(one));
    expect(JSON.stringify(clientFold(chat.messages))).toContain('output-denied');
    expect((await one.ask('GET', '/v1/sessions/s/messages')).text).toContain('Not today.');
    expect(chat.errors).toEqual([]);
  });

  test('cannot allow other arguments or decide without the scope; a repeated decision has no effect', async () => {
    const { one, chat } = await page();
    await chat.say('use write');
    const [asked] = (await one.ask('GET', '/v1/approvals')).json['items'] as {
      approvalId: string;
      hash: string;
    }[];
    const approval = { id: asked?.approvalId, approved: true, signature: asked?.hash };
    const body = (more: object) => ({
      messages: [
        {
          id: 'x',
          role: 'assistant',
          parts: [{ state: 'approval-responded', approval: { ...approval, ...more } }],
        },
      ],
    });
    const other = await one.ask('POST', path, body({ signature: '0'.repeat(64) }));
    expect(other).toMatchObject({ status: 409, json: { code: 'other_arguments' } });
    const { token } = one.tokens.add({ name: 'owner', scopes: ['read', 'prompt'] });
    const half = await one.ask('POST', path, body({}), { authorization: `Bearer ${token}` });
    expect(half).toMatchObject({ status: 403, json: { code: 'scope' } });
    const answers = await Promise.all([one.ask('POST', path, body({})), one.ask('POST', path, body({}))]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const contrary = await one.ask('POST', path, body({ approved: false }));
    expect(contrary).toMatchObject({ status: 409, json: { code: 'decided' } });
    expect((await one.store.read('s')).filter(({ type }) => type === 'tool_started')).toHaveLength(1);
  });

  test('receives the cancellation, and ends with the messages of the log', async () => {
    const { one, chat } = await page();
    const reading = chat.read(await chat.openSaying('use hold'), undefined);
    await expect
      .poll(async () => (await one.store.read('s')).some(({ type }) => type === 'tool_started'))
      .toBe(true);
    await one.ask('POST', '/v1/sessions/s/cancel');
    chat.messages.push(await reading);
    expect(types(chat.chunks)).toContain('abort');
    expect(clientFold(chat.messages)).toEqual(await logFold(one));
  });

  test('can disconnect without stopping the run, and reconnect to the whole message', async () => {
    const { one, chat } = await page();
    await (await chat.openSaying('use look write')).cancel();
    await one.idle('s');
    expect(finished(await one.store.read('s'))).toMatchObject({ status: 'waiting' });
    const question = await chat.reconnect();
    if (question === null) throw new Error('No call waits for approval.');
    const shown = await chat.read(question, undefined);
    const again = await chat.read(await chat.open(), undefined);
    expect(shown).toEqual(again);
    const exchange = (await one.store.read('s'))[0]?.id;
    expect(again.id).toBe(`${exchange}-answer`);
    expect(clientFold([...chat.messages, again])).toEqual([
      ['user', 'use look write'],
      ['assistant', 'Working.'],
      ['call', `${exchange}-1-call-1`, 'look', { of: 'look' }, 'approval-responded'],
      ['call', `${exchange}-1-call-2`, 'write', { of: 'write' }, 'approval-requested'],
    ]);
    expect((await one.store.read('s')).filter(({ type }) => type === 'user')).toHaveLength(1);
  });

  test('reconnects during a run to the message from its start', async () => {
    const { one, chat } = await page();
    await (await chat.openSaying('use look hold')).cancel();
    await expect
      .poll(async () => (await one.store.read('s')).filter(({ type }) => type === 'tool_started').length)
      .toBe(2);
    const stream = await chat.reconnect();
    if (stream === null) throw new Error('No response is in progress.');
    await one.ask('POST', '/v1/sessions/s/steer', { content: 'say Enough.' });
    await one.ask('POST', '/v1/sessions/s/cancel');
    const message = await chat.read(stream, undefined);
    chat.messages.push(message);
    expect(types(chat.chunks).slice(0, 3)).toEqual(['start', 'start-step', 'text-start']);
    expect(clientFold(chat.messages)).toEqual(await logFold(one));
    expect(await chat.reconnect()).toBeNull();
  });

  test('starts one run if it sends the same message twice', async () => {
    const { one, chat } = await page();
    await chat.say('say Hello.', 'once');
    const again = await new Page(one).say('say Hello.', 'once');
    expect(again).toEqual(chat.messages.at(-1));
    expect((await one.store.read('s')).filter(({ type }) => type === 'user')).toHaveLength(1);
    await expect(new Page(one).say('say Other.', 'once')).rejects.toThrow();
  });

  test('receives an error message, and a retry removes the text streamed before', async () => {
    const failing = {
      text: 'Half of an ans',
      error: { kind: 'network', message: 'cut', retryable: true },
    } as const;
    const agent = scriptedAgent(
      [failing, 'The whole answer.', { error: { kind: 'auth', message: 'Refused.' } }],
      {
        runtime: systemRuntime,
        retry: { baseMs: 1, maxMs: 1 },
      },
    );
    const { one, chat } = await page({ settings: () => ({ ...harnessFixture(), agent }) });
    await chat.say('say It.');
    expect(types(chat.chunks)).toContain('reset-step');
    expect(chat.messages.at(-1)?.parts.filter(({ type }) => type === 'step-start')).toHaveLength(1);
    expect(clientFold(chat.messages)).toEqual(await logFold(one));
    await chat.read(await chat.openSaying('Again.'), undefined).catch(() => undefined);
    expect(chat.errors.join()).toContain('Refused.');
    expect(chat.chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'error' });
  });

  test('counts as an event stream, and ends with its token', async () => {
    const { one, chat } = await page({ limits: { clients: 1 } });
    const { id, token } = one.tokens.add({ name: 'owner', scopes: ['read', 'prompt'] });
    const other = new Page(one, { authorization: `Bearer ${token}` });
    const reading = other.read(await other.openSaying('use hold'), undefined);
    await expect.poll(async () => (await one.store.read('s')).at(-1)?.type).toBe('tool_started');
    await expect(chat.reconnect()).rejects.toThrow('Too many event streams');
    await one.ask('DELETE', `/v1/tokens/${id}`);
    await reading;
    expect(types(other.chunks)).not.toContain('finish');
    // The slot becomes free when the client closes its side.
    const opened: ReadableStream<UIMessageChunk>[] = [];
    await expect
      .poll(async () =>
        opened.push(...[await chat.reconnect().catch(() => null)].filter((one) => one !== null)),
      )
      .toBe(1);
    await one.ask('POST', '/v1/sessions/s/cancel');
    const [stream] = opened;
    if (stream === undefined) throw new Error('the run has ended');
    expect(clientFold([...other.messages, await chat.read(stream, undefined)])).toEqual(await logFold(one));
  });

  test('gets errors for invalid requests', async () => {
    const { one } = await page();
    const user = { id: 'a', role: 'user', parts: [{ type: 'text', text: 'say Hello.' }] };
    const ask = (body: unknown, to = path) => one.ask('POST', to, body);
    expect(await ask({ messages: [user], trigger: 'regenerate-message' })).toMatchObject({
      status: 400,
      json: { code: 'no_regenerate' },
    });
    expect((await ask({ messages: [] })).status).toBe(400);
    expect((await ask({ messages: [{ ...user, parts: [] }] })).status).toBe(400);
    expect((await ask({ messages: [{ role: 'assistant', parts: [] }] })).status).toBe(400);
    const link = { type: 'file', mediaType: 'image/png', url: 'http://127.0.0.1/secret.png' };
    expect((await ask({ messages: [{ ...user, parts: [link] }] })).status).toBe(400);
    expect((await ask({ messages: [user] }, '/v1/sessions/none/chat')).status).toBe(404);
    const { token } = one.tokens.add({ name: 'reads', scopes: ['read'] });
    const reads = await one.ask('POST', path, { messages: [user] }, { authorization: `Bearer ${token}` });
    expect(reads.status).toBe(403);
    expect(await one.store.read('s')).toEqual([]);
  });
});
