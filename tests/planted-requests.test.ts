import { userMessage } from '@cobbler/agent';
import type { Transport, TransportRequest } from '@cobbler/agent/provider';
import { handlerTransport, replies, scriptResponse, wireServer } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { helio, lantern, lanternWithPasses, scripted } from '../packages/conformance/test/subjects.ts';
import { subjects as claude } from '../packages/provider-claude/test/subjects.ts';
import { subjects as openai } from '../packages/provider-openai/test/subjects.ts';

const apiKey = 'sk-planted-0123456789';

type Headers = Record<string, string>;

/** Changes a request on its way to the service. */
type Mistake = (request: TransportRequest) => Pick<TransportRequest, 'url'> | { readonly headers: Headers };

const withHeaders =
  (change: (headers: Headers) => Headers): Mistake =>
  ({ headers }) => ({ headers: change({ ...headers }) });

const without = (name: string): Mistake => withHeaders(({ [name]: _, ...rest }) => rest);

/** Sends one request with a mistake and returns what the mock service noticed. */
async function noticed(subject: typeof lantern, mistake?: Mistake) {
  const server = wireServer(subject.testing, () => replies(scriptResponse(['Fine.'])), { secret: apiKey });
  const inner = handlerTransport(server.handler);
  const transport: Transport = (request) => inner({ ...request, ...mistake?.(request) });
  const agent = subject.create({
    baseURL: 'http://service.test',
    apiKey,
    transport,
    retry: { retries: 0 },
  });
  const outcome = await agent.run({ messages: [userMessage('Hello.')], tools: [] }).then(
    ({ content }) => content,
    (error: unknown) => (error instanceof Error && 'status' in error ? error.status : error),
  );
  return { outcome, complaint: server.exchanges[0]?.complaint };
}

describe.each([...claude, ...openai, scripted, lantern, lanternWithPasses, helio])(
  'the mock service of $name',
  (subject) => {
    const { key, headers = {}, isSigned } = subject.testing.request;

    test('accepts a correct request', async () => {
      expect(await noticed(subject)).toEqual({ outcome: 'Fine.', complaint: undefined });
    });

    const mistakes: Record<string, readonly [status: number, mistake: Mistake]> = {
      'another path': [404, ({ url }) => ({ url: `${url}s` })],
      'another content type': [
        415,
        withHeaders((all) => ({ ...all, 'content-type': 'application/x-www-form-urlencoded' })),
      ],
      ...Object.fromEntries(
        Object.keys(headers).flatMap((name) => [
          [`no ${name}`, [400, without(name)]],
          [`another ${name}`, [400, withHeaders((all) => ({ ...all, [name]: '1999-12-31' }))]],
        ]),
      ),
      ...(key && {
        'no key': [401, without(key.header)],
        'another key': [401, withHeaders((all) => ({ ...all, [key.header]: `${all[key.header]}9` }))],
        'the key in another header': [
          401,
          withHeaders(({ [key.header]: value = '', ...rest }) => ({ ...rest, 'x-other': value })),
        ],
      }),
      ...(key?.prefix && {
        [`no "${key.prefix}"`]: [401, withHeaders((all) => ({ ...all, [key.header]: apiKey }))],
      }),
      ...(isSigned && {
        'another address than the signed one': [401, ({ url }) => ({ url: `${url}?a=b` })],
        'no signature': [401, without('x-helio-proof')],
      }),
    };

    test.each(Object.entries(mistakes))('rejects a request with %s', async (_, [status, mistake]) => {
      const { outcome, complaint } = await noticed(subject, mistake);
      expect(outcome).toBe(status);
      expect(complaint).toMatch(new RegExp(`^refused with ${status}: `));
    });
  },
);

test('every service with an API version requires it', () => {
  expect(claude[0]?.testing.request.headers).toEqual({ 'anthropic-version': '2026-10-21' });
});
