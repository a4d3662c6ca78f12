import type { Wire } from '@cobbler/agent/provider';

/** How a request to Your Own is written and its answer is read. */
export function yourOwnWire(baseURL: string, apiKey: string): Wire {
  return {
    provider: 'your-own',
    // 'sse', 'ndjson', or a framer that makes payloads of bytes: docs/writing-a-provider.md says what that has to do.
    framing: 'sse',
    endpoint: {
      url: `${baseURL}/v1/answer`,
      headers: { authorization: `Bearer ${apiKey}` },
      secrets: [apiKey],
    },
    envelope() {
      // Given: { model, system, tools, toolChoice, maxTokens, temperature, output }.
      throw new Error(
        'src/wire.ts, envelope: give the request as { body, turns }, where turns names the field for the conversation.',
      );
    },
    turn() {
      // Given: { side, parts }, with parts of the kinds text, image, document, reasoning, tool_call, tool_result.
      throw new Error('src/wire.ts, turn: give one turn as items of that field, each part in your words.');
    },
    event() {
      // Given: (payload, out). Out takes text, reasoning, seal, call, input, close, usage, model, stop, end and fail.
      throw new Error(
        'src/wire.ts, event: tell `out` what one payload of the answer says; unknown ones nothing.',
      );
    },
    fault() {
      // Given: (status, body, header). Throw for a body that is not of the service: a proxy has other words.
      throw new Error(
        'src/wire.ts, fault: read what a failed request says, as { message }, with a kind where the status does not tell.',
      );
    },
  };
}
