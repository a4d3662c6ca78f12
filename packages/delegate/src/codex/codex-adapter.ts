import type { BackendRequest, DelegatePermission } from '../backend/backend.ts';
import type { CliAdapter } from '../cli/cli-adapter.ts';
import { codexName } from './codex-line.ts';
import { CodexStream } from './codex-stream.ts';

/** Settings of Codex as a backend. */
export interface CodexSettings {
  /** A model of Codex. Default: Codex's own default. */
  readonly model?: string;
  /** Base URL of a service with the Responses API, including `/v1`. Default: Codex's own service. */
  readonly baseUrl?: string;
  /** Overrides of the Codex configuration, each as `key=value` in TOML. */
  readonly config?: readonly string[];
  /**
   * True if the provider comes from the configuration of the machine. Codex's own retries then add to Cobbler's,
   * because retries can be configured only where the provider is defined. Default false.
   */
  readonly ownProvider?: boolean;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Creates the adapter of Codex without a terminal, with JSON lines. It reports text only in complete messages. */
export function codexExecAdapter(permission: DelegatePermission, settings: CodexSettings): CliAdapter {
  return {
    ...codexBasics(permission, settings),
    capabilities: { tools: false, gate: false, steer: false, fork: false, deltas: false },
    argv: (request, address) => argv(permission, settings, request, address),
    connect: ({ prompt, systemPrompt }) => {
      const stream = new CodexStream();
      return {
        // Codex has no option for instructions of a single task.
        opening: systemPrompt === undefined ? prompt : `${systemPrompt}\n\n${prompt}`,
        staysOpen: false,
        handle: (line) => stream.line(line),
      };
    },
    // Codex also prints this in successful runs, so it counts only without a result.
    isStale: (stderr) => /no rollout found/i.test(stderr),
  };
}

/** The address of OpenAI's API. */
export const openAiAddress = 'https://api.openai.com/v1';

/** Returns the settings that both protocols of Codex share. */
export function codexBasics(
  permission: DelegatePermission,
  { baseUrl = openAiAddress, ownProvider = false }: CodexSettings,
): Pick<
  CliAdapter,
  | 'name'
  | 'program'
  | 'permission'
  | 'tellsCost'
  | 'variables'
  | 'service'
  | 'directory'
  | 'settings'
  | 'isSessionId'
> {
  return {
    name: codexName,
    program: 'codex',
    permission,
    tellsCost: false,
    variables: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'OPENAI_BASE_URL', 'CODEX_HOME'],
    // A provider of the user's own has an address of its own.
    service: {
      keys: ownProvider ? [] : ['OPENAI_API_KEY'],
      unneeded: ['CODEX_API_KEY'],
      defaultAddress: baseUrl,
    },
    directory: {
      variable: 'CODEX_HOME',
      name: '.codex',
      locked: [
        ...['AGENTS.md', 'AGENTS.override.md', 'agents', 'config.toml', 'hooks', 'hooks.json', 'plugins'],
        ...['prompts', 'rules', 'skills'],
      ],
      created: ['skills'],
    },
    settings: {},
    // With an unknown id, Codex would start a new thread without an error.
    isSessionId: (id) => uuid.test(id),
  };
}

/** Returns overrides as arguments: Codex does not retry, and contacts only the model's service. */
export function configArguments(
  { model, baseUrl: ownUrl, config = [], ownProvider = false }: CodexSettings,
  address: string | undefined,
): string[] {
  const baseUrl = address ?? ownUrl;
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

function argv(
  permission: DelegatePermission,
  settings: CodexSettings,
  request: BackendRequest,
  address: string | undefined,
): string[] {
  // No user can be asked here, so a call that needs approval is denied.
  const mode = permission === 'gate' ? modes['read-only'] : modes[permission];
  const resume = request.resumeId === undefined ? [] : ['resume', request.resumeId];
  const place = ['--json', '--skip-git-repo-check', '-C', request.workingDir];
  return ['exec', ...place, ...mode, ...configArguments(settings, address), ...resume, '-'];
}
