import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AgentConfig, RunResult, Tool, UserPart } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Player, Recording } from '@cobbler/agent/cassette';
import type { Blobs } from '@cobbler/agent/context';
import { memoryBlobs } from '@cobbler/agent/context';
import type { FileConfig } from '@cobbler/agent/node';
import { loadConfig } from '@cobbler/agent/node';
import type { FactoryConfig } from '@cobbler/agent/provider';
import { cleanKey } from '@cobbler/agent/provider';
import { readFailure } from '../config/attachment.ts';
import { checkWritable } from '../config/directory.ts';
import { threeRetries } from '../config/priced-agent.ts';
import { providerEntry } from '../config/providers.ts';
import type { OutputForm, RawOptions } from '../config/run-flags.ts';
import type { Settings } from '../config/settings.ts';
import { visible } from '../terminal/escape.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { permissionOptions, recordReplayFlags, taskOptions } from './record-replay-flags.ts';

type PromptParts = readonly UserPart[];

/** Recording or replay of a run; most runs have neither. */
export interface RecordReplay {
  /** The options of the run: the given ones, or those of the cassette in a replay. */
  readonly options: RawOptions;
  /** The prompt of the cassette, unless another one is given. */
  readonly prompt?: PromptParts;
  /** Absent: nothing is recorded or replayed. */
  readonly recording?: Recording;
  readonly isReplay: boolean;
  /** Lines for the header of the run. */
  readonly note: readonly string[];
  /** Returns a fact about the environment: the current one, or the recorded one in a replay. */
  fact<Value>(name: string, make: () => Value): Value;
  /** Returns the place for offloaded output. A replay stores nothing. */
  blobs(make: () => Blobs): Blobs;
  /** Returns provider options in addition to its configuration. */
  link(values: FileConfig): Partial<FactoryConfig>;
  /** Closes the cassette. Returns the exit code. */
  close(ended: EndedRun): number;
}

/** A run that has ended, and its options. */
export interface EndedRun {
  readonly result: RunResult;
  readonly exitCode: number;
  readonly form: OutputForm;
  readonly settings: Settings;
}

/** A placeholder key, because a replay sends nothing. */
const noKey = 'a-replay-needs-no-key';

/**
 * Reads --record, --replay and related options, and attaches the cassette. A normal run loads nothing.
 * @throws UsageError for contradicting options, or a file that is not a cassette.
 */
export async function openRecordReplay(
  words: readonly string[],
  given: RawOptions,
  io: Io,
): Promise<RecordReplay> {
  const flags = recordReplayFlags(given);
  if (flags === undefined) return plainRun(given);
  const { mode } = flags;
  const path = resolve(io.cwd(), flags.path);
  const name = visible(flags.path);
  if (mode !== 'replay') checkWritable(path, mode === 'record' ? '--record' : '--replay');
  const { recorder, player } = await import('@cobbler/agent/cassette');
  const begin = async (): Promise<OpenRecording> => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const secrets = await secretsOf(io.env);
    return {
      path,
      lines,
      isRefresh: mode === 'refresh',
      recorder: recorder({ turn, secrets, write }),
    };
  };
  if (mode === 'record') return recordRun({ options: given, note: [`recording ${name}`] }, await begin(), io);
  // Permissions at recording time may be those of another user.
  const liveTools = (tool: Tool) =>
    given['liveTools'] === true && (tool.effect === 'read' || given['yes'] === true);
  const cassettePlayer = openCassette(path, (text) => player(text, { turn, liveTools }));
  const recordedPrompt =
    words.length > 0 ? undefined : cassettePlayer.fact<PromptParts | undefined>('prompt', () => undefined);
  const prompt = recordedPrompt === undefined ? {} : { prompt: recordedPrompt };
  const recorded = cassettePlayer.fact<RawOptions | undefined>('options', () => undefined);
  // The options are written last.
  if (recorded === undefined)
    throw new UsageError(
      `${path} is incomplete: the recording stopped before the run ended.`,
      'Record it again: cobbler --record FILE "..."',
    );
  if (mode === 'refresh') {
    const options = { ...given, ...withoutTrust(recorded) };
    return recordRun({ options, note: [`recording ${name} again`], ...prompt }, await begin(), io);
  }
  // A given --yes applies to live tools only; the permissions are the recorded ones.
  const options = { ...given, yes: undefined, ...recorded };
  return replayRun({ options, note: [`replaying ${name}`], ...prompt }, cassettePlayer, io);
}

function turn(): Promise<void> {
  return new Promise((next) => void setImmediate(next));
}

