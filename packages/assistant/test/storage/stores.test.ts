import { describeContract } from '@cobbler/conformance';
import { describe, it } from 'vitest';
import { contracts } from '../support/contracts.ts';

/** Ports that this file tests; channels and logs of turns have their own test files. */
const ports = ['messages', 'chats', 'outbox', 'memory'];

for (const { name, cases } of contracts)
  if (ports.includes(name.split(' ')[0] ?? ''))
    describe(name, () => describeContract(cases(), { describe, it }));
