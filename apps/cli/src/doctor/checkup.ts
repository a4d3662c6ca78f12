import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { childEnvironment, cobblerHome, verifyStore } from '@cobbler/agent/node';
import { probeSandbox } from '@cobbler/agent/sandbox';
import { recordChildren } from '../config/backend.ts';
import { findInstructions } from '../config/instructions.ts';
import { serverWords, troubleLines } from '../config/mcp-servers.ts';
import { providerEntry } from '../config/providers.ts';
import { readSandboxMode } from '../config/sandbox.ts';
import type { ModelFlags, Settings } from '../config/settings.ts';
import { keyOf, maskedKey, readSettings } from '../config/settings.ts';
import { formatMs } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import { screenFor } from '../terminal/screen.ts';
import type { Check } from './check.ts';
import { failed, passed } from './check.ts';
import { countText, storeFiles } from './stores.ts';

/** The oldest supported version of Node. */
const minNode = [22, 18] as const;

/** Checks everything that a run needs, without a model request. Never throws. */
export async function checkSetup(
  flags: ModelFlags,
  io: Io,
): Promise<{ checks: Check[]; settings?: Settings }> {
  const checks = [checkNode(process.versions.node), checkHome(io), ...checkStores(io)];
  let settings: Settings;
  try {
    settings = await readSettings(io.env, flags);
  } catch (error) {
    const repair = 'correct that line, or move the file elsewhere to continue without it';
    return { checks: [...checks, failedCheck('configuration', error, repair)] };
  }
  checks.push(...checkConfig(settings), checkKey(settings, io), checkModel(settings), checkAddress(settings));
  checks.push(...(await checkFolder(io)), checkTerminal(io));
  checks.push(await checkSandbox(io.env, settings.file.values.allowHosts));
  checks.push(...(await checkPrograms(io.env)));
  checks.push(...(await checkMcp(settings, io)));
  return { checks, settings };
}

/** Checks the version of Node. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const ok = major > minNode[0] || (major === minNode[0] && minor >= minNode[1]);
  if (ok) return passed('node', `Node ${version}`);
  return failed('node', `Node ${version}`, `install Node ${minNode.join('.')} or later`);
}

function checkHome(io: Io): Check {
  const home = cobblerHome(io.env);
  if (home === undefined) return failed('home', 'no home directory', 'export COBBLER_HOME=/some/directory');
  if (!existsSync(home)) return passed('home', `${home} (not created yet)`);
  const mode = statSync(home).mode & 0o077;
  if (mode === 0) return passed('home', home);
  return passed('home', `${home} (other users have access; to prevent this: chmod 700 ${home})`);
}

/** Reads all session files and compares the data with its checksums. */
function checkStores(io: Io): Check[] {
  return storeFiles(io).map((file) => {
    const name = basename(file);
    try {
      const report = verifyStore(file);
      if (report.ok) return passed(name, `${countText(report)}, all intact`);
      const repair = `cobbler store verify ${file}; then: cobbler store salvage ${file}`;
      return failed(name, `${file} is damaged: ${countText(report)}`, repair);
    } catch (error) {
      return failedCheck(name, error, 'see the message');
    }
  });
}

function checkConfig({ file }: Settings): Check[] {
  if (file.path === undefined) return [];
  if (!file.exists) return [passed('configuration', `no ${file.path}, using defaults`)];
  const mode = statSync(file.path).mode & 0o777;
  const holdsKey = file.values.apiKey !== undefined || file.values.keys !== undefined;
  if ((mode & 0o077) === 0 || !holdsKey || process.platform === 'win32') {
    return [passed('configuration', file.path)];
  }
  const found = `${file.path} contains a key, and other users can read it (mode ${mode.toString(8)})`;
  return [failed('configuration', found, `chmod 600 ${file.path}`)];
}

function checkKey(settings: Settings, io: Io): Check {
  const provider = settings.provider.value;
  const { keyVariable } = providerEntry(provider);
  const key = keyOf(settings, provider, io.env);
  const isElsewhere = provider === 'openai' && settings.baseURL !== undefined;
  if (key === undefined && isElsewhere) return passed('key', 'none; this server may not need one');
  if (key === undefined) {
    const repair = `export ${keyVariable}=...   or: cobbler config set-key ${provider}`;
    return failed('key', `no key for ${provider}`, repair);
  }
  const found = `${maskedKey(key.value)} (${key.source})`;
  if (/^[\x21-\x7e]+$/.test(key.value)) return passed('key', found);
  const repair = `copy the key again, then run: cobbler config set-key ${provider}`;
  return failed('key', `${found} contains a space or a line break`, repair);
}

function checkModel({ provider, model }: Settings): Check {
  return passed('model', `${model.value} (${model.source}) from ${provider.value} (${provider.source})`);
}

function checkAddress({ provider, baseURL }: Settings): Check {
  const address = baseURL?.value ?? providerEntry(provider.value).address;
  const source = baseURL === undefined ? 'its default' : baseURL.source;
  if (/^https?:\/\/\S+$/.test(address) && URL.canParse(address)) {
    return passed('address', `${address} (${source})`);
  }
  return failed('address', `${address} (${source}) is not an http or https URL`, 'start it with https://');
}

