import type { AgentError } from '@cobbler/agent';
import type { HarnessHandler } from '@cobbler/agent/harness';
import type { ContractCase } from '@cobbler/agent/testing';
import type { HarnessCase, HarnessNeed, OpenedHarness } from './case.ts';
import { busyCases, cancelCases, forkCases, steerCases } from './control.ts';
import type { HarnessSubject } from './environment.ts';
import { notes } from './environment.ts';
import { closeCases, deltaCases, promptCases, readerCases } from './prompts.ts';
import { storeCases } from './stored.ts';
import { approvalCases, handlerCases, resumeCases, toolCases, toolHandlerCases } from './tools.ts';

const definitions: readonly HarnessCase[] = [
  ...promptCases,
  ...readerCases,
  ...deltaCases,
  ...busyCases,
  ...cancelCases,
  ...steerCases,
  ...toolCases,
  ...approvalCases,
  ...resumeCases,
  ...forkCases,
  ...handlerCases,
  ...toolHandlerCases,
  ...closeCases,
  ...storeCases,
];

/**
 * Returns the cases that every harness must pass, whether a local loop, a remote server or another program
 * does the work. Each case opens a conversation with `harnessFixture`. A case that needs a missing feature is
 * skipped, and states the reason.
 */
export function harnessContract(subject: HarnessSubject): ContractCase[] {
  return definitions.map((definition) => bound(definition, subject));
}

function bound({ group, name, needs, run }: HarnessCase, subject: HarnessSubject): ContractCase {
  const lacking = needs.filter((need) => !has(subject, need));
  return {
    group,
    name,
    ...(lacking.length > 0 && {
      off: `the harness does not support ${lacking.map((need) => words[need]).join(', ')}`,
    }),
    async run() {
      const { received, handler } = notes();
      const { environment, reports } = await openHarness(subject, handler);
      try {
        await run({
          harness: environment.harness,
          received,
          reports,
          log: (sessionId = environment.harness.sessionId) => environment.log(sessionId),
          refuse: async (isFull) => environment.refuse?.(isFull),
          open: async (other = {}) => {
            const more = await openHarness(subject, other);
            return { ...more.environment, reports: more.reports };
          },
        });
      } finally {
        await environment.close();
      }
    },
  };
}

function has({ capabilities, ownTools, refuses }: HarnessSubject, need: HarnessNeed): boolean {
  if (need === 'refuses') return refuses === true;
  if (need === 'calls') return capabilities.tools || ownTools !== undefined;
  if (need === 'names') return capabilities.tools || ownTools === 'named';
  return capabilities[need];
}

const words: Readonly<Record<HarnessNeed, string>> = {
  tools: 'tools passed to it',
  gate: 'gates',
  steer: 'steering',
  fork: 'forks',
  deltas: 'text deltas',
  calls: 'tool calls',
  names: 'tool calls under the names of the fixture',
  refuses: 'a store that rejects appends',
};

async function openHarness(subject: HarnessSubject, handler: HarnessHandler): Promise<OpenedHarness> {
  const reports: AgentError[] = [];
  const environment = await subject.open({ handler, report: (error) => void reports.push(error) });
  return { environment, reports };
}
