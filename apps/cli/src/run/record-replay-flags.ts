import type { RawOptions } from '../config/run-flags.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The action on a cassette: record, replay, or record its prompt again. */
export interface RecordReplayFlags {
  readonly mode: 'record' | 'replay' | 'refresh';
  readonly path: string;
}

/** Options that set what a run may do. */
export const permissionOptions: readonly string[] = [
  'ask',
  'edits',
  'yes',
  'readOnly',
  'plan',
  'allow',
  'allowGuarded',
  'trust',
];

/** Options of the task, which a cassette contains. */
export const taskOptions: readonly string[] = [
  'model',
  'fallback',
  'baseUrl',
  'api',
  'effort',
  'search',
  'attach',
  'system',
  'appendSystem',
  'contextFiles',
  'tools',
  ...permissionOptions,
  'maxTurns',
  'maxRepeats',
  'maxUsd',
  'maxTokens',
  'timeout',
  'retryFor',
  'allowUnpriced',
  'askAtLimit',
  'compactAbove',
  'offloadAbove',
];

/**
 * Reads --record, --replay and related options; undefined for a normal run.
 * @throws UsageError for contradicting options.
 */
export function recordReplayFlags(raw: RawOptions): RecordReplayFlags | undefined {
  const { record, replay, refresh, liveTools } = raw;
  const isReplay = typeof replay === 'string';
  if (typeof record === 'string' && isReplay)
    throw new UsageError(
      '--record and --replay cannot be used together.',
      'To record the cassette again: --replay FILE --refresh',
    );
  for (const [flag, value] of [
    ['--refresh', refresh],
    ['--live-tools', liveTools],
  ] as const) {
    if (value === true && !isReplay)
      throw new UsageError(`${flag} requires --replay.`, `For example: cobbler --replay FILE ${flag}`);
  }
  if (refresh === true && liveTools === true)
    throw new UsageError(
      '--refresh and --live-tools cannot be used together.',
      'Remove --live-tools: --refresh already runs every tool.',
    );
  if (isReplay) {
    checkTask(raw, refresh === true ? [...permissionOptions, 'baseUrl'] : liveTools === true ? ['yes'] : []);
    return { mode: refresh === true ? 'refresh' : 'replay', path: replay };
  }
  if (typeof record === 'string' && isGiven('fallback', raw['fallback']))
    throw new UsageError(
      '--fallback cannot be used with --record: a cassette can contain the responses of only one model.',
      'Remove one of them.',
    );
  return typeof record === 'string' ? { mode: 'record', path: record } : undefined;
}

/** Rejects options of the task, which a cassette contains: they would be ignored or cause a mismatch. */
function checkTask(raw: RawOptions, allowed: readonly string[]): void {
  const given = taskOptions.find((name) => isGiven(name, raw[name]) && !allowed.includes(name));
  if (given === undefined) return;
  const flag =
    given === 'contextFiles'
      ? 'no-context-files'
      : given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(
    `--${flag} cannot be used with --replay: the cassette contains the run's settings.`,
    'To run a different task, record a new cassette: cobbler --record FILE "..."',
  );
}

function isGiven(name: string, value: unknown): boolean {
  return name === 'contextFiles' ? value === false : value !== undefined;
}
