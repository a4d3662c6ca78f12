import { chmodSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AgentError, defaultLimits } from '@cobbler/agent';
import { cobblerHome, parseConfig } from '@cobbler/agent/node';
import { cleanKey } from '@cobbler/agent/provider';
import { parseDocument } from 'yaml';
import { readFailure } from '../config/attachment.ts';
import { defaultOffload } from '../config/context-plan.ts';
import { serverWords } from '../config/mcp-servers.ts';
import { keyVariableIn, providerEntry, providerNames, providers } from '../config/providers.ts';
import type { Setting } from '../config/settings.ts';
import { fromFile, keyOf, maskedKey, readSettings } from '../config/settings.ts';
import { jsonLine, visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { padEnd } from '../terminal/text-width.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Runs `cobbler config`: shows settings with their sources, or stores one. Returns the exit code. */
export async function config(operands: readonly string[], io: Io, isJson: boolean = false): Promise<number> {
  const [action, name, value] = operands;
  if (action === undefined) return await show(isJson, io);
  if (action === 'set-key') return await setKey(name, io);
  if (action === 'set') return await set(name, value, io);
  throw new UsageError(
    `config has no action ${JSON.stringify(action)}.${didYouMean(action, ['set-key', 'set'])}`,
    'See: cobbler help config',
  );
}

/** A setting of the list; one that is not set has no value. */
type Row = readonly [name: string, setting: Setting<unknown> | undefined];

async function show(isJson: boolean, io: Io): Promise<number> {
  const settings = await readSettings(io.env);
  const { file } = settings;
  const stored = (name: Parameters<typeof fromFile>[2], otherwise?: unknown): Row => {
    const byDefault = otherwise === undefined ? undefined : { value: otherwise, source: 'default' };
    return [name, fromFile(file, file.values, name) ?? byDefault];
  };
  const [, prices] = stored('prices');
  const [, mcp] = stored('mcp');
  const [, notify] = stored('notify', 'bell');
  // The address can be secret too.
  const notifyWords =
    typeof notify?.value === 'object' ? Object.keys(notify.value ?? {}).join(', ') : notify?.value;
  const rows: Row[] = [
    ['provider', settings.provider],
    ['model', settings.model],
    ['baseURL', settings.baseURL],
    stored('fallback'),
    stored('maxTokens'),
    stored('temperature'),
    stored('effort'),
    stored('search', false),
    stored('requestTimeout'),
    stored('retryFor', 300_000),
    stored('maxTurns', 100),
    stored('maxRepeats', defaultLimits.repeats),
    stored('maxUsd'),
    stored('budget'),
    stored('askAtLimit'),
    stored('compactAbove', "80% of the model's window"),
    stored('offloadAbove', defaultOffload),
    stored('keepSessions', true),
    stored('allowHosts'),
    stored('audit', 'on'),
    ['notify', notify && { value: notifyWords, source: notify.source }],
    stored('theme', 'dark'),
    stored('vim', false),
    ...providerNames.map((name): Row => {
      const key = keyOf(settings, name, io.env);
      return [`key ${name}`, key && { value: maskedKey(key.value), source: key.source }];
    }),
    ...Object.entries(file.values.mcp ?? {}).map(
      ([name, server]): Row => [`mcp ${name}`, { value: serverWords(server), source: mcp?.source ?? '' }],
    ),
    ['prices', prices && { value: 'see: cobbler models --prices', source: prices.source }],
  ];
  if (isJson) {
    const values = rows.map(([name, setting]) => [name, setting ?? null]);
    io.stdout.write(jsonLine({ file: file.path ?? null, settings: Object.fromEntries(values) }));
    return 0;
  }
  const lines = rows.map(([name, setting]) => {
    const text = setting === undefined ? '-' : visible(String(setting.value));
    return `${padEnd(name, 16)}${padEnd(text, 28)} ${visible(setting?.source ?? '')}`.trimEnd();
  });
  const where = file.path === undefined ? 'none: there is no home directory; set COBBLER_HOME' : file.path;
  const note = file.path !== undefined && !file.exists ? '   (not created yet)' : '';
  lines.push('', `file  ${visible(where)}${note}`);
  io.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

async function setKey(provider: string | undefined, io: Io): Promise<number> {
  if (provider === undefined) {
    throw new UsageError(
      'The provider name is missing.',
      `Use: cobbler config set-key ${providerNames.join('|')}`,
    );
  }
  const { title } = providerEntry(provider);
  const path = configPath(io);
  const key = cleanKey(await readHidden(`Key for ${title} (hidden while you type): `, io));
  if (key === undefined)
    throw new UsageError(
      'No key was entered. Nothing was stored.',
      'Type the key, or pass it in a file: cobbler config set-key PROVIDER < FILE',
    );
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw UsageError.withCode(
      'bad_key',
      'This is not a key: it contains a space, a line break or another character that is not allowed in keys.',
      'Copy the key again.',
    );
  }
  await writeSetting(path, ['keys', provider], key);
  io.stderr.write(
    `The key ${maskedKey(key)} for ${title} is stored in ${visible(path)}, readable only by you.\n`,
  );
  const variable = keyVariableIn(io.env, provider);
  if (variable !== undefined) io.stderr.write(`While ${variable} is set, it overrides the stored key.\n`);
  return 0;
}

async function set(name: string | undefined, value: string | undefined, io: Io): Promise<number> {
  if (name === undefined || value === undefined) {
    throw new UsageError('A name and a value are required.', 'For example: cobbler config set model best');
  }
  if (name === 'mcp') {
    throw new UsageError(
      'MCP servers cannot be configured with this command. Edit the configuration file.',
      `The file is ${configPath(io)}. docs/mcp.md describes the setting.`,
    );
  }
  if (name === 'apiKey' || name === 'keys') {
    throw new UsageError(
      'A key on the command line would stay in the shell history.',
      `Use: cobbler config set-key ${Object.keys(providers).join('|')}`,
    );
  }
  const path = configPath(io);
  try {
    await writeSetting(path, name.split('.'), parseValue(name, value));
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'config') throw error;
    const reason = error.message.replace(/^.*?:\d+: /, '');
    throw new UsageError(`${reason} Nothing was stored.`, 'List the settings: cobbler config');
  }
  io.stderr.write(`${visible(name)} is now ${visible(value)} in ${visible(path)}.\n`);
  return 0;
}

