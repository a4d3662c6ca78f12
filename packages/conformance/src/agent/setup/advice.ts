import { ContractFailure } from '@cobbler/agent/testing';

const answer = 'Look at `event` of the wire, and at `open`, `delta` and `end` of its inverse.';
const request = 'Look at `envelope` of the wire, and at `read` of its inverse.';
const history = 'Look at `turn` of the wire, and at `read` of its inverse.';
const failure = 'Look at `fault` of the wire and at what its `event` gives to `out.fail`.';
const bytes =
  "Look at the framing: 'sse' and 'ndjson' pass; a framer of your own has to do what docs/writing-a-provider.md says.";
const kit =
  'The kit sees to it for a wire without `send`: a failure here often comes of one in the group `answers`.';

/** Where an author looks first, by the group of a case. */
const byGroup: Readonly<Record<string, string>> = {
  answers: answer,
  arguments: 'Hand the fragments of a call on to `out.input` as they come, unread.',
  bodies: `${failure} For a body that is not of the service it throws, or gives no text as message (rule 7).`,
  blocks:
    'Look at `event`: blocks may interleave, come twice, never be opened or never be closed. What is added to a block that was never opened is text.',
  calls: answer,
  capabilities: `${history} What the service cannot do is taken back in its capabilities and named in \`lacks\`.`,
  config: request,
  cuts: 'Call `out.end` for what the service says last, and for nothing before it (rule 3).',
  ends: 'Call `out.end` for what the service says last, and for nothing before it (rule 3).',
  errors: failure,
  faults: failure,
  frames: bytes,
  framing: bytes,
  fuzz: 'Let `event` take whatever comes, and call nothing for what it does not know (rule 6).',
  history,
  hostile: `${bytes} Where an error has another shape than yours, \`fault\` throws (rule 7).`,
  ids: history,
  laws: 'The wire and its inverse differ in one of many random answers or conversations; the groups before this one tell more plainly where.',
  lives:
    'One of many random sessions was refused, or read otherwise than it was told; the groups before this one tell more plainly where.',
  media: history,
  output: request,
  request,
  'retry-after': 'Give `retryAfterMs` in milliseconds, from `fault` and in `out.fail` (rule 8).',
  seals: 'What goes to `out.seal` has to come back from `turn` as it was (rule 5).',
  secrets: 'Name every secret in `endpoint.secrets` (rule 9).',
  status: failure,
  stops:
    'Translate every reason of the service in `event`; only one that wants calls run is `tool_use` (rule 1).',
  stream: `${answer} A text may be told without its open, and blocks in turns.`,
  waits:
    'The kit sees to it for a wire without `send`; but what calls something on `out` is progress, and `noise` is to be none.',
  usage:
    '`inputTokens` holds what was cached, and counts are absolute (rule 2): look at `out.usage` in `event`.',
};

/** Runs a case; what it fails with says where to look as well. */
export async function advised(group: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof ContractFailure) error.message = `${error.message}. ${byGroup[group] ?? kit}`;
    throw error;
  }
}
