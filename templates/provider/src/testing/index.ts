import type { ProviderTesting } from '@cobbler/agent/testing';
import { mockWire } from '@cobbler/agent/testing';

/** The inverse of the wire: writes the answers that it reads, and reads the requests that it writes. */
export const yourOwnTesting: ProviderTesting = mockWire({
  provider: 'your-own',
  framing: 'sse', // As the wire has it.
  // What the service cannot say, each with the reason, such as: sampling: 'It has no temperature.'
  // Compare the names of `UnsupportedFeature` before the first run. Each entry switches cases off; at most five.
  lacks: {},
  read() {
    // Given: the body of a request, of the type `Body` in `mockWire<Body>({ … })`.
    throw new Error(
      'src/testing/index.ts, read: give the request back as { model, system, tools, toolChoice, turns … }.',
    );
  },
  // What the real service says to a request that it does not take: one that accepts everything proves little.
  refuse: () => undefined,
  begin() {
    // Given: the whole answer, as { blocks, stop, usage, model }.
    throw new Error('src/testing/index.ts, begin: give the payloads that open an answer; there may be none.');
  },
  open() {
    // Given: (at, block), where a block is a text, reasoning or a call. It may be told twice, or left untold.
    throw new Error('src/testing/index.ts, open: give the payloads with which a block begins.');
  },
  delta() {
    // Given: (at, text, block).
    throw new Error('src/testing/index.ts, delta: give the payloads of a piece of a block.');
  },
  // Services that sign their reasoning, or say when a block is whole: seal(at, seal) and close(at, block).
  end() {
    // Given: the whole answer.
    throw new Error(
      'src/testing/index.ts, end: give the payloads that tell usage, why it stops, and the end.',
    );
  },
  noise: () => [{ kind: 'of-a-later-version' }],
  error() {
    // Given: the fault. Where failures in the middle of an answer look otherwise, add fail(fault).
    throw new Error(
      'src/testing/index.ts, error: give what a failed request says, as { body, status, headers }.',
    );
  },
});
