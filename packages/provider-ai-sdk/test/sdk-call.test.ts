import type { RawResponse } from '@cobbler/agent/provider';
import { describe, expect, test } from 'vitest';
import { anthropicModel } from '../src/anthropic.ts';
import { opener } from '../src/http/model-source.ts';
import { callSdk } from '../src/http/sdk-call.ts';

const { model } = anthropicModel({ env: {}, apiKey: 'sk-test' });
const call = { prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Go.' }] }] };

/** Returns a response whose body fails after these frames. */
function breaking(frames: string): RawResponse {
  return {
    status: 200,
    headerNames: ['content-type'],
    header: (name) => (name === 'content-type' ? 'text/event-stream' : undefined),
    async read(onChunk) {
      onChunk(new TextEncoder().encode(frames));
      throw new Error('reset');
    },
    close() {},
  };
}

const started = `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}

`;

describe('the transport of an SDK call', () => {
  test('reports a broken connection with its own error [P5]', async () => {
    const signal = new AbortController().signal;
    const response = await callSdk(call, {
      open: opener(model),
      transport: async () => breaking(started),
      signal,
    });
    await expect(response.read(() => {})).rejects.toThrow('reset');
  });

  test('returns an error response unchanged', async () => {
    const refused: RawResponse = { ...breaking(''), status: 503 };
    const signal = new AbortController().signal;
    const response = await callSdk(call, { open: opener(model), transport: async () => refused, signal });
    expect(response.status).toBe(503);
  });

  test('reports a failed connection with its own error [P5]', async () => {
    const signal = new AbortController().signal;
    const transport = () => Promise.reject(new Error('nothing listens'));
    await expect(callSdk(call, { open: opener(model), transport, signal })).rejects.toThrow(
      'nothing listens',
    );
  });
});
