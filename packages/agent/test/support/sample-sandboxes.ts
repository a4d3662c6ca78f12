import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditSamples } from './sample-audit.ts';
import type { Sample } from './sample-values.ts';
import { folder } from './sample-values.ts';

/** Creates a program that passes the self-test of the sandbox, because this machine may have none. */
function passingBwrap(): string {
  const path = join(folder, 'bwrap');
  const lines = ['user', 'pid', 'net', 'mnt', 'ipc', 'uts', 'bubblewrap 0.8.0'];
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}\n`, {
    mode: 0o755,
  });
  return path;
}

/** Samples of the functions that start programs, in a sandbox or without one, and of the audit log about their calls. */
export const programSamples: Readonly<Record<string, Sample>> = {
  ...auditSamples,
  bwrapSandbox: () => [{ workspace: folder }, '/usr/bin/bwrap'],
  'bwrapSandbox().enter': () => [{ argv: ['true'], cwd: folder, env: {} }],
  'bwrapSandbox().with': () => [{ network: true, git: true, registry: true }],
  'bwrapSandbox().explain': () => ['EROFS'],
  createSandbox: () => [{ workspace: folder, mode: 'strict', env: { COBBLER_BWRAP: passingBwrap() } }],
  isGitLine: () => ['git add .'],
  allowedHost: () => ['example.com:443'],
  allowsUrl: () => ['example.com', 'https://example.com/'],
  isPublicAddress: () => ['93.184.216.34'],
  isRegistryLine: () => ['npm ci'],
  parseAllowedHost: () => ['example.com:443'],
  printCommandLine: () => [{ steps: [{ argv: ['a'], redirects: [] }], operators: [] }],
  readCommandLine: () => ['a b'],
  noRestrictions: () => ['off', 'none here'],
  'noRestrictions().enter': () => [{ argv: ['true'], cwd: folder, env: {} }],
  'noRestrictions().with': () => [{ network: true }],
  'noRestrictions().explain': () => ['EROFS'],
  probeSandbox: () => [{ COBBLER_BWRAP: '/nowhere' }],
  probeSandboxSync: () => [{ COBBLER_BWRAP: '/nowhere' }],
  seatbeltSandbox: () => [{ workspace: folder }],
  'seatbeltSandbox().enter': () => [{ argv: ['true'], cwd: folder, env: {} }],
  'seatbeltSandbox().with': () => [{ network: true }],
  'seatbeltSandbox().explain': () => ['EROFS'],
  superviseProcess: () => [{ argv: ['true'], cwd: folder, env: {} }],
};
