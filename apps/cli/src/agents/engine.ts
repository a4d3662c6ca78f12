import type { Gate, Tool } from '@cobbler/agent';
import { Executor, memoryStore } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { claudeCode, codex } from '@cobbler/delegate';
import type { AgentTool } from '@cobbler/delegate/agent-tool';
import { createAgentTool, subAgent } from '@cobbler/delegate/agent-tool';
import { planWords } from '../config/system-prompt.ts';
import { readsOnly } from '../session/audit.ts';
import type { AgentPlan, ProgramName } from './agent-plan.ts';
import type { SubAgent } from './definitions.ts';
import { toolsOf } from './definitions.ts';

/** Maximum number of agents of a conversation that were started and not ended by the model. */
const maxSessions = 64;

/** Creates what does the tasks of one conversation. Nothing of it outlives this process. */
export async function openEngine(
  plan: AgentPlan,
  session: string,
  given: readonly Tool[],
): Promise<AgentTool> {
  const tools = given.map((tool) => inSession(tool, session));
  const { folder, env, definitions, programs } = plan;
  const store = plan.audit.watch(
    memoryStore({ keepLast: maxSessions }),
    readsOnly(() => tools),
  );
  const own = definitions.map((definition) =>
    subAgent({
      name: definition.name,
      executor: () => executorFor(plan, definition, session, { tools, store }),
    }),
  );
  return createAgentTool({
    workspace: folder,
    backends: [...own, ...(await Promise.all(programs.map((name) => programOf(name, plan))))],
    maxSessions,
    permission: 'gate',
    gate: gateIn(plan, session),
    asks: plan.asks,
    sessionsFile: null,
    allowUnpriced: plan.allowUnpriced,
    env,
  });
}

/** Returns a tool whose calls count as those of the conversation, which then has the commands that a sub-agent starts. */
function inSession(tool: Tool, sessionId: string): Tool {
  return { ...tool, execute: (args, context) => tool.execute(args, { ...context, sessionId }) };
}

/** Returns the gate for calls that count as those of the conversation. */
function gateIn(plan: AgentPlan, session: string): Gate {
  return (call, context) => plan.permission().gate(call, { ...context, session });
}

async function executorFor(
  plan: AgentPlan,
  definition: SubAgent,
  session: string,
  { tools, store }: { readonly tools: readonly Tool[]; readonly store: ReturnType<typeof memoryStore> },
): Promise<Executor> {
  const { limits, context, allowUnpriced } = plan;
  const { agent, pricing } = await plan.model(definition.model, session);
  const { mode } = plan.permission();
  const system = plan
    .system()
    .filter((words, index) => index > 0 && (words !== planWords || mode === 'plan'));
  return new Executor({
    ...{ agent, pricing, allowUnpriced, store, limits },
    ...defined({ context }),
    tools: toolsOf(definition, tools),
    system: [definition.instructions, ...system],
    gate: gateIn(plan, session),
    hooks: plan.hooks.filter(({ beforeTool, afterTool }) => beforeTool ?? afterTool),
    attended: true,
  });
}

async function programOf(name: ProgramName, plan: AgentPlan) {
  const { env } = plan;
  const sandbox = await plan.sandboxOf(name);
  const permission = plan.permission().mode === 'read-only' ? 'read-only' : 'gate';
  const options = { permission, env, ...defined({ sandbox }) } as const;
  return name === 'claude' ? claudeCode(options) : codex(options);
}
