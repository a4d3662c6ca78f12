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
      // Given: { side, parts }, with parts of the kinds text, image, document, reasoning, opaque, tool_call, tool_result.
      // A tool_result has content of its own: texts, pictures and documents, none of which may get lost.
      throw new Error('src/wire.ts, turn: give one turn as items of that field, each part in your words.');
    },
    event(payload, out) {
      // With 'sse', words where JSON belongs come of something in between: the answer has a hole.
      if (typeof payload === 'string')
        return out.fail({ kind: 'broken', message: 'Your Own sent something that is not JSON.' });
      // Out takes text, reasoning, call, delta, input, seal, close, skip, usage, model, stop, end and fail. The payload
      // may be anything, and there is one `out` for each answer.
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
