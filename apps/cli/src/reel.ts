import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FactoryConfig, RunResult, UserPart } from '@cobbler/agent';
import { AgentError, cleanKey } from '@cobbler/agent';
import type { FileConfig } from '@cobbler/agent/node';
import { loadConfig } from '@cobbler/agent/node';
import type { Player, Tape } from '@cobbler/agent/testing';
import { whyUnreadable } from './attachment.ts';
import { visible } from './escape.ts';
import { checkWritable } from './folder.ts';
import type { Environment, Io } from './io.ts';
import { providerEntry } from './providers.ts';
import { permissionOptions, reelFlags, taskOptions } from './reel-flags.ts';
import type { OutputForm } from './run-flags.ts';
import type { Settings } from './settings.ts';
import { UsageError } from './usage-error.ts';

type Raw = Readonly<Record<string, unknown>>;

/** How a run is recorded or replayed; most are neither. */
export interface Reel {
  /** The options of the run: those given, and on a replay those of the cassette. */
  readonly options: Raw;
  /** What the cassette was asked, unless other words are given. */
  readonly prompt?: readonly UserPart[];
  /** Absent: nothing is recorded or replayed. */
  readonly tape?: Tape;
  readonly isReplay: boolean;
  /** For the header of the run. */
  readonly note: readonly string[];
  /** What the run is told about the world: found out now, or as it was when recorded. */
  fact<Value>(name: string, make: () => Value): Value;
  /** What the provider is given beside its configuration. */
  link(values: FileConfig): Partial<FactoryConfig>;
  /** Closes the cassette. Returns the exit code. */
  close(ended: Ended): number;
}

/** A run that is over, and what was asked for. */
export interface Ended {
  readonly result: RunResult;
  readonly exitCode: number;
  readonly form: OutputForm;
  readonly settings: Settings;
}

/** A key that nobody has: a replay sends nothing. */
const noKey = 'a-replay-needs-no-key';

/**
 * Reads --record, --replay and what goes with them, and puts the cassette in. An ordinary run loads nothing.
 * @throws UsageError for options that make no sense together, or a file that is no cassette.
 */
export async function openReel(words: readonly string[], given: Raw, io: Io): Promise<Reel> {
  const flags = reelFlags(given);
  if (flags === undefined) return plainRun(given);
  const path = resolve(io.cwd(), flags.path);
  if (flags.mode !== 'replay') checkWritable(path, flags.mode === 'record' ? '--record' : '--replay');
  const testing = await import('@cobbler/agent/testing');
  const turn = () => new Promise<void>((next) => void setImmediate(next));
  if (flags.mode === 'record') {
    const lines: string[] = [];
    const tape = testing.recorder({
      turn,
      secrets: secretsOf(io.env),
      write: (line) => void lines.push(line),
    });
    return recording({ options: given, tape, note: [`records ${visible(flags.path)}`] }, path, lines, io);
  }
  const liveTools = given['liveTools'] === true;
  const player = openCassette(path, (text) =>
    testing.player(text, {
      turn,
      // What was allowed when recording may be somebody else's permission.
      liveTools: (tool) => liveTools && (tool.effect === 'read' || given['yes'] === true),
    }),
  );
  const prompt =
    words.length > 0 ? undefined : player.fact<readonly UserPart[] | undefined>('prompt', () => undefined);
  const told = prompt === undefined ? {} : { prompt };
  const recorded = player.fact<Raw>('options', () => ({}));
  if (flags.mode === 'replay') {
    // A --yes that was given is about live tools; what the run may do is what it might then.
    const options = { ...given, yes: undefined, ...recorded };
    return replaying(
      { options, tape: player, note: [`replays ${visible(flags.path)}`], ...told },
      player,
      io,
    );
  }
  // Neither permissions nor the address that a key is sent to are taken from a file.
  const { baseUrl: _, ...rest } = Object.fromEntries(
    Object.entries(recorded).filter(([name]) => !permissionOptions.includes(name)),
  );
  const lines: string[] = [];
  const tape = testing.recorder({ turn, secrets: secretsOf(io.env), write: (line) => void lines.push(line) });
  const options = { ...given, ...rest };
  return recording(
    { options, tape, note: [`records ${visible(flags.path)} anew`], ...told },
    path,
    lines,
    io,
    true,
  );
}

function plainRun(options: Raw): Reel {
  return {
    options,
    isReplay: false,
    note: [],
    fact: (_, make) => make(),
    link: () => ({}),
    close: ({ exitCode }) => exitCode,
  };
}

type Taken = Pick<Reel, 'options' | 'prompt' | 'note'> & { readonly tape: Tape };

function recording(taken: Taken, path: string, lines: readonly string[], io: Io, anew = false): Reel {
  const { options, tape } = taken;
  return {
    ...taken,
    isReplay: false,
    fact: (name, make) => tape.fact(name, make),
    link: (values) => linkOf(tape, values),
    close({ result, exitCode, form, settings }) {
      tape.fact('options', () => recordedOptions(options, settings));
      if (anew && result.status !== 'complete') {
        io.stderr.write(`cobbler: ${visible(path)} stays as it was: the new run did not complete.\n`);
        return exitCode || 1;
      }
      try {
        const unfinished = `${path}.${process.pid}.part`;
        writeFileSync(unfinished, lines.join(''));
        renameSync(unfinished, path);
      } catch (error) {
        io.stderr.write(
          `cobbler: the cassette ${visible(path)} ${whyUnreadable(error).replace('read', 'written')}\n`,
        );
        return exitCode || 1;
      }
      if (form === 'people')
        io.stderr.write(`Recorded in ${visible(path)}. Play it: cobbler --replay ${visible(path)}\n`);
      return exitCode;
    },
  };
}

function replaying(taken: Taken, player: Player, io: Io): Reel {
  return {
    ...taken,
    isReplay: true,
    fact: (name, make) => player.fact(name, make),
    link: (values) => ({ ...linkOf(player, values), apiKey: noKey }),
    close({ result, exitCode }) {
      try {
        player.check();
        return exitCode;
      } catch (error) {
        const { message } = AgentError.from(error);
        // The run's own failure has said so already.
        if (result.error?.code !== 'replay_miss') io.stderr.write(`cobbler: ${visible(message)}\n`);
        return 1;
      }
    },
  };
}

/** The model's settings are facts: another configuration must not change what a cassette replays. */
function linkOf(tape: Tape, values: FileConfig): Partial<FactoryConfig> {
  const settings = tape.fact('model settings', () => ({
    maxTokens: values.maxTokens ?? 0,
    temperature: values.temperature ?? -1,
    requestTimeout: values.requestTimeout ?? 600_000,
  }));
  const link = { ...settings, runtime: tape.runtime, transport: tape.transport };
  return link;
}

/** How the task was given, with model and address as they were settled. */
function recordedOptions(options: Raw, { provider, model, baseURL }: Settings): Raw {
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
    throw new UsageError(`${path} ${whyUnreadable(error)}.`, 'Record one: cobbler --record FILE "..."');
  }
  try {
    return open(text);
  } catch (error) {
    throw new UsageError(AgentError.from(error).message, `The file: ${path}`);
  }
}

/** Keys that are configured, and whatever else in the environment is called a secret. */
function secretsOf(env: Environment): string[] {
  const { values } = loadConfig({ env });
  const named = Object.entries(env).filter(([name]) => /(KEY|TOKEN|SECRET|PASSWORD)$/i.test(name));
  const all = [values.apiKey, ...Object.values(values.keys ?? {}), ...named.map(([, value]) => value)];
  return all.flatMap((secret) => cleanKey(secret) ?? []);
}
