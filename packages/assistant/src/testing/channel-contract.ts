import { amount, callable, mapOf, read, record, text } from '@cobbler/agent/input';
import type { ContractCase } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import type { ChannelCase } from './channel-contract/case.ts';
import { changeCases } from './channel-contract/changes.ts';
import { partCases } from './channel-contract/pieces.ts';
import { sendCases } from './channel-contract/sends.ts';
import type { ChannelSubject } from './channel-contract/stand.ts';

const definitions: readonly ChannelCase[] = [...partCases, ...sendCases, ...changeCases];

const readSubject = record<ChannelSubject>(
  { name: text, open: callable, longest: amount, visible: callable, lacks: mapOf(text) },
  ['name', 'open'],
);

/** Returns the requirements of every channel as test cases for any test runner. */
export function channelContract(given: ChannelSubject): ContractCase[] {
  const subject = read(given, readSubject, 'subject');
  return definitions.map(({ group, name, needs, run }) => {
    const off = needs.map((need) => subject.lacks?.[need]).find((reason) => reason !== undefined);
    return {
      group,
      name,
      ...defined({ off }),
      async run() {
        const fixture = await subject.open();
        try {
          await run(fixture, subject);
        } finally {
          await fixture.close?.();
        }
      },
    };
  });
}
