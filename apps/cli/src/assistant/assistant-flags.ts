import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defined } from '@cobbler/agent/values';
import { isTimeZone } from '@cobbler/assistant';
import { readFailure } from '../config/attachment.ts';
import type { RawOptions, RunFlags } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { parseCount } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { oneOf, optionValue, portOption } from '../terminal/option-value.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { LogLevel } from './bot-log.ts';
import { logLevels } from './bot-log.ts';

/** The options of `cobbler assistant`, with defaults from the environment. */
export interface AssistantFlags {
  /** Model and tools; by default no tools, or those of the agent. */
  readonly work: RunFlags;
  /** The directory of the assistant's files, in that of all assistants. */
  readonly place: string;
  readonly isLocal: boolean;
  /** The path of the persona file; if absent, the default persona is used. */
  readonly persona?: string;
  readonly timeZone: string;
  /** The value of the option: `openai`, `openai:MODEL` or `URL#MODEL`. If absent, memory is searched by keyword. */
  readonly embedder?: string;
  readonly embedderFloor?: number;
  readonly keepDays: number;
  readonly isWebhook: boolean;
  readonly host: string;
  readonly port: number;
  /** The webhook path, with a leading slash. */
  readonly path: string;
  readonly apiRoot?: string;
  readonly level: LogLevel;
}

export const defaultPath = '/telegram';

const defaultPort = 8787;

/** Reads the options of `cobbler assistant`. @throws UsageError for an invalid value. */
export function readAssistantFlags(raw: RawOptions, io: Pick<Io, 'env' | 'cwd'>): AssistantFlags {
  const persona = text(raw['persona']);
  const embedder = text(raw['embedder']);
  const apiRoot = text(raw['apiRoot']);
  if (raw['local'] === true && raw['webhook'] === true)
    throw new UsageError('--local and --webhook cannot be used together.', 'Remove one of them.');
  return {
    work: readRunFlags({ ...raw, tools: raw['tools'] ?? (raw['agent'] === undefined ? 'none' : undefined) }),
    place: raw['local'] === true ? 'local' : '',
    isLocal: raw['local'] === true,
    timeZone: timeZoneOf(text(raw['timeZone']) ?? io.env['COBBLER_ASSISTANT_TIME_ZONE']),
    keepDays:
      optionValue(raw['keepDays'], '--keep-days', parseCount, 'Use a whole number, such as 30.') ?? 30,
    isWebhook: raw['webhook'] === true,
    host: text(raw['host']) ?? '127.0.0.1',
    port: portOption(raw['port'], '--port') ?? defaultPort,
    path:
      optionValue(text(raw['path']), '--path', parsePath, 'Use a path, such as /telegram.') ?? defaultPath,
    level:
      optionValue(raw['logLevel'], '--log-level', oneOf(logLevels), `Use one of: ${logLevels.join(', ')}`) ??
      'info',
    ...(persona !== undefined && { persona: fileText(resolve(io.cwd(), persona)) }),
    ...defined({ embedder }),
    ...defined({
      embedderFloor: optionValue(
        text(raw['embedderFloor']),
        '--embedder-floor',
        parseFloor,
        'Use a cosine similarity between 0 and 1, such as 0.3.',
      ),
      apiRoot: apiRoot === undefined ? undefined : addressOf(apiRoot),
    }),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function timeZoneOf(name: string | undefined): string {
  if (name === undefined || name.trim() === '') return Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (isTimeZone(name)) return name;
  throw new UsageError(
    `Unknown time zone ${JSON.stringify(name)}.`,
    'For example: --time-zone Europe/Berlin, America/New_York or UTC',
  );
}

function parsePath(text: string): string | undefined {
  return /^\/[\w./~-]*$/.test(text) ? text : undefined;
}

function parseFloor(text: string): number | undefined {
  const floor = Number(text);
  return floor > 0 && floor < 1 ? floor : undefined;
}

function addressOf(value: string): string {
  if (/^https?:\/\/\S+$/.test(value)) return value;
  throw new UsageError(
    `--api-root ${JSON.stringify(value)} is not an http or https URL.`,
    'For example: http://localhost:8081',
  );
}

function fileText(path: string): string {
  try {
    const found = readFileSync(path, 'utf8').trim();
    if (found !== '') return found;
  } catch (error) {
    throw new UsageError(`${path} ${readFailure(error)}.`, 'Pass a text file: --persona FILE');
  }
  throw new UsageError(`${path} is empty.`, 'In this file, describe who the assistant is and how it speaks.');
}
