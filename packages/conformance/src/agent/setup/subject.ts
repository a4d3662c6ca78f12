import type { Agent } from '@cobbler/agent';
import type { CreateAgentOptions, Transport } from '@cobbler/agent/provider';
import type { Handler, Loopback, ProviderTesting, UnsupportedFeature } from '@cobbler/agent/testing';

/** How a case wants its agent: where the service is, and whatever differs from the provider's defaults. */
export interface AgentLink extends Omit<CreateAgentOptions, 'model' | 'capabilities'> {
  readonly baseURL: string;
  readonly apiKey: string;
  /** Absent: whatever model the provider takes unasked. */
  readonly model?: string;
}

/** How the agents of a contract reach the mock service. */
export interface ContractNetwork {
  /** Serves the handler at an address of its own until it is closed. */
  serve(handler: Handler): Promise<Loopback>;
  /** Default: the provider's own. */
  readonly transport?: Transport;
  /** Why no case can write raw bytes to a socket or use an address of its own. Absent if they can. */
  readonly noSockets?: string;
  /** Cases that cannot hold on this network, by group and name, each with the reason. */
  readonly impossible?: Readonly<Record<string, string>>;
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
  /** Default: a port of 127.0.0.1 and the transport of the platform. */
  readonly network?: ContractNetwork;
}

/** A case before it is bound to a subject. */
export interface CaseDefinition {
  readonly group: string;
  readonly name: string;
  /** What the wire must be able to say; a declared lack of any of it switches the case off. */
  readonly needs: readonly UnsupportedFeature[];
  /** Whether the case writes raw bytes to a socket or uses an address of its own. */
  readonly sockets?: true;
  run(subject: ContractSubject): Promise<void>;
}

/** Defines one case of a group. */
export type DefineCase = (
  what: string,
  run: (subject: ContractSubject) => Promise<void>,
  ...needs: UnsupportedFeature[]
) => CaseDefinition;

/** Defines the cases of one group. */
export function group(name: string): DefineCase {
  return (what, run, ...needs) => ({ group: name, name: what, needs, run });
}

/** Defines cases of a group that write raw bytes to a socket or use an address of their own. */
export function socketGroup(name: string): DefineCase {
  const define = group(name);
  return (...given) => ({ ...define(...given), sockets: true });
}
