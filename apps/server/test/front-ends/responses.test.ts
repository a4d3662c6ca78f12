import { systemRuntime } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import OpenAI, { APIError } from 'openai';
import { describe, expect, test } from 'vitest';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';

const model = 'cobbler';

function clientOf({ server, token }: Pick<Rig, 'server' | 'token'>, apiKey = token): OpenAI {
  return new OpenAI({ baseURL: `${server.url}/openai/v1`, apiKey, maxRetries: 0 });
}

/** Returns the error of a rejected request, as the official client reports it. */
async function refusal(
  pending: PromiseLike<unknown>,
): Promise<Pick<APIError, 'status' | 'code' | 'param' | 'type'>> {
  try {
    await pending;
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    const { status, code, param, type } = error;
    return { status, code, param, type };
  }
  throw new Error('The request was not rejected.');
}

/** Returns the model's text in the log. */
async function textsIn({ store }: Rig, sessionId: string): Promise<string> {
  const events = await store.read(sessionId);
  return events
    .flatMap((event) => (event.type === 'assistant' ? event.content : []))
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

describe('the official openai client', () => {
  test('gets a response with usage, and continues it by previous_response_id', async () => {
    const one = await rig();
    const openai = clientOf(one);
    const first = await openai.responses.create({ model, input: 'say Hello.' });
    expect(first).toMatchObject({ object: 'response', status: 'completed', output_text: 'Hello.', model });
    expect(first.usage?.total_tokens).toBeGreaterThan(0);
    const second = await openai.responses.create({
      model,
      previous_response_id: first.id,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'count' }] }],
    });
    expect([second.output_text, second.previous_response_id]).toEqual(['2', first.id]);
    expect(second.metadata?.['session_id']).toBe(first.metadata?.['session_id']);
    const bySession = first.metadata?.['session_id'] ?? '';
    const third = await openai.responses.create({ model, previous_response_id: bySession, input: 'count' });
    expect(third.output_text).toBe('3');
  });

  test('continues from an earlier response without changing later ones', async () => {
    const openai = clientOf(await rig());
    const first = await openai.responses.create({ model, input: 'say A.' });
    const later = await openai.responses.create({ model, previous_response_id: first.id, input: 'count' });
    const other = await openai.responses.create({ model, previous_response_id: first.id, input: 'count' });
    expect([later.output_text, other.output_text]).toEqual(['2', '2']);
    expect(other.metadata?.['session_id']).not.toBe(later.metadata?.['session_id']);
  });

  test('streams the text of the log, including text between calls', async () => {
    const one = await rig();
    const types: string[] = [];
    const stream = clientOf(one).responses.stream({ model, input: 'use look look' });
    for await (const event of stream) types.push(event.type);
    const final = await stream.finalResponse();
    expect(final.output_text).toBe(await textsIn(one, final.metadata?.['session_id'] ?? ''));
    expect(final.output).toHaveLength(2);
    expect(types.at(0)).toBe('response.created');
    expect(types.filter((type) => type === 'response.output_text.delta').length).toBeGreaterThan(2);
    expect(types.at(-1)).toBe('response.completed');
    const whole = await clientOf(one).responses.create({ model, input: 'use look look' });
    expect(whole.output_text).toBe(final.output_text);
  });

  test('receives a retried response once, without the text of the failed attempt', async () => {
    const failing = {
      text: 'Half of an ans',
      error: { kind: 'network', message: 'cut', retryable: true },
    } as const;
    const retry = { baseMs: 1, maxMs: 1 };
    const agent = scriptedAgent([failing, 'The whole answer.'], { runtime: systemRuntime, retry });
    const one = await rig({ settings: () => ({ ...harnessFixture(), agent }) });
    const stream = clientOf(one).responses.stream({ model, input: 'say It.' });
    const final = await stream.finalResponse();
    expect(final.output_text).toBe('The whole answer.');
  });

  test('receives the reason why a run did not complete', async () => {
    const openai = clientOf(await rig());
    const statusOf = async (input: string) => {
      const { status, error, incomplete_details } = await openai.responses.create({ model, input });
      return [status, error?.code ?? incomplete_details?.reason];
    };
    expect(await statusOf('fail')).toEqual(['failed', 'server_error']);
    expect(await statusOf('cut')).toEqual(['incomplete', 'max_output_tokens']);
    expect(await statusOf('refuse')).toEqual(['incomplete', 'content_filter']);
    expect(await statusOf('use write')).toEqual(['incomplete', 'approval_required']);
  });

  test.each([
    ['say Hi.', 'response.completed', 'completed'],
    ['cut', 'response.incomplete', 'incomplete'],
    ['use write', 'response.incomplete', 'incomplete'],
    ['fail', 'response.failed', 'failed'],
  ])('receives the status as the last event of a stream: %s', async (input, type, status) => {
    const one = await rig();
    const stream = await clientOf(one).responses.create({ model, input, stream: true });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({ type, response: { status } });
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, place) => place));
  });

  test('can disconnect without stopping the run [S4]', async () => {
    const one = await rig();
    const leaving = new AbortController();
    const stream = await clientOf(one).responses.create(
      { model, input: 'use look write', stream: true },
      { signal: leaving.signal },
    );
    let id = '';
    for await (const event of stream) {
      if (event.type !== 'response.created') continue;
      id = event.response.metadata?.['session_id'] ?? '';
      leaving.abort();
      break;
    }
    await one.idle(id);
    expect((await one.store.read(id)).at(-1)).toMatchObject({ type: 'finished', status: 'waiting' });
  });

  test('starts no second run for a repeated request with the same key [P9]', async () => {
    const one = await rig();
    const openai = clientOf(one);
    const again = { headers: { 'idempotency-key': 'once-and-again' } };
    const first = await openai.responses.create({ model, input: 'say Once.' }, again);
    const second = await openai.responses.create({ model, input: 'say Once.' }, again);
    expect([second.id, second.output_text]).toEqual([first.id, 'Once.']);
    const id = first.metadata?.['session_id'] ?? '';
    expect((await one.store.read(id)).filter(({ type }) => type === 'user')).toHaveLength(1);
  });

  test('lists the model names that it can request', async () => {
    const one = await rig();
    const openai = clientOf(one);
    const { data } = await openai.models.list();
    expect(data.map(({ id }) => id)).toEqual(['cobbler', harnessFixture().agent.model]);
    const { model: named } = await openai.responses.create({ model: data[1]?.id ?? '', input: 'say Hi.' });
    expect(named).toBe(data[1]?.id);
  });
});

