import type { ContractCase } from '@cobbler/agent/testing';
import { expect } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import { cancelPointCases } from './cancel/cancel-points.ts';
import { cancelCases } from './cancel/cancels.ts';
import { clockCases } from './cancel/clocks.ts';
import { patienceCases } from './cancel/patience.ts';
import { waitCases } from './cancel/waits.ts';
import { bodyCases } from './failures/bodies.ts';
import { connectionCases } from './failures/connection.ts';
import { cutCases } from './failures/cuts.ts';
import { endCases } from './failures/ends.ts';
import { errorCases } from './failures/errors.ts';
import { hostileCases } from './failures/hostile.ts';
import { networkCases } from './failures/networks.ts';
import { retryCases } from './failures/retries.ts';
import { secretCases } from './failures/secrets.ts';
import { statusCases } from './failures/statuses.ts';
import { fuzzCases } from './laws/fuzz.ts';
import type { Seeds } from './laws/laws.ts';
import { lawCases } from './laws/laws.ts';
import { lifeCases } from './laws/lives.ts';
import { echoCases } from './requests/echoes.ts';
import { historyCases } from './requests/history.ts';
import { mediaCases } from './requests/media.ts';
import { repeatCases } from './requests/repeats.ts';
import { requestCases } from './requests/requests.ts';
import { sealCases } from './requests/seals.ts';
import { settingCases } from './requests/settings.ts';
import { argumentCases } from './responses/arguments.ts';
import { blockCases } from './responses/blocks.ts';
import { callCases } from './responses/calls.ts';
import { framingCases } from './responses/framing.ts';
import { oddFrameCases } from './responses/odd-frames.ts';
import { answerCases } from './responses/responses.ts';
import { streamCases } from './responses/streams.ts';
import { usageCases } from './responses/usage.ts';
import { wholeCases } from './responses/wholes.ts';
import { advised } from './setup/advice.ts';
import type { CaseDefinition, ContractSubject } from './setup/subject.ts';

/** How `agentContract` is run. */
export interface AgentContractOptions {
  /** How many things a wire may be unable to say before it fails the contract. Default 5. */
  readonly maxLacks?: number;
  /** Which random answers and histories are tried. Default: 100 of each. */
  readonly seeds?: Seeds;
}

/**
 * What every agent has to do, as a list of cases that any test runner can run: see {@link runContract} for
 * one that needs none. No case knows the provider; one is off only where the provider's inverse declares a
 * lack or the network cannot express it, and says so. Cases need Node.
 */
export function agentContract(subject: ContractSubject, options: AgentContractOptions = {}): ContractCase[] {
  const { maxLacks = 5, seeds = {} } = options;
  const definitions = [
    ...answerCases,
    ...streamCases,
    ...framingCases(subject.testing.contentType),
    ...usageCases,
    ...callCases,
    ...requestCases,
    ...historyCases,
    ...repeatCases,
    ...sealCases,
    ...errorCases,
    ...retryCases,
    ...cutCases,
    ...waitCases,
    ...cancelCases,
    ...secretCases,
    ...hostileCases,
    ...statusCases,
    ...endCases,
    ...blockCases,
    ...wholeCases,
    ...argumentCases,
    ...oddFrameCases,
    ...connectionCases,
    ...networkCases,
    ...bodyCases,
    ...cancelPointCases,
    ...patienceCases,
    ...clockCases,
    ...echoCases,
    ...mediaCases,
    ...settingCases,
    ...lawCases(seeds),
    ...fuzzCases(seeds),
    ...lifeCases(seeds),
  ];
  return [lackCase(subject, maxLacks), ...definitions.map((definition) => bound(definition, subject))];
}

function bound(definition: CaseDefinition, subject: ContractSubject): ContractCase {
  const { group, name, needs, sockets, run } = definition;
  const { network, testing } = subject;
  const reason =
    needs.map((need) => testing.lacks[need]).find((lack) => lack !== undefined) ??
    (sockets && network?.noSockets) ??
    network?.impossible?.[`${group}: ${name}`];
  return {
    group,
    name,
    run: () => advised(group, () => run(subject)),
    ...defined({ off: reason }),
  };
}

/** A contract that is mostly switched off proves nothing. */
function lackCase({ testing }: ContractSubject, maxLacks: number): ContractCase {
  return {
    group: 'lacks',
    name: `at most ${maxLacks} lacks, each with its reason`,
    async run() {
      const lacks = Object.entries(testing.lacks).filter(([, reason]) => reason !== undefined);
      const names = lacks.map(([name]) => name).join(', ');
      expect(lacks.length <= maxLacks, `at most ${maxLacks} lacks, found ${lacks.length}: ${names}`);
      expect(
        lacks.every(([, reason]) => reason.trim().length >= 10),
        `a reason for each lack of ${names}`,
      );
    },
  };
}