async function checkFolder(io: Io): Promise<Check[]> {
  try {
    const folder = io.cwd();
    accessSync(folder, constants.R_OK | constants.W_OK);
    const refused: string[] = [];
    const found = await findInstructions(folder, {
      env: io.env,
      home: cobblerHome(io.env),
      report: (line) => refused.push(line),
    });
    const words = found.map(({ path }) => path).join(', ') || 'no AGENTS.md or CLAUDE.md here';
    return [passed('folder', folder), passed('instructions', [words, ...refused].join('; '))];
  } catch {
    return [failed('folder', 'cannot read from or write to this directory', 'cd to another directory')];
  }
}

function checkTerminal(io: Io): Check {
  const screen = screenFor(io.stderr, io.env);
  const facts = [
    screen.tty ? `${screen.columns()} columns` : 'none: calls that need approval are denied',
    screen.color ? 'colors' : 'no colors',
    screen.unicode ? 'UTF-8' : 'ASCII',
  ];
  return passed('terminal', facts.join(', '));
}

/** Returns a check that failed with an error. */
export function failedCheck(name: string, error: unknown, repair: string): Check {
  const found = AgentError.is(error) || error instanceof Error ? error.message : String(error);
  return failed(name, found, repair);
}

type Report = Parameters<typeof troubleLines>[0];

/** Connects to every MCP server of the configuration and requests its tools. Never throws. */
async function checkMcp({ file }: Pick<Settings, 'file'>, io: Io): Promise<Check[]> {
  const { mcp: servers = {} } = file.values;
  if (Object.keys(servers).length === 0) return [];
  const off = Object.entries(servers).filter(([, { disabled }]) => disabled === true);
  const checks: Check[] = off.map(([name]) => passed(`mcp ${name}`, 'disabled'));
  const path = file.path ?? 'the configuration';
  try {
    await recordChildren(io.env);
    const { connectMcp } = await import('@cobbler/tools/mcp');
    const mcp = await connectMcp({ servers, env: io.env, cwd: io.cwd() });
    for (const report of mcp.servers) {
      const server = servers[report.name];
      checks.push(serverCheck(report, server === undefined ? report.name : serverWords(server), path));
    }
    await mcp.close();
  } catch (error) {
    const found = AgentError.from(error).message;
    checks.push(failed('mcp', found, `correct the setting "mcp" in ${path}`));
  }
  return checks;
}

function serverCheck(report: Report, words: string, path: string): Check {
  const { name, identity, tools, ms, problem } = report;
  if (problem !== undefined) {
    const repair = `run it by hand (${words}), or set disabled: true in ${path}`;
    return failed(`mcp ${name}`, problem, repair);
  }
  const [left] = troubleLines(report);
  const found = [identity, `${tools} tool${tools === 1 ? '' : 's'} in ${formatMs(ms)}`, left].filter(Boolean);
  return passed(`mcp ${name}`, found.join(', '));
}

/** A program that `cobbler run --backend` can delegate work to. */
interface BackendProgram {
  readonly name: string;
  readonly backend: string;
  readonly install: string;
}

const programs: readonly BackendProgram[] = [
  { name: 'claude', backend: 'claude-code', install: 'npm install -g @anthropic-ai/claude-code' },
  { name: 'codex', backend: 'codex', install: 'npm install -g @openai/codex' },
];

/** Time limit for a program to report its version, in milliseconds. */
const timeoutMs = 10_000;

/** Returns the installed programs and their versions. A missing one is not a failure, because nothing else needs it. */
export async function checkPrograms(env: Environment): Promise<Check[]> {
  const { findProgram } = await import('@cobbler/delegate');
  return Promise.all(
    programs.map(async ({ name, backend, install }): Promise<Check> => {
      const path = findProgram(name, env);
      if (path === undefined)
        return passed(name, `not found; only --backend ${backend} needs it (${install})`);
      const version = await versionOf(path, env);
      if (version !== undefined) return passed(name, `${version} (${path})`);
      return failed(name, `${path} does not report its version`, install);
    }),
  );
}

async function versionOf(path: string, env: Environment): Promise<string | undefined> {
  const options = { env: childEnvironment(env), timeout: timeoutMs };
  const { stdout } = await promisify(execFile)(path, ['--version'], options).catch(() => ({ stdout: '' }));
  return stdout.trim().split('\n')[0] || undefined;
}

const rules = {
  workspace: 'commands can write only to unprotected files in the workspace',
  strict: 'commands cannot write to the workspace',
};

/** Shows what restricts commands, after a test of the sandbox. Never throws. */
export async function checkSandbox(env: Environment, hosts: readonly string[] = []): Promise<Check> {
  const name = 'sandbox';
  try {
    const mode = readSandboxMode(env['COBBLER_SANDBOX'], 'COBBLER_SANDBOX') ?? 'workspace';
    if (mode === 'off') return passed(name, 'off: commands have all your permissions');
    if (mode === 'external') return passed(name, 'external: this machine is the sandbox');
    const status = await probeSandbox(env);
    if (!status.works)
      return failed(name, `none: ${status.reason}; every command needs approval`, status.cure);
    const network = hosts.length === 0 ? 'the network' : `the network except ${hosts.join(', ')}`;
    const found = `bubblewrap ${status.version}: ${rules[mode]}; no access to the home directory, ${network} or other processes`;
    return passed(name, found);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return failed(name, found, 'unset COBBLER_SANDBOX');
  }
}