/** Converts a list, an object, `true`, `false` and numbers; all other values remain strings. The settings check the types. */
function parseValue(name: string, text: string): unknown {
  if (text.startsWith('{')) return parseDocument(text).toJS();
  if (name === 'fallback' || name === 'allowHosts') return text.split(',').map((item) => item.trim());
  if (text === 'true' || text === 'false') return text === 'true';
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

function configPath(io: Io): string {
  const home = cobblerHome(io.env);
  if (home === undefined) throw UsageError.noHome('The configuration');
  return join(home, 'config.yaml');
}

/**
 * Puts one value into the configuration file and keeps comments and all other settings. Only the owner can read the
 * file (mode 600), because it may contain keys. It is replaced as a whole, so it is never incomplete.
 *
 * @throws UsageError if it cannot be written, AgentError `invalid` if the result would not be valid.
 */
export async function writeSetting(path: string, keys: readonly string[], value: unknown): Promise<void> {
  const before = readOrEmpty(path);
  if (before.trim() !== '') await parseConfig(before, path);
  const document = parseDocument(before);
  document.setIn(keys, value);
  const text = document.toString();
  await parseConfig(text, path);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    replaceFile(realPathOf(path), text);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw new UsageError(`Cannot write ${path} (${code}).`, 'Set COBBLER_HOME to a writable directory.');
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw new UsageError(`${path} ${readFailure(error)}.`, 'Check its owner and mode.');
  }
}

/** Returns the target of a link, so that a link to a settings file stored elsewhere remains a link. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function replaceFile(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.new`;
  try {
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' });
    // The umask may have removed bits from the mode but never adds any; an existing file may have more.
    chmodSync(fresh, 0o600);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

/**
 * Reads a secret: typed without echo at a terminal, or piped in.
 * @throws UsageError if there is neither, or the user cancels with Ctrl-C.
 */
async function readHidden(question: string, io: Io): Promise<string> {
  if (!io.stdin.tty)
    return Buffer.from(await io.stdin.read())
      .toString('utf8')
      .trim();
  const keyboard = io.openKeyboard();
  if (keyboard === undefined) {
    throw new UsageError(
      'The key cannot be entered, because there is no terminal.',
      'Pass it in a file: cobbler config set-key PROVIDER < FILE',
    );
  }
  io.stderr.write(question);
  try {
    return await new Promise((resolve, reject) => {
      let typed = '';
      keyboard.listen((key) => {
        if (key.type === 'enter') resolve(typed.trim());
        else if (key.type === 'interrupt') reject(new UsageError('Nothing was stored.'));
        else if (key.type === 'backspace') typed = Array.from(typed).slice(0, -1).join('');
        else if (key.type === 'text') typed += key.text;
      });
    });
  } finally {
    keyboard.close();
    io.stderr.write('\n');
  }
}
