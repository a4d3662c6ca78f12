import { describe } from 'vitest';
import { contractSuite } from './contract-suite.ts';
import { contracts } from './contracts.ts';

/** The seed requirement that a port stands for. */
const requirement: Readonly<Record<string, string>> = {
  messages: 'S3.10 S3.11',
  chats: 'S3.10',
  outbox: 'S3.1',
  memory: 'S3.12 S3.13',
};

// Channels and logs of turns have files of their own.
for (const { name, cases } of contracts) {
  const port = name.split(' ')[0] ?? '';
  if (port in requirement) describe(`${requirement[port]} ${name}`, () => contractSuite(cases()));
}
