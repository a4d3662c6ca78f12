import type { ContractCase } from '@cobbler/agent/testing';
import { expect } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import { cancelPointCases } from './cancel/cancel-points.ts';
import { cancelCases } from './cancel/cancels.ts';
import { clockCases } from './cancel/clocks.ts';
import { timeoutCases } from './cancel/patience.ts';
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
import { lossCases } from './laws/losses.ts';
import { credentialCases } from './requests/credentials.ts';
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
import { responseCases } from './responses/responses.ts';
import { streamCases } from './responses/streams.ts';
import { usageCases } from './responses/usage.ts';
import { wholeCases } from './responses/wholes.ts';
import { advised } from './setup/advice.ts';
import type { CaseDefinition, ContractSubject } from './setup/subject.ts';

/** Options of {@link agentContract}. */
export interface AgentContractOptions {
  /** Maximum number of unsupported features. With more, the contract fails. Default 6. */
  readonly maxLacks?: number;
  /** Seeds of the random responses and histories. Default: 100 of each. */
  readonly seeds?: Seeds;
  /** Receives one line with the counts of the damaged streams. Default: the line is discarded. */
  readonly print?: (line: string) => void;
}

/**
 * Returns the cases that every agent must pass, for any test runner. {@link runContract} runs them without
 * one. No case depends on a specific provider. A case is off, with a reason, if the provider declares a
 * feature as unsupported or the network cannot express the case. The cases need Node.
 */
export function agentContract(subject: ContractSubject, options: AgentContractOptions = {}): ContractCase[] {
  const { maxLacks = 6, seeds = {}, print } = options;
  const definitions = [
    ...responseCases,
    ...streamCases,
    ...framingCases(subject.testing.contentType),
    ...usageCases,
    ...callCases,
    ...requestCases,
    ...(subject.rotates === true ? credentialCases : []),
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
    ...timeoutCases,
    ...clockCases,
    ...echoCases,
    ...mediaCases,
    ...settingCases,
    ...lawCases(seeds),
    ...fuzzCases(seeds),
    ...lossCases(seeds, print),
    ...lifeCases(seeds),
  ];
  return [lackCase(subject, maxLacks), ...definitions.map((definition) => bound(definition, subject))];
}

function bound(definition: CaseDefinition, subject: ContractSubject): ContractCase {
  const { group, name, needs, sockets, off, run } = definition;
  const { network, testing } = subject;
  const reason =
    needs.map((need) => testing.lacks[need]).find((lack) => lack !== undefined) ??
    (sockets && network?.noSockets) ??
    off?.(subject) ??
    network?.impossible?.[`${group}: ${name}`];
  return {
    group,
    name,
    run: () => advised(group, () => run(subject)),
    ...defined({ off: reason }),
  };
}

/** Fails if too many features are unsupported: a contract that is mostly off proves little. */
function lackCase({ testing }: ContractSubject, maxLacks: number): ContractCase {
  return {
    group: 'lacks',
    name: `at most ${maxLacks} unsupported features, each with a reason`,
    async run() {
      const lacks = Object.entries(testing.lacks).filter(([, reason]) => reason !== undefined);
      const names = lacks.map(([name]) => name).join(', ');
      expect(
        lacks.length <= maxLacks,
        `at most ${maxLacks} entries in \`lacks\`, found ${lacks.length}: ${names}`,
      );
      expect(
        lacks.every(([, reason]) => reason.trim().length >= 10),
        `a reason of at least 10 characters for each entry in \`lacks\`: ${names}`,
      );
    },
  };
}
