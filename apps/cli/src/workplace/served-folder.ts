import { defined } from '@cobbler/agent/values';
import { blobsFor, contextPolicy } from '../config/context-plan.ts';
import type { McpTools } from '../config/mcp-servers.ts';
import { pricedAgent } from '../config/priced-agent.ts';
import type { RunFlags } from '../config/run-flags.ts';
import type { Settings } from '../config/settings.ts';
import { readSettings } from '../config/settings.ts';
import type { ServedFolder } from '../server/serve-folders.ts';
import type { ModelSource, SessionModels } from '../server/session-models.ts';
import type { Audit } from '../session/audit.ts';
import { watchRules } from '../session/audit.ts';
import type { UndoHistory } from '../session/undo-history.ts';
import type { Io } from '../terminal/io.ts';
import { modelsOf } from './local-conversations.ts';
import { noteOf, onReachedOf } from './settings-parts.ts';
import { openWorkplace } from './workplace.ts';

/** What the directories of a server share. */
export interface ServedParts {
  readonly mcp: McpTools;
  readonly audit: Audit;
  readonly models: SessionModels;
  /** False if another process executes the calls. */
  readonly asks: boolean;
  readonly undo: UndoHistory;
}

/** Opens a directory of a server. No request can set what it returns. The tools are those available when a session opens. */
export async function openServedFolder(
  work: RunFlags,
  folder: string,
  { models, undo, ...parts }: ServedParts,
  io: Io,
): Promise<ServedFolder> {
  const settings = await readSettings(io.env, work);
  const model = (session: string) => models.modelOf(session);
  const { agent, pricing } = model('');
  const workplace = await openWorkplace(work, folder, settings, { ...parts, model }, io);
  const { context, system, limits, permission, hooks, sandbox, background, forget, close } = workplace;
  parts.audit.note({ kind: 'sandbox', sandbox });
  watchRules(parts.audit, permission);
  const common = {
    agent,
    system,
    limits,
    pricing,
    allowUnpriced: work.allowUnpriced,
    onReached: onReachedOf(work, settings),
    context: contextPolicy(context, blobsFor(io.env)),
    // Users can always decide later through the API.
    ...{ gate: permission.gate, hooks },
  };
  const tools = () => {
    const watched = undo.watchTools(workplace.tools());
    // Changes of sub-agents can be undone too.
    return workplace.agents?.over(watched) ?? watched;
  };
  const note = noteOf(work, folder, settings);
  return { settings: common, tools, permission, background, forget, close, note };
}

/** Returns the models that users can choose. Those of another service are unknown: then it is only the one that was named. */
export async function modelSource(work: RunFlags, settings: Settings, io: Io): Promise<ModelSource> {
  const effortOf = ({ file, chosen }: Settings) => ({ ...file.values, ...chosen }).effort;
  const { provider, ...first } = await pricedAgent(settings, work);
  const list =
    work.baseURL === undefined
      ? modelsOf(provider, settings.provider.value)
      : [{ name: first.agent.model, text: '' }];
  const open: ModelSource['open'] = async ({ model, effort: chosen }) => {
    const { effort: _, baseURL, ...rest } = work;
    const flags = { ...rest, ...defined({ model: model ?? work.model, effort: chosen, baseURL }) };
    const read = await readSettings(io.env, flags);
    return { ...(await pricedAgent(read, flags)), effort: effortOf(read) };
  };
  return { list, first: { ...first, effort: effortOf(settings) }, open };
}
