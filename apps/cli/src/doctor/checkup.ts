import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
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
    checks.push({
      name: 'configuration',
      ok: false,
      found: error instanceof Error ? error.message : String(error),
      repair: 'correct that line, or move the file elsewhere to continue without it',
    });
    return { checks };
  }
  checks.push(...checkConfig(settings), checkKey(settings, io), checkModel(settings), checkAddress(settings));
  checks.push(...(await checkFolder(io)), checkTerminal(io), await checkSandbox(io.env));
  checks.push(...(await checkPrograms(io.env)));
  checks.push(...(await checkMcp(settings, io)));
  return { checks, settings };
}

/** Checks the version of Node. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const ok = major > minNode[0] || (major === minNode[0] && minor >= minNode[1]);
  return {
    name: 'node',
    ok,
    found: `Node ${version}`,
    ...(!ok && { repair: `install Node ${minNode.join('.')} or later` }),
  };
}

function checkHome(io: Io): Check {
  const home = cobblerHome(io.env);
  if (home === undefined) {
    return {
      name: 'home',
      ok: false,
      found: 'no home directory',
      repair: 'export COBBLER_HOME=/some/directory',
    };
  }
  if (!existsSync(home)) return { name: 'home', ok: true, found: `${home} (not created yet)` };
  const mode = statSync(home).mode & 0o077;
  if (mode === 0) return { name: 'home', ok: true, found: home };
  return {
    name: 'home',
    ok: true,
    found: `${home} (other users have access; to prevent this: chmod 700 ${home})`,
  };
}

/** Reads all session files and compares the data with its checksums. */
function checkStores(io: Io): Check[] {
  return storeFiles(io).map((file) => {
    const name = basename(file);
    try {
      const report = verifyStore(file);
      if (report.ok) return { name, ok: true, found: `${countText(report)}, all intact` };
      const found = `${file} is damaged: ${countText(report)}`;
      return {
        name,
        ok: false,
        found,
        repair: `cobbler store verify ${file}; then: cobbler store salvage ${file}`,
      };
    } catch (error) {
      return failedCheck(name, error, 'see the message');
    }
  });
}

function checkConfig({ file }: Settings): Check[] {
  if (file.path === undefined) return [];
  if (!file.exists) return [{ name: 'configuration', ok: true, found: `no ${file.path}, using defaults` }];
  const mode = statSync(file.path).mode & 0o777;
  const holdsKey = file.values.apiKey !== undefined || file.values.keys !== undefined;
  if ((mode & 0o077) === 0 || !holdsKey || process.platform === 'win32') {
    return [{ name: 'configuration', ok: true, found: file.path }];
  }
  const found = `${file.path} contains a key and other users can read it (mode ${mode.toString(8)})`;
  return [{ name: 'configuration', ok: false, found, repair: `chmod 600 ${file.path}` }];
}

function checkKey(settings: Settings, io: Io): Check {
  const provider = settings.provider.value;
  const { keyVariable } = providerEntry(provider);
  const key = keyOf(settings, provider, io.env);
  const isElsewhere = provider === 'openai' && settings.baseURL !== undefined;
  if (key === undefined && isElsewhere)
    return { name: 'key', ok: true, found: 'none; this server may not need one' };
  if (key === undefined) {
    const repair = `export ${keyVariable}=...   or: cobbler config set-key ${provider}`;
    return { name: 'key', ok: false, found: `no key for ${provider}`, repair };
  }
  const found = `${maskedKey(key.value)} (${key.source})`;
  if (/^[\x21-\x7e]+$/.test(key.value)) return { name: 'key', ok: true, found };
  const repair = `copy the key again, then run: cobbler config set-key ${provider}`;
  return { name: 'key', ok: false, found: `${found} contains a space or a line break`, repair };
}

function checkModel({ provider, model }: Settings): Check {
  return {
    name: 'model',
    ok: true,
    found: `${model.value} (${model.source}) of ${provider.value} (${provider.source})`,
  };
}

function checkAddress({ provider, baseURL }: Settings): Check {
  const address = baseURL?.value ?? providerEntry(provider.value).address;
  const source = baseURL === undefined ? 'its default' : baseURL.source;
  if (/^https?:\/\/\S+$/.test(address) && URL.canParse(address)) {
    return { name: 'address', ok: true, found: `${address} (${source})` };
  }
  return {
    name: 'address',
    ok: false,
    found: `${address} (${source}) is not an http or https URL`,
    repair: 'start it with https://',
  };
}

