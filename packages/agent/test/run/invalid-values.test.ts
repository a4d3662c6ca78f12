import { describe, expect, it } from 'vitest';
import { Executor, userMessage } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

describe('values that were accepted although nothing could use them', () => {
  it('rejects the content of a message that is neither text nor parts [P26]', () => {
    expect(() => userMessage(5 as never)).toThrow('content is invalid: it is 5.');
    expect(() => userMessage([{ type: 'text' }] as never)).toThrow('content[0].text is invalid');
  });

  it('rejects a hook with a misspelt function, which would never be called [P26]', () => {
    const hook = { name: 'guard', beforeRequests: () => undefined };
    expect(() => new Executor({ agent: scriptedModel([]), hooks: [hook] })).toThrow(
      'options.hooks[0].beforeRequests is invalid: it is a function. Use beforeRun, beforeRequest,',
    );
  });
});
