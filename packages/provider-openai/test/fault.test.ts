import { expect, test } from 'vitest';
import { faultOf, streamFault } from '../src/fault.ts';

function body(error: unknown): string {
  return JSON.stringify({ error });
}

test('reports the message of the service and leaves the kind to the status', () => {
  const error = { message: 'Nope.', type: 'invalid_request_error', param: null, code: null };
  expect(faultOf(400, body(error))).toEqual({ message: 'Nope.' });
  expect(faultOf(401, body({ ...error, code: 'invalid_api_key' }))).toEqual({ message: 'Nope.' });
  expect(faultOf(429, body({ ...error, type: 'requests', code: 'rate_limit_exceeded' }))).toEqual({
    message: 'Nope.',
  });
});

test.each([
  [400, 'rate_limit_exceeded'],
  [401, 'server_error'],
  [403, 'invalid_value'],
  [429, 'authentication_error'],
  [500, 'invalid_api_key'],
])('leaves the kind to the status %i, even if the code %s means another kind', (status, code) => {
  expect(faultOf(status, body({ message: 'Nope.', code, details: [{ kind: 'busy' }] }))).toEqual({
    message: 'Nope.',
  });
});

test('treats an account without credit as invalid, not as a rate limit, so it is not retried [P6]', () => {
  const error = {
    message: 'You exceeded your current quota.',
    type: 'insufficient_quota',
    code: 'insufficient_quota',
  };
  expect(faultOf(429, body(error)).kind).toBe('invalid');
  expect(faultOf(429, body({ message: 'Empty.', code: 'credit_balance_exhausted' })).kind).toBe('invalid');
});

test('reports busy if the service says that it is overloaded, whatever the status', () => {
  expect(faultOf(503, body({ message: 'Full.', code: 'server_is_overloaded' })).kind).toBe('busy');
  expect(faultOf(500, body({ message: 'Slow down.', code: 'slow_down' })).kind).toBe('busy');
  expect(faultOf(503, 'upstream connect error').kind).toBeUndefined();
});

test('recognizes a conversation that is too long by code, type or message', () => {
  const said = [
    { message: 'Too long.', type: 'invalid_request_error', code: 'context_length_exceeded' },
    { message: "This model's maximum context length is 4096 tokens. You requested 5000.", code: 400 },
    { message: 'the request exceeds the available context size', type: 'exceed_context_size_error' },
  ];
  expect(said.map((error) => faultOf(400, body(error)).kind)).toEqual(['too_long', 'too_long', 'too_long']);
  expect(said.map((error) => streamFault(error).kind)).toEqual(['too_long', 'too_long', 'too_long']);
});

test.each([
  ['masked', 'sk-proj-********abcd.'],
  ['shortened', 'sk-proj-ab...cd.'],
  ['cut off', 'sk-proj-abcdefgh'],
  ['quoted', '"sk-proj-abcdefgh".'],
])('removes a %s key from the message of the service [P19]', (_how, key) => {
  const advice = 'You can find your API key at https://platform.openai.com.';
  const error = { message: `Incorrect API key provided: ${key} ${advice}`, code: 'invalid_api_key' };
  const clean = `Incorrect API key provided: (not shown). ${advice}`;
  expect(faultOf(401, body(error)).message).toBe(clean);
  expect(streamFault(error).message).toBe(clean);
});

test('reads the error formats of compatible servers', () => {
  const bodies = [
    '{"error":"model \\"x\\" not found"}',
    '{"object":"error","message":"model \\"x\\" not found","type":"NotFoundError","code":404}',
    '{"message":"model \\"x\\" not found"}',
  ];
  expect(bodies.map((text) => faultOf(404, text))).toEqual(Array(3).fill({ message: 'model "x" not found' }));
});

test('reports the text of a proxy page, and the status for an empty body', () => {
  const page =
    '<html><head><style>p { color: red }</style></head><body><h1>502</h1>\n<p>Bad Gateway</p></body></html>';
  expect(faultOf(502, page).message).toBe('The service responded with status 502: 502 Bad Gateway');
  expect(faultOf(502, '').message).toBe('The service responded with status 502 and no explanation.');
  expect(faultOf(502, 'x'.repeat(5000)).message).toHaveLength(340);
});

test('explains how to turn off summaries if the service rejects them', () => {
  const error = {
    message: 'Your organization must be verified.',
    param: 'reasoning.summary',
    code: 'unsupported_value',
  };
  expect(faultOf(400, body(error)).message).toContain("reasoningSummary to 'off'");
});
