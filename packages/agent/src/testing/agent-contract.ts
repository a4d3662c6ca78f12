import { advised } from './agent-contract/advice.ts';
import { answerCases } from './agent-contract/answers.ts';
import { argumentCases } from './agent-contract/arguments.ts';
import { blockCases } from './agent-contract/blocks.ts';
import { bodyCases } from './agent-contract/bodies.ts';
import { callCases } from './agent-contract/calls.ts';
import { cancelPointCases } from './agent-contract/cancel-points.ts';
import { cancelCases } from './agent-contract/cancels.ts';
import { clockCases } from './agent-contract/clocks.ts';
import { connectionCases } from './agent-contract/connection.ts';
import { cutCases } from './agent-contract/cuts.ts';
import { echoCases } from './agent-contract/echoes.ts';
import { endCases } from './agent-contract/ends.ts';
import { errorCases } from './agent-contract/errors.ts';
import { framingCases } from './agent-contract/framing.ts';
import { fuzzCases } from './agent-contract/fuzz.ts';
import { historyCases } from './agent-contract/history.ts';
import { hostileCases } from './agent-contract/hostile.ts';
import type { Seeds } from './agent-contract/laws.ts';
import { lawCases } from './agent-contract/laws.ts';
import { lifeCases } from './agent-contract/lives.ts';
import { mediaCases } from './agent-contract/media.ts';
import { networkCases } from './agent-contract/networks.ts';
import { oddFrameCases } from './agent-contract/odd-frames.ts';
import { patienceCases } from './agent-contract/patience.ts';
import { repeatCases } from './agent-contract/repeats.ts';
import { requestCases } from './agent-contract/requests.ts';
import { retryCases } from './agent-contract/retries.ts';
import { sealCases } from './agent-contract/seals.ts';
import { secretCases } from './agent-contract/secrets.ts';
import { settingCases } from './agent-contract/settings.ts';
import { statusCases } from './agent-contract/statuses.ts';
import { streamCases } from './agent-contract/streams.ts';
import type { CaseDefinition, ContractSubject } from './agent-contract/subject.ts';
import { usageCases } from './agent-contract/usage.ts';
import { waitCases } from './agent-contract/waits.ts';
import { wholeCases } from './agent-contract/wholes.ts';
import { expect } from './assertion.ts';
import type { ContractCase } from './contract-case.ts';

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
 * lack, and says so. Cases serve on loopback and need Node.
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

function bound({ group, name, needs, run }: CaseDefinition, subject: ContractSubject): ContractCase {
  const { lacks } = subject.testing;
  const reason = needs.map((need) => lacks[need]).find((lack) => lack !== undefined);
  return {
    group,
    name,
    run: () => advised(group, () => run(subject)),
    ...(reason !== undefined && { off: reason }),
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
