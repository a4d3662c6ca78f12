import { memoryBlobs } from '@cobbler/agent/context';
import { defined } from '@cobbler/agent/values';
import type { ModelChoice } from '../chat/host.ts';
import type { SelectedModel } from '../chat/local-host.ts';
import { LocalHost } from '../chat/local-host.ts';
import { recordChildren } from '../config/backend.ts';
import { blobsFor, contextPolicy } from '../config/context-plan.ts';
import { workFolder } from '../config/directory.ts';
import { instructionNames } from '../config/instructions.ts';
import type { McpTools } from '../config/mcp-servers.ts';
import { pricedAgent } from '../config/priced-agent.ts';
import type { LoadedProvider } from '../config/providers.ts';
import type { RunFlags } from '../config/run-flags.ts';
import type { Settings } from '../config/settings.ts';
import { readSettings } from '../config/settings.ts';
import { agentNames } from '../run/attended.ts';
import type { Budgets } from '../run/budgets/budgets.ts';
import type { Audit } from '../session/audit.ts';
import { noAudit, watchRules } from '../session/audit.ts';
import type { CliSessions } from '../session/session-home.ts';
import { formatCount, formatPrice, plural } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { failureContext, noteOf, onReachedOf } from './settings-parts.ts';
import { openWorkplace } from './workplace.ts';

/** What the conversations of several directories share. */
interface ConversationParts {
  readonly mcp: McpTools;
  readonly budgets: Budgets;
  /** Default: the conversations are not audited. */
  readonly audit?: Audit;
}

/**
 * Opens the conversations of a directory, as the command line and the settings specify. Without `sessions`, nothing
 * is stored. The caller closes the parts.
 * @throws UsageError, or AgentError `invalid`, for invalid settings, such as a missing key.
 */
export async function localConversations(
  flags: RunFlags,
  sessions: CliSessions | undefined,
  { mcp, budgets, audit = noAudit }: ConversationParts,
  io: Io,
): Promise<LocalHost> {
  const folder = workFolder(flags.dir, io);
  await recordChildren(io.env);
  const settings = await readSettings(io.env, flags);
  let current = flags;
  const { selected, provider } = await selectModel(flags, folder, settings, io);
  let model: Pick<SelectedModel, 'agent' | 'pricing'> = selected;
  const parts = { mcp, audit, model: () => model, asks: true, asksTrust: true };
  const workplace = await openWorkplace(flags, folder, settings, parts, io);
  const { tools, context, instructions, system, limits, permission, strange, commands } = workplace;
  audit.note({ kind: 'sandbox', sandbox: workplace.sandbox });
  watchRules(audit, permission);
  return new LocalHost({
    io,
    folder,
    audit,
    selected,
    tools,
    commands,
    permission,
    models: modelsOf(provider, settings.provider.value),
    choose: async ({ model: name, effort }) => {
      const { baseURL, effort: _, ...rest } = current;
      const link = name === undefined ? { baseURL } : { model: name };
      const chosen = { ...rest, ...defined({ ...link, effort }) };
      const { selected: next } = await selectModel(chosen, folder, await readSettings(io.env, chosen), io);
      current = chosen;
      model = next;
      return next;
    },
    system,
    context: contextPolicy(context, sessions === undefined ? memoryBlobs() : blobsFor(io.env)),
    limits,
    background: workplace.background,
    hooks: workplace.hooks,
    close: () => workplace.close(),
    allowUnpriced: flags.allowUnpriced,
    onReached: onReachedOf(flags, settings),
    facts: [
      ...agentNames(flags),
      ...instructionNames(instructions),
      ...(strange.length === 0 ? [] : [`ignores ${plural(strange.length, 'project rule')}: /permissions`]),
    ],
    ...defined({ sessions, budget: await budgets.budgetIn(folder), agents: workplace.agents }),
  });
}

async function selectModel(
  flags: RunFlags,
  folder: string,
  settings: Settings,
  io: Io,
): Promise<{ selected: SelectedModel; provider: LoadedProvider }> {
  const { agent, provider, pricing } = await pricedAgent(settings, flags);
  const failure = failureContext(settings, agent, io);
  const { effort } = { ...settings.file.values, ...settings.chosen };
  return {
    selected: { agent, pricing, failure, ...defined({ effort }), note: noteOf(flags, folder, settings) },
    provider,
  };
}

/** Returns the models of a provider, with their prices. */
export function modelsOf({ models, pricing }: LoadedProvider, provider: string): ModelChoice[] {
  return models.map(({ id, alias, contextTokens }) => {
    const price = pricing(provider, id, 0);
    const facts = [
      ...(alias === undefined ? [] : [id]),
      ...(price === undefined ? [] : [`${formatPrice(price.input)} in ${formatPrice(price.output)} out`]),
      ...(contextTokens === undefined ? [] : [`${formatCount(contextTokens)} tokens`]),
    ];
    return { name: alias ?? id, text: facts.join(' · ') };
  });
}
