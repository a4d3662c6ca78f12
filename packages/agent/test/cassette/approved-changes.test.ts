import { expect, test } from 'vitest';
import type { PlannedChange } from '../../src/index.ts';
import { callBlock, replies, scriptResponse } from '../../src/testing/index.ts';
import type { Scene } from './rig.ts';
import { apiKey, record, replay } from './rig.ts';

const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const changes = [{ target: 'a', before: `key=${apiKey}`, after: 'unlocked' }];

/** A tool whose change contains a secret, and which a user allows. */
function scene(approved: (readonly PlannedChange[] | undefined)[]): Scene {
  const script = [
    scriptResponse(['First.', callBlock('w', 'write', { path: 'a' })]),
    scriptResponse(['Done.']),
  ];
  return {
    script: script.map((response) => replies(response)),
    tools: () => [
      {
        name: 'write',
        description: 'Writes.',
        parameters,
        effect: 'once',
        preview: async () => ({ summary: '+1', changes }),
        async execute(_args, context) {
          approved.push(context.approved);
          return 'Written.';
        },
      },
    ],
    options: { gate: () => ({ type: 'ask' }), attended: true },
    reacts(event, control) {
      if (event.type === 'approval_requested') control.decide(event.approvalId, { decision: 'allow' });
    },
  };
}

test('a recording contains hashes of a change, and its tool receives the texts that the user allowed', async () => {
  const approved: (readonly PlannedChange[] | undefined)[] = [];
  const { cassette, result } = await record(scene(approved));
  expect(result.status).toBe('complete');
  expect(approved).toEqual([changes]);
  expect(cassette).not.toContain('unlocked');
  expect(cassette).not.toContain(apiKey);
  const { tape, result: again } = await replay(scene(approved), cassette);
  tape.check();
  expect(again.status).toBe('complete');
});