async function checkFolder(io: Io): Promise<Check[]> {
  try {
    const folder = io.cwd();
    accessSync(folder, constants.R_OK | constants.W_OK);
    const refused: string[] = [];
    const found = await findInstructions(folder, { env: io.env, report: (line) => refused.push(line) });
    const words = found?.path ?? 'no AGENTS.md or CLAUDE.md here';
    return [
      { name: 'folder', ok: true, found: folder },
      { name: 'instructions', ok: true, found: [words, ...refused].join('; ') },
    ];
  } catch {
    return [
      {
        name: 'folder',
        ok: false,
        found: 'no read and write access to this directory',
        repair: 'cd to another directory',
      },
    ];
  }
}

function checkTerminal(io: Io): Check {
  const screen = screenFor(io.stderr, io.env);
  const facts = [
    screen.tty ? `${screen.columns()} columns` : 'none: calls that need approval are denied',
    screen.color ? 'colors' : 'no colors',
    screen.unicode ? 'UTF-8' : 'ASCII',
  ];
  return { name: 'terminal', ok: true, found: facts.join(', ') };
}

/** Returns a check that failed with an error. */
export function failedCheck(name: string, error: unknown, repair: string): Check {
  const found = AgentError.is(error) || error instanceof Error ? error.message : String(error);
  return { name, ok: false, found, repair };
}

type Report = Parameters<typeof troubleLines>[0];

/** Connects to every MCP server of the configuration and requests its tools. Never throws. */
async function checkMcp({ file }: Pick<Settings, 'file'>, io: Io): Promise<Check[]> {
  const { mcp: servers = {} } = file.values;
  if (Object.keys(servers).length === 0) return [];
  const off = Object.entries(servers).filter(([, { disabled }]) => disabled === true);
  const checks: Check[] = off.map(([name]) => ({ name: `mcp ${name}`, ok: true, found: 'disabled' }));
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
    checks.push({ name: 'mcp', ok: false, found, repair: `correct the setting "mcp" in ${path}` });
  }
  return checks;
}

function serverCheck(report: Report, words: string, path: string): Check {
  const { name, identity, tools, ms, problem } = report;
  if (problem !== undefined) {
    const repair = `run it by hand (${words}), or set disabled: true in ${path}`;
    return { name: `mcp ${name}`, ok: false, found: problem, repair };
  }
  const [left] = troubleLines(report);
  const found = [identity, `${tools} tool${tools === 1 ? '' : 's'} in ${formatMs(ms)}`, left].filter(Boolean);
  return { name: `mcp ${name}`, ok: true, found: found.join(', ') };
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

/** The result for one program. */
interface ProgramCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  readonly repair?: string;
}

/** Time limit for a program to report its version, in milliseconds. */
const timeoutMs = 10_000;

/**
 * Returns the installed programs and their versions. A missing one is not a failure, because nothing else needs it.
 */
export async function checkPrograms(env: Environment): Promise<ProgramCheck[]> {
  const { findProgram } = await import('@cobbler/delegate');
  return Promise.all(
    programs.map(async ({ name, backend, install }): Promise<ProgramCheck> => {
      const path = findProgram(name, env);
      if (path === undefined)
        return { name, ok: true, found: `not found; only --backend ${backend} needs it (${install})` };
      const version = await versionOf(path, env);
      if (version !== undefined) return { name, ok: true, found: `${version} (${path})` };
      return { name, ok: false, found: `${path} does not report its version`, repair: install };
    }),
  );
}

function versionOf(path: string, env: Environment): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: childEnvironment(env), timeout: timeoutMs, encoding: 'utf8' } as const;
    execFile(path, ['--version'], options, (error, stdout) => {
      const line = stdout.trim().split('\n')[0] ?? '';
      resolve(error === null && line !== '' ? line : undefined);
    });
  });
}

const rules = {
  workspace: 'commands write only in the workspace, apart from protected files',
  strict: 'commands write nothing in the workspace',
};

/** Shows what restricts commands, after a test of the sandbox. Never throws. */
export async function checkSandbox(env: Environment): Promise<Check> {
  const name = 'sandbox';
  try {
    const mode = readSandboxMode(env['COBBLER_SANDBOX'], 'COBBLER_SANDBOX') ?? 'workspace';
    if (mode === 'off') return { name, ok: true, found: 'off: commands have all your rights' };
    if (mode === 'external') return { name, ok: true, found: 'external: this machine is the sandbox' };
    const status = await probeSandbox(env);
    if (!status.works)
      return { name, ok: false, found: `none: ${status.reason}; every command asks`, repair: status.cure };
    const found = `bubblewrap ${status.version}: ${rules[mode]}; no home directory, no network, no other processes`;
    return { name, ok: true, found };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return { name, ok: false, found, repair: 'unset COBBLER_SANDBOX' };
  }
}
