// What people look at, tried as they would see it: terminals that tmux draws, pages in a real browser. Each half sets
// itself up and fails, not skips, when it cannot.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver } from './child.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const halves = { terminal: 'apps/cli/faces', browser: 'apps/web/faces' };

/**
 * Runs the halves named, or all there are, one after the other: each wants the machine for itself.
 * @param {string[]} words `terminal`, `browser`, and options for vitest behind them
 */
async function main(words) {
  const named = Object.keys(halves).filter((name) => words.includes(name));
  const rest = words.filter((word) => !Object.hasOwn(halves, word));
  let worst = 0;
  for (const [name, folder] of Object.entries(halves)) {
    const config = join(root, folder, 'vitest.config.ts');
    if (!existsSync(config) || (named.length > 0 && !named.includes(name))) continue;
    process.stdout.write(`faces: ${name}\n`);
    const args = ['run', '--root', join(root, folder), '--config', config, ...rest];
    worst = Math.max(worst, await handOver('vitest', args, { cwd: root, env: process.env }));
  }
  return worst;
}

process.exitCode = await main(process.argv.slice(2));
