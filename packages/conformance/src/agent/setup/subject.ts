import type { Agent } from '@cobbler/agent';
import type { CreateAgentOptions, Transport } from '@cobbler/agent/provider';
import type { Handler, Loopback, ProviderTesting, UnsupportedFeature } from '@cobbler/agent/testing';
import { isBinary } from './frame-text.ts';

/**
 * The options of a case's agent: the address of the service, and differences from the provider's defaults.
 */
export interface AgentLink extends Omit<CreateAgentOptions, 'model' | 'capabilities'> {
  readonly baseURL: string;
  readonly apiKey: string;
  /** Default: the provider's default model. */
  readonly model?: string;
  /** Returns the current key, which replaces `apiKey`. Only a subject that `rotates` gets it. */
  readonly currentKey?: () => Promise<string>;
}

/** The network between the agents of a contract and the mock service. */
export interface ContractNetwork {
  /** Serves the handler at its own address until it is closed. */
  serve(handler: Handler): Promise<Loopback>;
  /** The transport of the agents. Default: the provider's own. */
  readonly transport?: Transport;
  /**
   * The reason why cases cannot write raw bytes to a socket or use other addresses; undefined if they can.
   */
  readonly noSockets?: string;
  /** The reasons for cases that this network cannot express, by group and name. */
  readonly impossible?: Readonly<Record<string, string>>;
}

/** A provider to test. */
export interface ContractSubject {
  /** Name for reports. */
  readonly name: string;
  /** Returns an agent for the service at this link. */
  create(link: AgentLink): Agent;
  /** The mock wire of the provider. */
  readonly testing: ProviderTesting;
  /**
   * True if the wire has an `authorize` function: it asks for the key before each attempt, with `currentKey` if there is
   * one, and asks again once if the service rejects the key.
   */
  readonly rotates?: true;
  /** Factor for the time limits of the cases. Default 1. */
  readonly slack?: number;
  /** Default: a port of 127.0.0.1 and the platform's transport. */
  readonly network?: ContractNetwork;
}

/** A case before it is bound to a subject. */
export interface CaseDefinition {
  readonly group: string;
  readonly name: string;
  /**
   * The features that the case needs. The case is off if the provider declares one of them as unsupported.
   */
  readonly needs: readonly UnsupportedFeature[];
  /** True if the case writes raw bytes to a socket or uses other addresses. */
  readonly sockets?: true;
  /** Returns the reason why the case does not apply to a subject; undefined if it does. */
  off?(subject: ContractSubject): string | undefined;
  run(subject: ContractSubject): Promise<void>;
}

/** Defines one case of a group. */
export type DefineCase = (
  what: string,
  run: (subject: ContractSubject) => Promise<void>,
  ...needs: UnsupportedFeature[]
) => CaseDefinition;

/** Returns a function that defines the cases of one group. */
export function group(name: string): DefineCase {
  return (what, run, ...needs) => ({ group: name, name: what, needs, run });
}

/** Returns a function that defines cases that change what surrounds the text of a frame. */
export function lineGroup(name: string): DefineCase {
  const define = group(name);
  const off = ({ testing }: ContractSubject) =>
    isBinary(testing) ? 'the frames are binary, so nothing surrounds their text' : undefined;
  return (...given) => ({ ...define(...given), off });
}

/** Returns a function that defines cases that write raw bytes to a socket or use other addresses. */
export function socketGroup(name: string): DefineCase {
  const define = group(name);
  return (...given) => ({ ...define(...given), sockets: true });
}
