import type { MockedSubject } from '@cobbler/conformance/msw';
import { payloadsOf, withoutPauses } from '@cobbler/conformance/msw';
import { HttpResponse, http } from 'msw';
import { createClaudeBatch } from '../src/batch.ts';
import { claudeTesting } from '../src/testing/index.ts';

type Fields = Record<string, unknown>;

interface Entry {
  readonly custom_id: string;
  readonly params: object;
}

/** Claude in batches, whose requests the mock of the streaming service answers. */
export const batchSubject: MockedSubject = {
  name: 'claude batch',
  create: (link) => createClaudeBatch(withoutPauses(link)),
  testing: claudeTesting,
  handlers(baseURL, service) {
    const batches = new Map<string, readonly object[]>();
    const address = `${baseURL}/v1/messages/batches`;
    return [
      http.post(address, async (call) => {
        const { requests } = (await call.request.clone().json()) as { requests: readonly Entry[] };
        const results: object[] = [];
        for (const { custom_id, params } of requests) {
          const body = JSON.stringify({ ...params, stream: true });
          const url = call.request.url.replace(/\/batches$/, '');
          const request = new Request(url, { method: 'POST', headers: call.request.headers, body });
          const response = await service({ ...call, request });
          if (!(response instanceof Response) || response.type === 'error') return HttpResponse.error();
          // Like the service, the mock refuses a batch as it refuses a request.
          if (!response.ok) return response;
          const result = resultOf(await payloadsOf(response));
          if (result === undefined) return HttpResponse.error();
          results.push({ custom_id, result });
        }
        const id = `msgbatch_${batches.size}`;
        batches.set(id, results);
        return HttpResponse.json({ id, processing_status: 'in_progress' });
      }),
      http.get(`${address}/:id`, () => HttpResponse.json({ processing_status: 'ended' })),
      http.get(`${address}/:id/results`, ({ params }) => {
        const results = batches.get(String(params['id'])) ?? [];
        return HttpResponse.text(results.map((line) => `${JSON.stringify(line)}\n`).join(''));
      }),
      http.post(`${address}/:id/cancel`, () => HttpResponse.json({})),
    ];
  },
};

/** Returns the result for a streamed response; undefined if it is not whole. */
function resultOf(events: readonly Fields[] = []): object | undefined {
  const end = events.findIndex((event) => event?.['type'] === 'error' || event?.['type'] === 'message_stop');
  const last = events[end];
  if (last?.['type'] === 'error') return { type: 'errored', error: last };
  if (last === undefined) return undefined;
  return { type: 'succeeded', message: events.slice(0, end).reduce<Fields>(added, {}) };
}

/** Adds an event of a stream to a message, as the service's own client does. */
function added(message: Fields, event: Fields): Fields {
  const content = (message['content'] ?? []) as Fields[];
  const at = Number(event?.['index']);
  const block = content[at] ?? {};
  switch (event?.['type']) {
    case 'message_start':
      return event['message'] as Fields;
    case 'content_block_start':
      return { ...message, content: content.toSpliced(at, 1, { ...(event['content_block'] as Fields) }) };
    case 'content_block_delta':
      return { ...message, content: content.toSpliced(at, 1, extended(block, event['delta'] as Fields)) };
    case 'content_block_stop': {
      const { partial, ...rest } = block;
      if (partial === undefined) return message;
      return { ...message, content: content.toSpliced(at, 1, { ...rest, input: parsed(String(partial)) }) };
    }
    case 'message_delta': {
      const usage = { ...(message['usage'] as Fields), ...(event['usage'] as Fields) };
      return { ...message, ...(event['delta'] as Fields), usage };
    }
    default:
      return message;
  }
}

function extended(block: Fields, { type: _, partial_json: json, ...delta }: Fields): Fields {
  if (json !== undefined) return { ...block, partial: `${block['partial'] ?? ''}${json}` };
  const [[name, value] = []] = Object.entries(delta);
  return name === undefined ? block : { ...block, [name]: `${block[name] ?? ''}${value}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