describe('the OpenAI routes', () => {
  test('reject an invalid token and a missing scope [P15]', async () => {
    const one = await rig();
    const wrong = clientOf(one, 'wrong').responses.create({ model, input: 'say Hi.' });
    expect(await refusal(wrong)).toMatchObject({ status: 401, code: 'invalid_api_key' });
    const { token } = one.tokens.add({ name: 'reads', scopes: ['read'] });
    const reads = clientOf(one, token).responses.create({ model, input: 'say Hi.' });
    expect(await refusal(reads)).toMatchObject({ status: 403, type: 'permission_error', code: 'scope' });
  });

  test('reject an unknown model, an unknown response and a busy session', async () => {
    const one = await rig();
    const openai = clientOf(one);
    expect(await refusal(openai.responses.create({ model: 'gpt-9', input: 'Hi' }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    for (const previous_response_id of ['resp_1_none', 'none', '../x']) {
      const asked = openai.responses.create({ model, input: 'Hi', previous_response_id });
      expect(await refusal(asked)).toMatchObject({ status: 404, param: 'previous_response_id' });
    }
    await one.ask('POST', '/v1/sessions', { id: 's' });
    await one.ask('POST', '/v1/sessions/s/prompt', { content: 'use hold' });
    const asked = openai.responses.create({ model, input: 'Hi', previous_response_id: 's' });
    expect(await refusal(asked)).toMatchObject({ status: 409, code: 'busy' });
    await one.ask('POST', '/v1/sessions/s/cancel');
  });

  test.each([
    ['tools', { tools: [{ type: 'web_search' }] }],
    ['instructions', { instructions: 'Be a pirate.' }],
    ['store', { store: false }],
    ['background', { background: true }],
    ['text', { text: { format: { type: 'json_object' } } }],
    ['input', { input: [{ role: 'assistant', content: 'I said.' }] }],
    ['input', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:,' }] }] }],
    ['input', { input: ' ' }],
  ])('reject %s: %j', async (param, more) => {
    const one = await rig();
    const body = { model, input: 'say Hi.', ...more };
    const { status, json } = await one.ask('POST', '/openai/v1/responses', body);
    expect([status, json['error']]).toMatchObject([400, { type: 'invalid_request_error', param }]);
    expect((await one.store.list({ limit: 1 })).sessions).toEqual([]);
  });

  test('reject an invalid body', async () => {
    const one = await rig();
    const { status, json } = await one.ask('POST', '/openai/v1/responses', { input: 7 });
    expect([status, json['error']]).toMatchObject([
      400,
      { type: 'invalid_request_error', code: 'invalid_body' },
    ]);
  });
});

test('the OpenAPI description does not contain the OpenAI routes', async () => {
  const { ask } = await rig();
  expect((await ask('GET', '/openapi.json')).text).not.toContain('/openai/');
});
