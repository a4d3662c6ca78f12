import { memoryBlobs } from '@cobbler/agent/context';
import { workspaceTools } from '@cobbler/tools';
import type { SelectedModel } from '../chat/local-host.ts';
import { LocalHost } from '../chat/local-host.ts';
import { contextPlan, contextPolicy } from '../config/context-plan.ts';
import { findInstructions } from '../config/instructions.ts';
import { permissionIn } from '../config/permission-plan.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { demoSandbox } from '../config/sandbox.ts';
import { demoEnvironment } from '../demo/stage.ts';
import type { Io } from '../terminal/io.ts';
import { systemOf } from './settings-parts.ts';

/** Creates conversations with the scripted model of `cobbler demo`, with approvals. Nothing is stored. */
export async function demoConversations(io: Io): Promise<{ host: LocalHost; close: () => Promise<void> }> {
  const { folder, env, model, close } = await demoEnvironment(io);
  const { agent, pricing, failure } = model;
  const { sandbox, lines } = await demoSandbox(folder, env);
  const tools = workspaceTools({ root: folder, environment: env, sandbox });
  const instructions = await findInstructions(folder);
  const flags = readRunFlags({});
  const { permission } = await permissionIn(folder, flags, true, env);
  const selected: SelectedModel = { agent, pricing, failure, note: { folder } };
  const host = new LocalHost({
    io: { ...io, env },
    folder,
    selected,
    tools: () => tools,
    permission,
    models: [{ name: agent.model, text: 'the only demo session' }],
    choose: async () => selected,
    system: systemOf(flags, folder, tools, instructions, io),
    context: contextPolicy(contextPlan(flags, {}, true), memoryBlobs()),
    limits: { turns: 20 },
    allowUnpriced: false,
    facts: ['a scripted model: try "fix the failing test"', ...lines],
  });
  return { host, close };
}
