import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { AgentError } from '@cobbler/agent';
import { cobblerHome, verifyStore } from '@cobbler/agent/node';
import { findInstructions } from '../config/instructions.ts';
import { providerEntry } from '../config/providers.ts';
import type { ModelFlags, Settings } from '../config/settings.ts';
import { keyOf, maskedKey, readSettings } from '../config/settings.ts';
import type { Io } from '../terminal/io.ts';
import { screenFor } from '../terminal/screen.ts';
import type { Check } from './check.ts';
import { checkMcp } from './mcp-check.ts';
import { checkPrograms } from './programs.ts';
import { countText, storeFiles } from './stores.ts';

/** The least version of Node that the packages are made for. */
const minNode = [22, 18] as const;

/** Checks everything a run needs, without asking a model. Never throws. */
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
      repair: 'correct that line, or move the file away',
    });
    return { checks };
  }
  checks.push(...checkConfig(settings), checkKey(settings, io), checkModel(settings), checkAddress(settings));
  checks.push(...(await checkFolder(io)), checkTerminal(io), ...(await checkPrograms(io.env)));
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
  return { name: 'home', ok: true, found: `${home} (other users have access: chmod 700 ${home})` };
}

/** Reads everything in the files of sessions and compares it with its checksums. */
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
  if (!file.exists) return [{ name: 'configuration', ok: true, found: `no ${file.path}: defaults` }];
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
  const repair = `copy it again: cobbler config set-key ${provider}`;
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
    found: `${address} (${source}) is not an address`,
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
        found: 'cannot read and write this directory',
        repair: 'cd to another one',
      },
    ];
  }
}

function checkTerminal(io: Io): Check {
  const screen = screenFor(io.stderr, io.env);
  const facts = [
    screen.tty ? `${screen.columns()} columns` : 'none: calls that need approval are denied',
    screen.color ? 'colours' : 'no colors',
    screen.unicode ? 'UTF-8' : 'ASCII',
  ];
  return { name: 'terminal', ok: true, found: facts.join(', ') };
}

/** A check that failed with an error. */
export function failedCheck(name: string, error: unknown, repair: string): Check {
  const found = AgentError.is(error) || error instanceof Error ? error.message : String(error);
  return { name, ok: false, found, repair };
}
