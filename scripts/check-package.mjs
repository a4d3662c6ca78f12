// Packs the package in the current folder as it would be published and lets publint and attw look at it.
// Run by turbo in every package after its build.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture } from './child.mjs';

const options = { cwd: process.cwd(), env: process.env };
const folder = mkdtempSync(join(tmpdir(), 'cobbler-pack-'));

/**
 * @param {string} command
 * @param {string[]} args
 */
async function must(command, args) {
  const { code, output } = await capture(command, args, options);
  if (code === 0) return;
  process.stdout.write(`${command} ${args.join(' ')}\n${output}\n`);
  process.exitCode = 1;
}

try {
  await must('pnpm', ['pack', '--pack-destination', folder]);
  for (const tarball of readdirSync(folder)) {
    await must('publint', ['run', join(folder, tarball), '--strict']);
    // CommonJS takes the same modules by require: every Node we support can.
    const flags = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', '--no-emoji'];
    await must('attw', [join(folder, tarball), ...flags]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
