import type { AgentConfig } from '@cobbler/agent';
import type { AgentFolder } from '@cobbler/agent/definitions';
import type { FileConfig } from '@cobbler/agent/node';
import { parseAllowedHost } from '@cobbler/agent/sandbox';
import { defined } from '@cobbler/agent/values';
import type { PermissionMode } from '../permissions/permission.ts';
import { parseBound, parseCount, parseDuration, parseMore, parseSpan, parseUsd } from '../terminal/format.ts';
import { oneOf, optionValue } from '../terminal/option-value.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { BackendName } from './backend.ts';
import { readBackend } from './backend.ts';
import type { Api } from './providers.ts';
import type { SandboxMode } from './sandbox.ts';
import { readSandboxMode } from './sandbox.ts';

/** The options that the configuration file has too. */
type SharedFlags =
  | 'model'
  | 'baseURL'
  | 'effort'
  | 'search'
  | 'maxTurns'
  | 'maxRepeats'
  | 'maxUsd'
  | 'budget'
  | 'compactAbove'
  | 'offloadAbove';

/** The options of `cobbler run`. Absent means not set. */
export interface RunFlags extends Pick<FileConfig, SharedFlags> {
  /** The models to try when the model fails, in order. Empty: those of the configuration. */
  readonly fallback: readonly string[];
  readonly api?: Api;
  /** A program that does the work instead of a model. */
  readonly backend?: BackendName;
  readonly dir?: string;
  /** The folder of an agent, as the user wrote it. */
  readonly agent?: string;
  /** The agent of that folder, after it was loaded. */
  readonly agentFolder?: AgentFolder;
  readonly attach: readonly string[];
  readonly system?: string;
  readonly appendSystem?: string;
  readonly contextFiles: boolean;
  /** Names of tools; an empty list for no tools. */
  readonly tools?: readonly string[];
  /** False: no tool `agent`. */
  readonly agents: boolean;
  /** Programs that the tool `agent` offers. Absent: those that are installed. */
  readonly delegate?: readonly string[];
  /** MCP servers in addition to those of the configuration: NAME=COMMAND or URL. */
  readonly mcp: readonly string[];
  readonly mode: PermissionMode;
  /** What commands can do. If absent, the environment decides. */
  readonly sandbox?: SandboxMode;
  /** Hosts that commands can connect to, in addition to those of the configuration. */
  readonly allowHost: readonly string[];
  readonly allow: readonly string[];
  /** Guarded paths that can be written without a question. */
  readonly allowGuarded: readonly string[];
  /** Tools of the backend whose output is trusted. */
  readonly trust: readonly string[];
  readonly maxTokens?: number;
  /** How much more the limit that a resumed session waits at allows. */
  readonly more?: number;
  /** True to ask whether the run continues when it reaches a limit on tokens or money, or a budget. */
  readonly askAtLimit: boolean;
  readonly timeoutMs?: number;
  /** In milliseconds; 0 limits retries to three. */
  readonly retryFor?: number;
  readonly allowUnpriced: boolean;
  readonly output?: string;
  /** The session to continue. Absent: a new one. */
  readonly session?: SessionChoice;
  /** False: do not store the session. If absent, the configuration decides. */
  readonly keeps?: boolean;
  /** True to continue where the session stopped if there is no prompt. */
  readonly resumes: boolean;
  /** The id of the session of a run in the background. */
  readonly job?: string;
  /** True to notify the user at the end as after a run in the background. */
  readonly notify: boolean;
  readonly form: OutputForm;
  readonly verbose: boolean;
}

/** A session to continue: by its id, or the latest of the directory. If `fork` is set, a copy of it. */
export interface SessionChoice {
  readonly id?: string;
  readonly forks: boolean;
}

/** Output format of a run: for users, only the response, or JSON Lines. */
export type OutputForm = 'people' | 'quiet' | 'json' | 'json-deltas';

/** The options of a command before they are checked. */
export type RawOptions = Readonly<Record<string, unknown>>;

/** How much a model reasons. */
export type Effort = NonNullable<AgentConfig['effort']>;

export const efforts: readonly Effort[] = ['low', 'medium', 'high', 'max'];

/** Reads an effort. @throws UsageError for another word. */
export function readEffort(value: string | undefined, source: string = '--effort'): Effort | undefined {
  return optionValue(value, source, oneOf(efforts), `Use one of: ${efforts.join(', ')}.`);
}

