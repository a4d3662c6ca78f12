import { describe, expect, test } from 'vitest';
import { readFault } from '../src/fault.ts';

const body = (type: string, message: string) =>
  JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' });

describe('an HTTP failure', () => {
  test.each([
    [400, 'invalid_request_error', 'invalid'],
    [401, 'authentication_error', 'auth'],
    [402, 'billing_error', 'invalid'],
    [403, 'permission_error', 'auth'],
    [404, 'not_found_error', 'invalid'],
    [413, 'request_too_large', 'invalid'],
    [429, 'rate_limit_error', 'rate_limit'],
    [500, 'api_error', 'agent'],
    [504, 'timeout_error', 'agent'],
    [529, 'overloaded_error', 'busy'],
  ])('maps %i %s to %s and includes the message of the service', (status, type, kind) => {
    const fault = readFault(status, body(type, 'Such is life.'));
    expect(fault.kind).toBe(kind);
    expect(fault.message).toContain('Such is life.');
  });

  test('leaves the kind to the status for an unknown error type [S0.26]', () => {
    expect(readFault(418, body('teapot_error', 'Short and stout.')).kind).toBeUndefined();
  });

  test('describes a body that is not an error object by its status', () => {
    expect(readFault(502, '<html>Bad gateway</html>')).toEqual({
      message: 'Claude responded with status 502.',
    });
    expect(readFault(529, '').kind).toBe('busy');
    expect(readFault(500, '[1]').message).toBe('Claude responded with status 500.');
  });

  test('adds advice to the messages of common errors', () => {
    expect(readFault(401, body('authentication_error', 'invalid x-api-key')).message).toContain(
      'Check ANTHROPIC_API_KEY',
    );
    const long = readFault(
      400,
      body('invalid_request_error', 'prompt is too long: 200251 tokens > 200000 maximum'),
    );
    expect(long).toMatchObject({
      kind: 'too_long',
      message: expect.stringContaining("exceeds this model's context window"),
    });
    expect(readFault(413, body('request_too_large', 'Request exceeds the maximum size')).message).toContain(
      '32 MB',
    );
    expect(readFault(404, body('not_found_error', 'model: claude-x')).message).toContain('model: claude-x');
  });
});
