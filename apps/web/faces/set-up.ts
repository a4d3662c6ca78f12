import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { browserNames, whyMissing } from './installed.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Installs, once, what these tests need besides the workspace, and names the browsers that are not tested. */
export default function setUp(project: TestProject): void {
  install();
  // Each project runs this function.
  if (!project.name.endsWith('chromium')) return;
  for (const name of browserNames) {
    const reason = whyMissing(name);
    if (reason !== undefined) process.stdout.write(`skipped: the page in ${name}, because ${reason}\n`);
  }
}

function install(): void {
  const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  if (Object.keys(dependencies).every((name) => existsSync(`${folder}node_modules/${name}/package.json`)))
    return;
  process.stdout.write('fetching a Chromium, what drives it, axe and Lighthouse (0.3 GB, once)\n');
  try {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      stdio: 'pipe',
    });
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new Error(
      `The tests of the page need the packages of apps/web/faces, and npm could not fetch them. Run 'npm ci' there. It said:\n${said}`,
    );
  }
}
