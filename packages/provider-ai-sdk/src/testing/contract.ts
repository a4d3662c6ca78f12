import type { ContractCase } from '@cobbler/agent/testing';
import type { AgentContractOptions, ContractSubject } from '@cobbler/conformance';
import { agentContract } from '@cobbler/conformance';
import type { Between } from './between.ts';

/** Maximum number of unsupported features: up to five of a service, and those of the SDK. */
const maxLacks = 10;

/**
 * Returns the agent contract without the cases that cannot pass through the SDK's interface.
 * @throws RangeError for a case that is declared impossible but does not exist.
 */
export function aiSdkContract(
  subject: ContractSubject,
  { impossible }: Between,
  options: AgentContractOptions = {},
): ContractCase[] {
  const cases = agentContract(subject, { maxLacks, ...options });
  const names = new Set(cases.map(nameOf));
  const strange = Object.keys(impossible).find((name) => !names.has(name));
  if (strange !== undefined) throw new RangeError(`The contract has no case "${strange}" to exclude.`);
  return cases.map((one) => {
    const off = one.off ?? impossible[nameOf(one)];
    return off === undefined ? one : { ...one, off };
  });
}

function nameOf({ group, name }: ContractCase): string {
  return `${group}: ${name}`;
}
