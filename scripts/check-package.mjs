// Packs the package in the current directory as it would be published, and checks its files, and the package with
// publint and attw. Turbo runs it in every package after its build.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { capture } from './child.mjs';
import { packedProblems, tarEntries } from './supply/packed-files.mjs';

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
    const bytes = gunzipSync(readFileSync(join(folder, tarball)));
    const problems = packedProblems(tarEntries(bytes));
    if (problems.length > 0) {
      process.stdout.write(`${tarball} must not contain: ${problems.join(', ')}\n`);
      process.exitCode = 1;
    }
    await must('publint', ['run', join(folder, tarball), '--strict']);
    // CommonJS loads the same modules with require(), which every supported version of Node allows.
    const flags = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', '--no-emoji'];
    await must('attw', [join(folder, tarball), ...flags]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
