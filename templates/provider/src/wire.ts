import type { Wire } from '@cobbler/agent/provider';

/** Creates the wire, which defines how requests to Your Own are written and responses are read. */
export function yourOwnWire(baseURL: string, apiKey: string): Wire {
  return {
    provider: 'your-own',
    // 'sse', 'ndjson', or a framer that splits bytes into payloads; docs/writing-a-provider.md describes its
    // requirements.
    framing: 'sse',
    endpoint: {
      url: `${baseURL}/v1/answer`,
      headers: { authorization: `Bearer ${apiKey}` },
      secrets: [apiKey],
    },
    envelope() {
      // Argument: { model, system, tools, toolChoice, maxTokens, temperature, output }.
      throw new Error(
        'src/wire.ts, envelope: return the request as { body, turns }, where turns names the field for the conversation.',
      );
    },
    turn() {
      // Argument: { side, parts }, with parts of the types text, file, reasoning, opaque, tool_call and tool_result.
      // A tool_result has its own content, text and files, and none of it may be lost.
      throw new Error(
        'src/wire.ts, turn: return one turn as items of that field, each part in the format of the service.',
      );
    },
    event(payload, out) {
      // With 'sse', text instead of JSON comes from a proxy, and the response is incomplete.
      if (typeof payload === 'string')
        return out.fail({ kind: 'broken', message: 'Your Own sent something that is not JSON.' });
      // `out` is a ResponseSink, one per response. The payload can be any value.
      throw new Error(
        'src/wire.ts, event: report one payload of the response to `out`; call nothing for unknown ones.',
      );
    },
    fault() {
      // Arguments: (status, body, header). Throw for a body that is not from the service: a proxy uses another
      // format.
      throw new Error(
        'src/wire.ts, fault: return the error of a failed request as { message }, with a kind if the status does not determine it.',
      );
    },
  };
}
