import { describe, expect, it } from 'vitest';
import { firstSteps } from '../src/report/first-steps.ts';

const problem = (message: string) => ({ group: 'answers', name: 'a case', message });

describe('the first steps of a new package', () => {
  it('are at most three parts, in the recommended order, each once', () => {
    const steps = firstSteps([
      problem('src/wire.ts, fault: read the failure.'),
      problem('src/testing/index.ts, read: give the request back.'),
      problem('{"message":"src/wire.ts, turn: give one turn.","cause":{}}'),
      problem('src/wire.ts, turn: give one turn.'),
      problem('src/wire.ts, event: tell the payload.'),
    ]);
    expect(steps.slice(1, -1)).toEqual([
      '  1. src/wire.ts, turn: give one turn',
      '  2. src/testing/index.ts, read: give the request back',
      '  3. src/wire.ts, event: tell the payload',
    ]);
    expect(steps).toHaveLength(5);
  });

  it('are empty if all parts are written', () => {
    expect(firstSteps([problem('expected 2, got 3')])).toEqual([]);
  });
});
