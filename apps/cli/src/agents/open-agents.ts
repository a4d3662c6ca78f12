import type { Tool } from '@cobbler/agent';
import { readOnly } from '@cobbler/agent';
import { memoryBlobs } from '@cobbler/agent/context';
import type { AgentDefinition } from '@cobbler/agent/definitions';
import type { ContextPlan } from '../config/context-plan.ts';
import { contextPolicy } from '../config/context-plan.ts';
import type { PricedAgent } from '../config/priced-agent.ts';
import { pricedAgent } from '../config/priced-agent.ts';
import type { RunFlags } from '../config/run-flags.ts';
import { backendSandbox } from '../config/sandbox.ts';
import { readSettings } from '../config/settings.ts';
import type { Io } from '../terminal/io.ts';
import type { AgentPlan } from './agent-plan.ts';
import { programs } from './agent-plan.ts';
import { Agents, programsFor } from './agents.ts';
import { builtInAgents, subAgent } from './definitions.ts';

type PricedModel = Pick<PricedAgent, 'agent' | 'pricing'>;

/** What the caller knows of the run. */
export interface AgentContext
  extends Pick<AgentPlan, 'folder' | 'limits' | 'system' | 'permission' | 'audit' | 'asks'> {
  readonly context: ContextPlan;
  /** The sub-agents that the user and the project define, besides those of every run. */
  readonly definitions: readonly AgentDefinition[];
  /** Returns the model of a session, which can change. */
  readonly model: (session: string) => PricedModel;
}

/**
 * Returns the agents of a run, unless the command line turns them off.
 * @throws UsageError for an unknown program.
 */
export function openAgents(
  flags: Pick<RunFlags, 'agents' | 'delegate' | 'allowUnpriced' | 'sandbox'>,
  { context, model, definitions, ...parts }: AgentContext,
  io: Io,
): Agents | undefined {
  if (!flags.agents) return undefined;
  const own = definitions.map(subAgent);
  const isOwn = (name: string) => own.some((one) => one.name === name);
  return new Agents({
    ...parts,
    definitions: [...builtInAgents.filter(({ name }) => !isOwn(name)), ...own],
    programs: programsFor(flags.delegate, io.env).filter((name) => !isOwn(name) && !isOwn(programs[name])),
    allowUnpriced: flags.allowUnpriced,
    context: contextPolicy(context, memoryBlobs()),
    env: io.env,
    model: async (name, session) =>
      name === undefined
        ? model(session)
        : await pricedAgent(await readSettings(io.env, { model: name }), { fallback: [] }),
    sandboxOf: (program) => backendSandbox(program, flags, io),
  });
}

/** Maximum number of responses of an agent of the assistant. */
const readerTurns = 50;

/**
 * Returns the tools with those agents that only read, if the tool `agent` is one of them: users of the assistant cannot be
 * asked during a call.
 */
export function withReaders(
  tools: readonly Tool[],
  { agent, pricing, ...parts }: PricedModel & Pick<AgentPlan, 'folder' | 'audit' | 'env'>,
): readonly Tool[] {
  const agents = new Agents({
    ...parts,
    definitions: builtInAgents.filter(({ readOnly: onlyReads }) => onlyReads === true),
    ...{ programs: [], allowUnpriced: true, asks: false, limits: { turns: readerTurns } },
    system: () => [],
    model: async () => ({ agent, pricing }),
    permission: () => ({ gate: readOnly, mode: 'read-only' }),
    sandboxOf: async () => undefined,
  });
  return agents.over(tools);
}
