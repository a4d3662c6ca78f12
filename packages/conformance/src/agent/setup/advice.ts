import { ContractFailure } from '@cobbler/agent/testing';

const answer = 'Check `event` of the wire, and `open`, `delta` and `end` of its mock wire.';
const request = 'Check `envelope` of the wire, and `read` of its mock wire.';
const history = 'Check `turn` of the wire, and `read` of its mock wire.';
const failure = 'Check `fault` of the wire, and what its `event` passes to `out.fail`.';
const bytes =
  "Check the framing: 'sse' and 'ndjson' pass; a custom framer must do all that docs/writing-a-provider.md lists.";
const createAgentAdvice =
  '`createAgent` does this for every wire without `send`, so the cause is often a failure in the group `answers`.';

/** Advice for authors, by the group of a case. */
const byGroup: Readonly<Record<string, string>> = {
  answers: answer,
  arguments: 'Pass the fragments of a call to `out.input` as they arrive, without parsing them (rule 4).',
  bodies: `${failure} For a body in another format \`fault\` may throw or return no message (rule 8).`,
  blocks:
    'Check `event`: blocks may interleave, arrive twice, or lack an opening or a close. A delta for a block that was never opened is text.',
  calls: answer,
  capabilities: `${history} Remove what the service does not support from the capabilities, and declare it in \`lacks\`.`,
  config: request,
  credentials:
    'Check `authorize` of the wire: `cachedCredentials` keeps credentials and renews them after a rejection.',
  cuts: 'Call `out.end` only for the payload that ends the response (rule 3).',
  ends: 'Call `out.end` only for the payload that ends the response (rule 3).',
  errors: failure,
  faults: failure,
  frames: bytes,
  framing: bytes,
  fuzz: '`event` must accept any payload and call nothing for an unknown one (rule 6).',
  history,
  hostile: `${bytes} For an error in another format \`fault\` may throw (rule 8).`,
  ids: history,
  laws: 'The wire and its mock wire disagree on a random response or conversation. The groups before this one show the cause more clearly.',
  lives:
    'A request of a random session was rejected or read incorrectly. The groups before this one show the cause more clearly.',
  media: history,
  output: request,
  request,
  'retry-after': 'Return `retryAfterMs` in milliseconds, from `fault` and in `out.fail` (rule 9).',
  seals: '`turn` must send back unchanged what `event` passed to `out.seal` (rule 5).',
  secrets: 'List every secret in `endpoint.secrets` (rule 10).',
  status: failure,
  stops:
    'Map every stop reason of the service in `event`; only one that requests tool calls is `tool_use` (rule 1).',
  stream: `${answer} A text may arrive without its opening, and blocks may interleave.`,
  waits:
    '`createAgent` does this for every wire without `send`. Any call on `out` counts as progress, so `noise` must cause none.',
  usage:
    '`inputTokens` includes cached tokens, and counts are absolute (rule 2): check `out.usage` in `event`.',
};

/** Runs a case and adds advice to the message of a failure. */
export async function advised(group: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof ContractFailure)
      error.message = `${error.message}. ${byGroup[group] ?? createAgentAdvice}`;
    throw error;
  }
}
