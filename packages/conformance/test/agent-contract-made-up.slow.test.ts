import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agentContract } from '../src/agent/agent-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';
import { lantern } from './subjects.ts';

describe('the contract over a made-up wire of lines of JSON', () => {
  describeContract(agentContract(lantern), { describe, it });
});

describe('a provider for a made-up service', () => {
  const lines = (file: string) =>
    readFileSync(new URL(`./made-up-wire/${file}`, import.meta.url), 'utf8')
      .trimEnd()
      .split('\n').length;

  it('takes less than 90 lines', () => {
    expect(lines('wire.ts')).toBeLessThan(90);
  });

  it('takes less than 150 lines together with its inverse', () => {
    expect(lines('wire.ts') + lines('testing.ts')).toBeLessThan(150);
  });
});
