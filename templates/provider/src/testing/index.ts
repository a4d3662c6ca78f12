import type { ProviderTesting } from '@cobbler/agent/testing';
import { mockWire } from '@cobbler/agent/testing';

/** The mock of the wire: writes the responses that the wire reads, and reads the requests that it writes. */
export const yourOwnTesting: ProviderTesting = mockWire({
  provider: 'your-own',
  framing: 'sse', // The same as in the wire.
  // What every request must have besides its body, from the documentation of the service. The mock rejects other
  // requests. Other fields: headers (such as the version of the API), query, contentType, isSigned.
  request: { path: '/v1/answer', key: { header: 'authorization', prefix: 'Bearer ' } },
  // Features that the service lacks, each with the reason, such as: sampling: 'It has no temperature.' See the names
  // of `UnsupportedFeature` before the first run. Each entry skips cases; at most six are allowed.
  lacks: {},
  read() {
    // Argument: the body of a request, of the type `Body` in `mockWire<Body>({ … })`.
    throw new Error(
      'src/testing/index.ts, read: return the request as { model, system, tools, toolChoice, turns … }.',
    );
  },
  // The service's response to an invalid request. A mock that accepts everything proves little.
  refuse: () => undefined,
  begin() {
    // Argument: the complete response, as { blocks, stop, usage, model }.
    throw new Error('src/testing/index.ts, begin: return the payloads that start a response, if any.');
  },
  open() {
    // Arguments: (at, block), where a block is text, reasoning or a call. A block may be reported twice, or not at
    // all.
    throw new Error('src/testing/index.ts, open: return the payloads that start a block.');
  },
  delta() {
    // Arguments: (at, text, block).
    throw new Error('src/testing/index.ts, delta: return the payloads of a part of a block.');
  },
  // For services that sign their reasoning, or mark the end of a block: seal(at, seal) and close(at, block).
  end() {
    // Argument: the complete response.
    throw new Error(
      'src/testing/index.ts, end: return the payloads with the usage, the stop reason and the end.',
    );
  },
  // Payloads that the wire must ignore: keep-alives, and unknown kinds without data.
  noise: () => [{ type: 'of-a-later-version' }],
  // Payloads of unknown kinds with data, which make a response invalid.
  unknown: () => [{ type: 'of-a-later-version', content: 'from the future' }],
  error() {
    // Argument: the fault. If failures in the middle of a response have another format, add fail(fault).
    throw new Error(
      'src/testing/index.ts, error: return the response of a failed request, as { body, status, headers }.',
    );
  },
});
