import type { BackendRequest, DelegatePermission } from '../backend/backend.ts';
import type { CliAdapter } from '../cli/cli-adapter.ts';
import { codexName, readCodexLine } from './codex-line.ts';

/** Settings of Codex as a backend. */
export interface CodexSettings {
  /** A model of Codex. Default: its own choice. */
  readonly model?: string;
  /** Another address that speaks the Responses API, `/v1` included. Default: its own. */
  readonly baseUrl?: string;
  /** Overrides of its configuration, each as `key=value` in TOML. */
  readonly config?: readonly string[];
  /**
   * Leave the provider to the configuration of the machine. Its own retries then come on top of ours, since
   * those of a provider can be set only where it is defined. Default false.
   */
  readonly ownProvider?: boolean;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Codex without a terminal, with everything as JSON lines. It shows no text before it is whole. */
export function codexExecAdapter(permission: DelegatePermission, settings: CodexSettings): CliAdapter {
  return {
    ...codexBasics(permission, settings),
    capabilities: { tools: false, gate: false, steer: false, fork: false, deltas: false },
    argv: (request) => argv(permission, settings, request),
    talk: ({ prompt, systemPrompt }) => ({
      // It has no instructions of one job only.
      opening: systemPrompt === undefined ? prompt : `${systemPrompt}\n\n${prompt}`,
      staysOpen: false,
      hear: readCodexLine,
    }),
    // Also said on standard error of a run that succeeds: it counts only where nothing was said of an end.
    isStale: (stderr) => /no rollout found/i.test(stderr),
  };
}

/** Common settings of both protocols of Codex. */
export function codexBasics(
  permission: DelegatePermission,
  _settings: CodexSettings,
): Pick<
  CliAdapter,
  'name' | 'program' | 'permission' | 'tellsCost' | 'variables' | 'settings' | 'isSessionId'
> {
  return {
    name: codexName,
    program: 'codex',
    permission,
    tellsCost: false,
    variables: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'OPENAI_BASE_URL', 'CODEX_HOME'],
    settings: {},
    // A name that it does not know would begin a new thread and say nothing of it.
    isSessionId: (id) => uuid.test(id),
  };
}

/** Overrides as arguments: one layer tries again, and nothing is asked of anybody but the model's service. */
export function configArguments({
  model,
  baseUrl,
  config = [],
  ownProvider = false,
}: CodexSettings): string[] {
  const provider = [
    'name="OpenAI"',
    ...(baseUrl === undefined ? ['requires_openai_auth=true'] : [`base_url=${JSON.stringify(baseUrl)}`]),
    ...(baseUrl === undefined ? [] : ['env_key="OPENAI_API_KEY"']),
    'wire_api="responses"',
    'request_max_retries=0',
    'stream_max_retries=0',
  ];
  const overrides = [
    ...(ownProvider ? [] : ['model_provider="cobbler"', `model_providers.cobbler={${provider.join(',')}}`]),
    ...(model === undefined ? [] : [`model=${JSON.stringify(model)}`]),
    'check_for_update_on_startup=false',
    'analytics.enabled=false',
    'features.plugins=false',
    'features.apps=false',
    ...config,
  ];
  return overrides.flatMap((override) => ['-c', override]);
}

const modes: Readonly<Record<Exclude<DelegatePermission, 'gate'>, readonly string[]>> = {
  'read-only': ['--sandbox', 'read-only', '-c', 'approval_policy="never"'],
  edit: ['--sandbox', 'workspace-write', '-c', 'approval_policy="never"'],
  bypass: ['--dangerously-bypass-approvals-and-sandbox'],
};

function argv(permission: DelegatePermission, settings: CodexSettings, request: BackendRequest): string[] {
  // No user can be asked here: a call that needs approval is denied.
  const mode = permission === 'gate' ? modes['read-only'] : modes[permission];
  const resume = request.resumeId === undefined ? [] : ['resume', request.resumeId];
  const place = ['--json', '--skip-git-repo-check', '-C', request.workingDir];
  return ['exec', ...place, ...mode, ...configArguments(settings), ...resume, '-'];
}
