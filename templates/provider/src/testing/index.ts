import type { ProviderTesting } from '@cobbler/agent/testing';

/** The inverse of the wire: writes the answers that it reads, and reads the requests that it writes. */
export const yourOwnTesting: ProviderTesting = {
  provider: 'your-own',
  contentType: 'text/event-stream',
  // What the service cannot say, each with the reason, such as: documents: 'It takes pictures but no papers.'
  // Look through the names of `Lack` before the first run; what stands here switches cases off, and five are the most.
  lacks: {},
  frame: (payload) => `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`,
  noise: () => [{ kind: 'of-a-later-version' }],
  // What the real service would refuse, with its words: one that accepts everything proves little.
  refuse: () => undefined,
  read() {
    // Given: the body of a request.
    throw new Error(
      'src/testing/index.ts, read: give the request back as { model, system, tools, toolChoice, turns … }.',
    );
  },
  begin() {
    // Given: the whole answer, as { blocks, stop, usage, model }.
    throw new Error('src/testing/index.ts, begin: give the payloads that open an answer; there may be none.');
  },
  line() {
    // Given: (step, answer). A step is open, delta, seal or close of the block answer.blocks[step.at], or the end,
    // which tells usage and stop. A block may be told without its open or its close, or be told them twice.
    throw new Error('src/testing/index.ts, line: give the payloads that tell one step of an answer.');
  },
  error() {
    // Given: (fault, secret).
    throw new Error('src/testing/index.ts, error: give a failed request as { status, headers, body }.');
  },
  fail() {
    // Given: the fault.
    throw new Error('src/testing/index.ts, fail: give the payloads of a failure in the middle of an answer.');
  },
};