/** Removes permissions and the address that receives the key, because a file must not set them. */
function withoutTrust({ baseUrl: _, ...recorded }: RawOptions): RawOptions {
  const task = Object.entries(recorded).filter(([name]) => !permissionOptions.includes(name));
  return Object.fromEntries(task);
}

function plainRun(options: RawOptions): RecordReplay {
  return {
    options,
    isReplay: false,
    note: [],
    fact: (_, make) => make(),
    blobs: (make) => make(),
    link: () => ({}),
    close: ({ exitCode }) => exitCode,
  };
}

type RunInputs = Pick<RecordReplay, 'options' | 'prompt' | 'note'>;

interface OpenRecording {
  readonly recorder: Recording;
  readonly path: string;
  readonly lines: readonly string[];
  readonly isRefresh: boolean;
}

function recordRun(
  inputs: RunInputs,
  { recorder, path, lines, isRefresh }: OpenRecording,
  io: Io,
): RecordReplay {
  return {
    ...inputs,
    recording: recorder,
    isReplay: false,
    fact: (name, make) => recorder.fact(name, make),
    blobs: (make) => recorder.blobs(make()),
    link: (values) => linkOf(recorder, values),
    close({ result, exitCode, form, settings }) {
      recorder.fact('options', () => recordedOptions(inputs.options, settings));
      if (isRefresh && result.status !== 'complete') {
        io.stderr.write(`cobbler: ${visible(path)} is unchanged: the new run did not complete.\n`);
        return exitCode || 1;
      }
      try {
        const unfinished = `${path}.${process.pid}.part`;
        writeFileSync(unfinished, lines.join(''));
        renameSync(unfinished, path);
      } catch (error) {
        io.stderr.write(
          `cobbler: the cassette ${visible(path)} ${readFailure(error).replace('read', 'written')}\n`,
        );
        return exitCode || 1;
      }
      if (form === 'people')
        io.stderr.write(`Recorded in ${visible(path)}. Replay it: cobbler --replay ${visible(path)}\n`);
      return exitCode;
    },
  };
}

function replayRun(inputs: RunInputs, cassettePlayer: Player, io: Io): RecordReplay {
  return {
    ...inputs,
    recording: cassettePlayer,
    isReplay: true,
    fact: (name, make) => cassettePlayer.fact(name, make),
    blobs: () => memoryBlobs(),
    link: (values) => ({ ...linkOf(cassettePlayer, values), apiKey: noKey }),
    close({ result, exitCode }) {
      try {
        cassettePlayer.check();
        return exitCode;
      } catch (error) {
        const { message } = AgentError.from(error);
        // The run's own failure has already reported it.
        if (result.error?.code !== 'replay_miss') io.stderr.write(`cobbler: ${visible(message)}\n`);
        return 1;
      }
    },
  };
}

/** Returns the model's settings as facts, so that another configuration does not change a replay. */
function linkOf(recording: Recording, values: FileConfig): Partial<FactoryConfig> {
  const settings = recording.fact<AgentConfig>('model settings', () => ({
    maxTokens: values.maxTokens ?? 0,
    temperature: values.temperature ?? -1,
    requestTimeout: values.requestTimeout ?? 600_000,
    retryFor: values.retryFor ?? 300_000,
  }));
  // Older cassettes do not contain it; at that time there were three retries.
  const old = settings.retryFor === undefined ? threeRetries : {};
  const link = { ...old, ...settings, runtime: recording.runtime, transport: recording.transport };
  return link;
}

/** Returns the settings of the task, with the resolved model and address. */
function recordedOptions(options: RawOptions, { provider, model, baseURL }: Settings): RawOptions {
  const given = Object.entries(options).filter(([name]) => taskOptions.includes(name) && name !== 'attach');
  const address = new URL(baseURL?.value ?? providerEntry(provider.value).address);
  address.username = '';
  address.password = '';
  return {
    ...Object.fromEntries(given),
    model: `${provider.value}:${model.value}`,
    baseUrl: address.href.replace(/\/$/, ''),
  };
}

function openCassette(path: string, open: (text: string) => Player): Player {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} ${readFailure(error)}.`, 'Record one: cobbler --record FILE "..."');
  }
  try {
    return open(text);
  } catch (error) {
    throw new UsageError(AgentError.from(error).message, `The file: ${path}`);
  }
}

/** Returns the configured keys, and every environment variable whose name marks it as a secret. */
async function secretsOf(env: Environment): Promise<string[]> {
  const { values } = await loadConfig({ env });
  const named = Object.entries(env).filter(([name]) => /(KEY|TOKEN|SECRET|PASSWORD)$/i.test(name));
  const all = [values.apiKey, ...Object.values(values.keys ?? {}), ...named.map(([, value]) => value)];
  return all.flatMap((secret) => cleanKey(secret) ?? []);
}
