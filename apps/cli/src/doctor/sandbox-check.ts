import type { Environment } from '@cobbler/agent';
import { probeSandbox } from '@cobbler/agent/sandbox';
import { readSandboxMode } from '../config/sandbox.ts';
import type { Check } from './check.ts';

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
