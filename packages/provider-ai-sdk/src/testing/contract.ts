import type { ContractCase } from '@cobbler/agent/testing';
import type { AgentContractOptions, ContractSubject } from '@cobbler/conformance';
import { agentContract } from '@cobbler/conformance';
import type { Between } from './between.ts';

/** A service has up to five lacks of its own, and the SDK adds what it cannot say. */
const maxLacks = 10;

/**
 * The contract of agents with the cases off that no use of the SDK's interface can pass.
 * @throws RangeError for a case that is declared impossible and not there.
 */
export function aiSdkContract(
  subject: ContractSubject,
  { impossible }: Between,
  options: AgentContractOptions = {},
): ContractCase[] {
  const cases = agentContract(subject, { maxLacks, ...options });
  const names = new Set(cases.map(nameOf));
  const strange = Object.keys(impossible).find((name) => !names.has(name));
  if (strange !== undefined) throw new RangeError(`There is no case "${strange}" to be off.`);
  return cases.map((one) => {
    const off = one.off ?? impossible[nameOf(one)];
    return off === undefined ? one : { ...one, off };
  });
}

function nameOf({ group, name }: ContractCase): string {
  return `${group}: ${name}`;
}
