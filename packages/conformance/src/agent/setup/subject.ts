import type { Agent } from '@cobbler/agent';
import type { CreateAgentOptions } from '@cobbler/agent/provider';
import type { ProviderTesting, UnsupportedFeature } from '@cobbler/agent/testing';

/** How a case wants its agent: where the service is, and whatever differs from the provider's defaults. */
export interface AgentLink extends Omit<CreateAgentOptions, 'model' | 'capabilities'> {
  readonly baseURL: string;
  readonly apiKey: string;
  /** Absent: whatever model the provider takes unasked. */
  readonly model?: string;
}

/** A provider under contract. */
export interface ContractSubject {
  /** For reports only: no case looks at it. */
  readonly name: string;
  /** Makes an agent that speaks to the service at this link. */
  create(link: AgentLink): Agent;
  /** The provider's inverse. */
  readonly testing: ProviderTesting;
  /** How much longer than usual a case may take before it counts as one that hangs. Default 1. */
  readonly slack?: number;
}

/** A case before it is bound to a subject. */
export interface CaseDefinition {
  readonly group: string;
  readonly name: string;
  /** What the wire must be able to say; a declared lack of any of it switches the case off. */
  readonly needs: readonly UnsupportedFeature[];
  run(subject: ContractSubject): Promise<void>;
}

/** Defines the cases of one group. */
export function group(
  name: string,
): (
  what: string,
  run: (subject: ContractSubject) => Promise<void>,
  ...needs: UnsupportedFeature[]
) => CaseDefinition {
  return (what, run, ...needs) => ({ group: name, name: what, needs, run });
}