/** Reads the options of `cobbler run`. @throws UsageError for an invalid value, or options that exclude each other. */
export function readRunFlags(raw: RawOptions): RunFlags {
  return {
    ...defined({
      model: text(raw['model']),
      baseURL: readAddress(text(raw['baseUrl'])),
      api: optionValue(
        text(raw['api']),
        '--api',
        oneOf<Api>(['responses', 'chat']),
        'Use --api responses or --api chat.',
      ),
      effort: readEffort(text(raw['effort'])),
      backend: readBackend(text(raw['backend'])),
      dir: text(raw['dir']),
      agent: text(raw['agent']),
      system: text(raw['system']),
      appendSystem: text(raw['appendSystem']),
      tools: readNames(text(raw['tools'])),
      delegate: readNames(text(raw['delegate'])),
      sandbox: readSandboxMode(raw['sandbox'], '--sandbox'),
      maxTurns: number(raw, 'maxTurns', '--max-turns', parseCount, '50'),
      maxRepeats: number(raw, 'maxRepeats', '--max-repeats', parseBound, '20 or never'),
      maxUsd: number(raw, 'maxUsd', '--max-usd', parseUsd, '0.50'),
      maxTokens: number(raw, 'maxTokens', '--max-tokens', parseCount, '200k'),
      more: number(raw, 'more', '--more', parseMore, '5 or 200k'),
      budget: optionValue(
        text(raw['budget']),
        '--budget',
        (name) => name || undefined,
        'List the budgets: cobbler budgets',
      ),
      timeoutMs: number(raw, 'timeout', '--timeout', parseDuration, '90s or 10m'),
      retryFor: number(raw, 'retryFor', '--retry-for', parseSpan, '90s, 10m or never'),
      compactAbove: number(raw, 'compactAbove', '--compact-above', parseBound, '200k or never'),
      offloadAbove: number(raw, 'offloadAbove', '--offload-above', parseBound, '64k or never'),
      output: text(raw['output']),
      session: readSession(raw),
      job: text(raw['job']),
    }),
    fallback: texts(raw['fallback']),
    attach: texts(raw['attach']),
    contextFiles: raw['contextFiles'] !== false,
    agents: raw['agents'] !== false,
    mcp: texts(raw['mcp']),
    mode: readMode(raw),
    allowHost: texts(raw['allowHost']).map(readHost),
    allow: texts(raw['allow']),
    allowGuarded: texts(raw['allowGuarded']),
    trust: texts(raw['trust']),
    allowUnpriced: raw['allowUnpriced'] === true,
    askAtLimit: raw['askAtLimit'] === true,
    ...(raw['search'] === true && { search: true }),
    ...(raw['session'] === false && { keeps: false }),
    resumes: raw['resumes'] === true,
    notify: raw['notify'] === true || raw['job'] !== undefined,
    form: readForm(raw),
    verbose: raw['verbose'] === true,
  };
}

function readMode(raw: RawOptions): PermissionMode {
  const modes = {
    ...{ ask: '--ask', edits: '--edits', sandboxed: '--sandboxed', yes: '--yes' },
    ...{ readOnly: '--read-only', plan: '--plan' },
  };
  const given = Object.entries(modes).filter(([name]) => raw[name] === true);
  if (given.length > 1) {
    const flags = given.map(([, flag]) => flag).join(' and ');
    throw new UsageError(`${flags} cannot be used together.`, 'Remove all but one.');
  }
  const name = given[0]?.[0] ?? 'ask';
  if (name === 'sandboxed' && readSandboxMode(raw['sandbox'], '--sandbox') === 'off')
    throw new UsageError('--sandboxed and --no-sandbox cannot be used together.', 'Remove one of them.');
  if (name === 'readOnly' && texts(raw['allow']).length > 0) {
    throw new UsageError(
      '--read-only and --allow cannot be used together.',
      'Remove --read-only: in the default mode, calls that match an --allow rule need no approval.',
    );
  }
  return name === 'readOnly' ? 'read-only' : (name as PermissionMode);
}

function readSession(raw: RawOptions): SessionChoice | undefined {
  const id = text(raw['session']);
  const isLast = raw['continue'] === true;
  const forks = raw['fork'] === true;
  if (id !== undefined && isLast) {
    throw new UsageError('--continue and --session cannot be used together.', 'Remove one of them.');
  }
  if (id === undefined && !isLast) {
    if (!forks) return undefined;
    throw new UsageError('--fork requires --continue or --session.', 'For example: cobbler -c --fork "..."');
  }
  if (raw['session'] === false) {
    throw new UsageError('--continue and --no-session cannot be used together.', 'Remove one of them.');
  }
  return { forks, ...defined({ id }) };
}

function readForm(raw: RawOptions): OutputForm {
  const json = raw['jsonDeltas'] === true ? 'json-deltas' : raw['json'] === true ? 'json' : undefined;
  if (json !== undefined && raw['quiet'] === true) {
    throw new UsageError('--json and --quiet cannot be used together.', 'Remove one of them.');
  }
  return json ?? (raw['quiet'] === true ? 'quiet' : 'people');
}

function readHost(value: string): string {
  if (parseAllowedHost(value) !== undefined) return value;
  throw new UsageError(
    `--allow-host ${JSON.stringify(value)} is not a host that can be allowed.`,
    'Use a name, such as api.example.org, github.com:443 or *.example.com. Addresses are not accepted.',
  );
}

function readAddress(value: string | undefined): string | undefined {
  if (value === undefined || /^https?:\/\/\S+$/.test(value)) return value;
  throw UsageError.withCode(
    'bad_url',
    `--base-url ${JSON.stringify(value)} is not an http or https URL.`,
    'For example: --base-url http://localhost:11434/v1',
  );
}

function readNames(value: string | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  if (value.trim() === 'none') return [];
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function number(
  raw: RawOptions,
  name: string,
  flag: string,
  parse: (text: string) => number | undefined,
  example: string,
): number | undefined {
  return optionValue(text(raw[name]), flag, parse, `For example: ${flag} ${example}`);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
