import type { ProviderTesting } from '@cobbler/agent/testing';
import { describeWays } from '@cobbler/conformance/msw';
import { afterAll, describe, expect, it, test } from 'vitest';
import { subjects } from './subjects.ts';
import { checkTypes, ShapeSet } from './vendor-types.ts';

const requests = new ShapeSet();
const events = new ShapeSet();
const errors = new ShapeSet();

/** Records each request that the mock reads and each frame that it plays. */
function noted(testing: ProviderTesting): ProviderTesting {
  const note = (payloads: readonly unknown[], into: ShapeSet) => {
    for (const payload of payloads) into.add(payload);
    return payloads;
  };
  return {
    ...testing,
    begin: (answer) => note(testing.begin(answer), events),
    line(step, answer) {
      const payloads = testing.line(step, answer);
      // The mock ends such a response with a stop reason that the vendor's types do not define.
      return answer.stop === 'unknown' && step.type === 'end' ? payloads : note(payloads, events);
    },
    fail: (fault) => note(testing.fail(fault), errors),
    error(fault, secret) {
      const error = testing.error(fault, secret);
      errors.add(JSON.parse(error.body));
      return error;
    },
    refuse(body) {
      requests.add(body);
      return testing.refuse(body);
    },
  };
}

for (const subject of subjects) {
  describeWays(
    { ...subject, testing: noted(subject.testing) },
    { describe, it, afterAll },
    { print: console.log },
  );

  test('matches the vendor client’s types with every request and frame of the contract', async () => {
    expect(requests.size).toBeGreaterThan(10);
    expect(events.size).toBeGreaterThan(10);
    expect(errors.size).toBeGreaterThan(3);
    const complaints = await checkTypes(`
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/beta/messages';
import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import type { ErrorResponse } from '@anthropic-ai/sdk/resources/shared';

export const requests: MessageCreateParamsStreaming[] = [${requests.source()}];
export const events: RawMessageStreamEvent[] = [${events.source()}];
export const errors: ErrorResponse[] = [${errors.source()}];

// The check must reject an unknown field, an unknown nested field and an invalid value.
export const wrong: MessageCreateParamsStreaming[] = [
  // @ts-expect-error
  { model: 'm', max_tokens: 1, stream: true, messages: [], temperature: 1 },
  // @ts-expect-error
  { model: 'm', max_tokens: 1, stream: true, messages: [{ role: 'user', content: [{ type: 'text', txt: '' }] }] },
  // @ts-expect-error
  { model: 'm', max_tokens: 1, stream: true, messages: [], output_config: { effort: 'huge' } },
];
`);
    expect(complaints).toBe('');
  });
}
