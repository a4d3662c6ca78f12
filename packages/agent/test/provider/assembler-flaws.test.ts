import { describe, expect, test } from 'vitest';
import { Assembly } from '../../src/provider/response/assembler.ts';
import type { ResponseSink } from '../../src/provider/wire/wire.ts';

const plain = { provider: 'plain' };

describe('a response is invalid [P4, P27]', () => {
  test.each<[string, (out: ResponseSink) => void]>([
    ['if a numbered block starts out of order', (out) => out.text(1, 'x')],
    [
      'if a number is skipped',
      (out) => {
        out.text(0, 'x');
        out.text(2, 'y');
      },
    ],
    [
      'if text follows the end of its numbered block',
      (out) => {
        out.text(0, 'x');
        out.close(0);
        out.text(0, 'y');
      },
    ],
    [
      'if a numbered block continues as another kind',
      (out) => {
        out.text(0, 'x');
        out.reasoning(0, 'y');
      },
    ],
    ['if a numbered block ends without a start', (out) => out.close(0)],
    [
      'if a numbered block ends twice',
      (out) => {
        out.text(0, 'x');
        out.close(0);
        out.close(0);
      },
    ],
    [
      'if a block is announced again before its content',
      (out) => {
        out.begin(0, 'text');
        out.begin(0, 'text');
      },
    ],
    [
      'if it has two different stop reasons',
      (out) => {
        out.text(0, 'x');
        out.stop('complete');
        out.stop('max_tokens');
      },
    ],
    [
      'if a block is announced again after its content',
      (out) => {
        out.begin('a', 'text');
        out.text('a', 'x');
        out.begin('a', 'text');
      },
    ],
    [
      'if a block is announced again after its end',
      (out) => {
        out.begin(0, 'text');
        out.close(0);
        out.begin(0, 'text');
      },
    ],
    [
      'if an announced block does not end',
      (out) => {
        out.begin(0, 'text');
        out.text(0, 'x');
        out.end('complete');
      },
    ],
    [
      'if provider metadata follows the end of its opaque block',
      (out) => {
        out.begin(0, 'opaque');
        out.seal(0, 'x');
        out.close(0);
        out.seal(0, 'y');
      },
    ],
    [
      'if an opaque block continues as text',
      (out) => {
        out.begin(0, 'opaque');
        out.reasoning(0, 'y');
      },
    ],
    ['if arguments have no call', (out) => out.input(0, '{}')],
    [
      'if arguments with a key never get a call',
      (out) => {
        out.input('c', '{}');
        out.end('tool_use');
      },
    ],
    [
      'if two calls have the same number',
      (out) => {
        out.call(0, 'c1', 'look');
        out.call(0, 'c2', 'look');
      },
    ],
    [
      'if arguments follow the end of their call',
      (out) => {
        out.call('c', 'c1', 'look');
        out.close('c');
        out.input('c', '{}');
      },
    ],
    ['if it ends without a stop reason', (out) => out.end()],
    ['if it stops for calls that it does not contain', (out) => out.end('tool_use')],
    [
      'if it has text and stops for calls that it does not contain',
      (out) => {
        out.text(0, 'x');
        out.end('tool_use');
      },
    ],
  ])('%s', (_why, say) => {
    const assembly = new Assembly(plain);
    say(assembly);
    expect(assembly.fault).toMatchObject({ kind: 'broken', message: expect.stringMatching(/invalid/) });
    expect(assembly.hasEnded).toBe(false);
  });

  test.each<[string, string | undefined, (out: ResponseSink) => void]>([
    [
      'if text follows its end',
      'after its end',
      (out) => {
        out.text(0, 'x');
        out.end('complete');
        out.text(0, 'y');
      },
    ],
    [
      'if a call follows its end',
      'after its end',
      (out) => {
        out.text(0, 'x');
        out.end('complete');
        out.call(1, 'c1', 'look');
      },
    ],
    [
      'if its blocks have no readable content',
      'blocks: 1',
      (out) => {
        out.begin(0, 'text');
        out.close(0);
        out.end('complete');
      },
    ],
    [
      'if it has many output tokens and no content, even if usage arrives later',
      'output tokens: 17',
      (out) => {
        out.end('complete');
        out.usage({ inputTokens: 1, outputTokens: 17 });
      },
    ],
    [
      'if it ends twice',
      'ended twice',
      (out) => {
        out.text(0, 'x');
        out.end('complete');
        out.end('complete');
      },
    ],
    [
      'but not if a service ends its turn without text',
      undefined,
      (out) => {
        out.text(0, '');
        out.usage({ outputTokens: 900, reasoningTokens: 884 });
        out.end('complete');
        out.text(0, '');
      },
    ],
  ])('%s', (_why, flaw, say) => {
    const assembly = new Assembly(plain);
    say(assembly);
    if (flaw === undefined) expect(assembly.flaw).toBeUndefined();
    else expect(assembly.flaw).toContain(flaw);
  });
});

test.each([
  ['a text', (out: ResponseSink) => out.text(0, 7 as never)],
  ['reasoning', (out: ResponseSink) => out.reasoning(0, null as never)],
  ['an arguments delta', (out: ResponseSink) => out.input(0, {} as never)],
  ['the id of a call', (out: ResponseSink) => out.call(0, [] as never, 'look')],
  ['the message of a failure', (out: ResponseSink) => out.fail({ message: 7 as never })],
  ['the name of a call', (out: ResponseSink) => out.call(0, 'c1', undefined as never)],
])('throws a TypeError if %s is not a string', (_what, say) => {
  expect(() => say(new Assembly(plain))).toThrow(TypeError);
});
