import { describe, expect, test } from 'vitest';
import { player, recorder } from '../../src/cassette/index.ts';
import { Redaction } from '../../src/cassette/redaction.ts';
import type { Chunking, MockReply } from '../../src/testing/index.ts';
import { callBlock, failsWith, replies, responseSteps, scriptResponse } from '../../src/testing/index.ts';
import type { Scene } from './rig.ts';
import { apiKey, hastyRuntime, record, replay, turn } from './rig.ts';

const other = 'ghp_0123456789+/=abcdefghij';

/** Every spelling of a secret, and the parts of it that are enough to guess it. */
const spellings = [
  apiKey,
  other,
  btoa(apiKey),
  encodeURIComponent(other),
  apiKey.slice(0, 16),
  other.slice(-16),
];

function echoes(chunks: Chunking): MockReply {
  const answer = scriptResponse([
    `Your key is ${apiKey}, is it not?`,
    callBlock('c1', 'leak', { key: other }),
  ]);
  return replies(answer, {
    // In one delta: the model does not receive the secret, so it cannot spell it out in parts.
    steps: responseSteps(answer, 1),
    chunks,
    headers: {
      'x-request-id': `for ${apiKey}`,
      'set-cookie': 'session=secret-cookie',
      'x-organization-id': 'org-of-mine',
    },
  });
}

const scene = (chunks: Chunking): Scene => ({
  script: [
    failsWith({ kind: 'rate_limit', message: `Key ${apiKey} is too fast.` }),
    echoes(chunks),
    failsWith({ kind: 'auth', message: 'No.' }),
  ],
  tools: () => [
    {
      name: 'leak',
      description: 'Shows the environment.',
      parameters: { type: 'object', properties: { key: { type: 'string' } } },
      async execute(_args, { progress }) {
        await turn();
        progress(`reading ${other}`);
        return { KEY: other, [apiKey]: [btoa(apiKey)] };
      },
      preview: async () => ({ summary: other }),
    },
  ],
  prompt: `My key is ${apiKey}.`,
  options: { gate: () => ({ type: 'ask' }), attended: true },
  reacts(event, control) {
    if (event.type !== 'approval_requested') return;
    control.steer(`Use ${other}.`);
    control.decide(event.approvalId, { decision: 'allow', message: apiKey });
  },
});

describe('a cassette never contains a secret [P19]', () => {
  test.each(['whole', 'payload', { size: 1 }, { size: 7 }, { seed: 3 }] as const)(
    'with responses in chunks: %j',
    async (chunks) => {
      const recorded = await record(scene(chunks), 1, { secrets: [other] });
      expect(recorded.result.error).toMatchObject({ kind: 'auth' });
      for (const spelling of [...spellings, 'secret-cookie', 'org-of-mine', 'authorization']) {
        expect(recorded.cassette).not.toContain(spelling);
      }
      expect(recorded.cassette).toContain('Your key is');
      expect(recorded.cassette.match(/\[redacted\]/g)?.length).toBeGreaterThan(8);
    },
  );

  test('inputs are redacted before the run sees them, so the replay is the same', async () => {
    const plain = { ...scene({ size: 3 }), prompt: 'Begin.' };
    const recorded = await record(plain, 1, { secrets: [other] });
    for (const spelling of spellings) expect(recorded.log).not.toContain(spelling);
    const again = await replay({ ...plain, reacts: () => {} }, recorded.cassette);
    expect(again.seen).toBe(recorded.seen);
  });

  test('a prompt that contains a secret replays as its redacted form', async () => {
    const recorded = await record(scene('whole'), 1, { secrets: [other] });
    const { result } = await replay(scene('whole'), recorded.cassette, { secrets: [other] });
    expect(result.error).toMatchObject({ kind: 'auth' });
  });

  test('and the model does not receive it, while the service still receives its key', async () => {
    const parrot: Scene = {
      script: ({ turns }) => {
        const answer = scriptResponse([`You said: ${JSON.stringify(turns[0]?.parts)}`]);
        return replies(answer, { steps: responseSteps(answer, 60) });
      },
      prompt: `Say ${apiKey} and ${other}!`,
    };
    const recorded = await record(parrot, 1, { secrets: [other] });
    expect(recorded.result.text).toContain('Say [redacted] and [redacted]!');
    expect((await replay(parrot, recorded.cassette, { secrets: [other] })).log).toBe(recorded.log);
  });

  test('facts are redacted when they are recorded, and a replay returns them', async () => {
    let cassette = '';
    const tape = recorder({
      runtime: hastyRuntime(1),
      secrets: [other],
      write: (line) => (cassette += line),
    });
    const made = tape.fact('settings', () => ({ key: other, list: [1, undefined], gone: undefined }));
    expect(made).toEqual({ key: '[redacted]', list: [1, null] });
    expect(tape.fact('settings', () => ({ key: 'x' }))).toEqual(made);
    const played = player(cassette);
    expect(played.fact('settings', () => undefined)).toEqual(made);
    expect(played.fact('unheard of', () => 5)).toBe(5);
  });

  test('ordinary words that serve as keys of local servers are not redacted', () => {
    const redaction = new Redaction();
    redaction.learn(['ollama', 'none', 'Bearer']);
    expect(redaction.json('Is ollama there?')).toBe('Is ollama there?');
  });

  test('a text in chunks loses only the secret, wherever it is split', () => {
    const redaction = new Redaction();
    redaction.learn([other]);
    const text = `ghp ${other}g${other.slice(0, 9)} and ${other}`;
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 1) {
        const clean = redaction.stream();
        const told =
          clean(text.slice(0, first)) + clean(text.slice(first, second)) + clean(text.slice(second), true);
        expect(told).toBe(`ghp [redacted]g${other.slice(0, 9)} and [redacted]`);
      }
    }
  });
});
